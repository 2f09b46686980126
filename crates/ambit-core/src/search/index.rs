//! The immutable index: one segment per source and a directory over all of them.
//!
//! A change copies the directory (a linear merge of sorted lists) and shares every other
//! segment, so adding one server does not touch the texts of the rest.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::document::SearchDocument;
use super::embed::Embedder;
use super::gate::Gate;
use super::near::letters;
use super::segment::{Entry, Posting, Segment, Span};
use super::text::Term;

/// Where one term occurs in one segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    term: Term,
    pub(crate) segment: u32,
    start: u32,
    count: u32,
    /// The most the term is worth in any of its documents.
    pub(crate) peak: u16,
}

/// A word of names, for near misses.
#[derive(Clone, Debug)]
pub(crate) struct NameWord {
    pub(crate) text: Arc<str>,
    /// The letters it uses.
    pub(crate) letters: u32,
    /// How many segments have it.
    segments: u32,
}

impl NameWord {
    fn new(text: &str, segments: u32) -> Self {
        NameWord {
            text: text.into(),
            letters: letters(text),
            segments,
        }
    }
}

/// Where a term occurs: its run in the directory.
pub(crate) type Run = Range<u32>;

/// Everything that can be found, ready to be searched. Cloning shares.
#[derive(Clone, Default)]
pub struct SearchIndex {
    embedder: Option<Arc<dyn Embedder>>,
    /// By source name.
    segments: Arc<[Arc<Segment>]>,
    /// Where each segment's documents begin in the numbering over all segments.
    bases: Arc<[u32]>,
    /// By term, then segment.
    directory: Arc<[Place]>,
    /// Sorted by text.
    name_words: Arc<[NameWord]>,
    len: u32,
}

impl SearchIndex {
    /// An empty index that also ranks by meaning.
    pub fn with_embedder(embedder: Arc<dyn Embedder>) -> SearchIndex {
        SearchIndex {
            embedder: Some(embedder),
            ..SearchIndex::default()
        }
    }

    /// The same index with this source's documents in place of what it had before.
    #[must_use]
    pub fn with_source(&self, source: &str, documents: Vec<SearchDocument>) -> SearchIndex {
        self.replace(source, Some(self.build(source, documents)))
    }

    /// The same index without a source.
    #[must_use]
    pub fn without_source(&self, source: &str) -> SearchIndex {
        self.replace(source, None)
    }

    /// The same index with many sources at once; cheaper than one after the other.
    #[must_use]
    pub fn with_sources<S: AsRef<str>>(
        &self,
        sources: impl IntoIterator<Item = (S, Vec<SearchDocument>)>,
    ) -> SearchIndex {
        let mut segments = self.segments.to_vec();
        let mut directory = self.directory.to_vec();
        for (source, documents) in sources {
            let (segment, spans) = self.build(source.as_ref(), documents);
            directory.extend(places(&segment, &spans, segments.len() as u32));
            segments.push(segment);
        }
        let (segments, numbers) = in_order(segments);
        directory.retain_mut(|it| {
            let number = numbers.get(it.segment as usize).copied().flatten();
            it.segment = number.unwrap_or_default();
            number.is_some()
        });
        directory.sort_unstable_by_key(|it| (it.term, it.segment));

        let mut words: Vec<&str> = segments.iter().flat_map(|it| it.name_words()).collect();
        words.sort_unstable();
        let words = words.chunk_by(|a, b| a == b);
        let words = words.filter_map(|it| Some(NameWord::new(it.first()?, it.len() as u32)));
        let words = words.collect();
        self.assemble(segments, directory, words)
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The names of the sources, sorted.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().map(|it| it.source.as_ref())
    }

    fn build(&self, source: &str, documents: Vec<SearchDocument>) -> (Arc<Segment>, Vec<Span>) {
        let (segment, spans) = Segment::build(source, documents, self.embedder());
        (Arc::new(segment), spans)
    }

    /// What ranks by meaning, if anything does.
    pub(crate) fn embedder(&self) -> Option<&dyn Embedder> {
        self.embedder.as_deref()
    }

    fn replace(&self, source: &str, new: Option<(Arc<Segment>, Vec<Span>)>) -> SearchIndex {
        let found = self
            .segments
            .binary_search_by(|it| it.source.as_ref().cmp(source));
        let (at, old) = match found {
            Ok(at) => (at, self.segments.get(at)),
            Err(at) => (at, None),
        };
        let mut segments = self.segments.to_vec();
        let segment = new.iter().map(|(it, _)| it.clone());
        segments.splice(at..at + usize::from(old.is_some()), segment);

        let at = at as u32;
        let shift = u32::from(new.is_some());
        let dropped = u32::from(old.is_some());
        let kept = self.directory.iter().filter_map(|it| {
            let segment = match it.segment {
                before if before < at => before,
                same if dropped == 1 && same == at => return None,
                after => after - dropped + shift,
            };
            Some(Place { segment, ..*it })
        });
        let added = new.iter().flat_map(|(it, spans)| places(it, spans, at));
        let room = self.directory.len() + new.as_ref().map_or(0, |(_, spans)| spans.len());
        let directory = merge(kept, added, room, |it| (it.term, it.segment));

        let mut words = self.name_words.to_vec();
        if let Some(old) = old {
            recount(&mut words, old, |it| it.segments -= 1);
            words.retain(|it| it.segments > 0);
        }
        if let Some((new, _)) = &new {
            let missing = recount(&mut words, new, |it| it.segments += 1);
            let missing = missing.into_iter().map(|it| NameWord::new(it, 1));
            let room = words.len() + missing.len();
            words = merge(words.into_iter(), missing, room, |it| it.text.clone());
        }
        self.assemble(segments, directory, words)
    }

    fn assemble(
        &self,
        segments: Vec<Arc<Segment>>,
        directory: Vec<Place>,
        name_words: Vec<NameWord>,
    ) -> SearchIndex {
        let mut len = 0;
        let bases = segments
            .iter()
            .map(|it| {
                let base = len;
                len += it.entries.len() as u32;
                base
            })
            .collect();
        SearchIndex {
            embedder: self.embedder.clone(),
            segments: segments.into(),
            bases,
            directory: directory.into(),
            name_words: name_words.into(),
            len,
        }
    }

    /// Where a term occurs.
    pub(crate) fn run(&self, term: Term) -> Run {
        let from = self.directory.partition_point(|it| it.term < term);
        let rest = self.directory.get(from..).unwrap_or_default();
        let length = rest.iter().take_while(|it| it.term == term).count();
        from as u32..(from + length) as u32
    }

    /// The places of a run, by segment.
    pub(crate) fn places(&self, run: &Run) -> &[Place] {
        let range = run.start as usize..run.end as usize;
        self.directory.get(range).unwrap_or_default()
    }

    /// The place of a run in one segment.
    pub(crate) fn place(&self, run: &Run, segment: u32) -> Option<&Place> {
        let places = self.places(run);
        let found = places.binary_search_by_key(&segment, |it| it.segment);
        places.get(found.ok()?)
    }

    /// How many documents a run has.
    pub(crate) fn count(&self, run: &Run) -> u32 {
        self.places(run).iter().map(|it| it.count).sum()
    }

    /// The most a run's term is worth in any document.
    pub(crate) fn peak(&self, run: &Run) -> u16 {
        let peaks = self.places(run).iter().map(|it| it.peak);
        peaks.max().unwrap_or_default()
    }

    /// The postings of one place, with the number of its segment's first document.
    pub(crate) fn postings_at(&self, place: &Place) -> (u32, &[Posting]) {
        let segment = self.segments.get(place.segment as usize);
        let postings = segment.map(|it| it.postings(place.start, place.count));
        let base = self.bases.get(place.segment as usize).copied();
        (base.unwrap_or_default(), postings.unwrap_or_default())
    }

    /// The posting of a run for one document.
    pub(crate) fn posting(&self, run: &Run, document: u32) -> Option<&Posting> {
        let (segment, local) = self.segment_of(document)?;
        let (_, postings) = self.postings_at(self.place(run, segment)?);
        let found = postings.binary_search_by_key(&local, |it| it.document);
        postings.get(found.ok()?)
    }

    /// How many segments there are.
    pub(crate) fn segment_count(&self) -> usize {
        self.segments.len()
    }

    /// The documents of a segment.
    pub(crate) fn documents_of(&self, segment: u32) -> Range<u32> {
        let base = |at: usize| self.bases.get(at).copied().unwrap_or(self.len);
        base(segment as usize)..base(segment as usize + 1)
    }

    /// The number of the segment that holds a document, and the document's place in it.
    pub(crate) fn segment_of(&self, document: u32) -> Option<(u32, u32)> {
        let after = self.bases.partition_point(|base| *base <= document);
        let at = after.checked_sub(1)?;
        Some((at as u32, document - self.bases.get(at)?))
    }

    /// The segment that holds a document, and the document's place in it.
    pub(crate) fn locate(&self, document: u32) -> Option<(&Segment, u32)> {
        let (segment, at) = self.segment_of(document)?;
        Some((self.segments.get(segment as usize)?, at))
    }

    /// A document by number.
    pub(crate) fn entry(&self, document: u32) -> Option<&Entry> {
        let (segment, at) = self.locate(document)?;
        segment.entries.get(at as usize)
    }

    /// What no other index value has, and all clones of this one share.
    pub(super) fn identity(&self) -> Arc<[Arc<Segment>]> {
        self.segments.clone()
    }

    /// Whether a gate was made for this value.
    pub fn made(&self, gate: &Gate) -> bool {
        gate.is_for(&self.segments)
    }

    /// All segments, each with its first document's number.
    pub(crate) fn segments(&self) -> impl Iterator<Item = (&Segment, u32)> {
        let bases = self.bases.iter().copied();
        self.segments.iter().map(AsRef::as_ref).zip(bases)
    }

    /// The words of names that begin with this character, sorted.
    pub(crate) fn name_words_from(&self, first: char) -> impl Iterator<Item = &NameWord> {
        let from = self
            .name_words
            .partition_point(|it| it.text.chars().next() < Some(first));
        let words = self.name_words.get(from..).unwrap_or_default().iter();
        words.take_while(move |it| it.text.starts_with(first))
    }
}

impl fmt::Debug for SearchIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sources: Vec<&str> = self.sources().collect();
        f.debug_struct("SearchIndex")
            .field("len", &self.len)
            .field("sources", &sources)
            .finish_non_exhaustive()
    }
}

fn places(segment: &Segment, spans: &[Span], at: u32) -> impl Iterator<Item = Place> {
    spans.iter().map(move |it| Place {
        term: it.term,
        segment: at,
        start: it.start,
        count: it.count,
        peak: peak(segment.postings(it.start, it.count)),
    })
}

/// Segments by source, and the new number of each. Of two with one source the later stands, as
/// it would one after the other.
fn in_order(segments: Vec<Arc<Segment>>) -> (Vec<Arc<Segment>>, Vec<Option<u32>>) {
    let mut numbers = vec![None; segments.len()];
    let mut numbered: Vec<(usize, Arc<Segment>)> = segments.into_iter().enumerate().collect();
    numbered.reverse();
    numbered.sort_by(|(_, a), (_, b)| a.source.cmp(&b.source));
    numbered.dedup_by(|(_, later), (_, first)| later.source == first.source);
    for (new, (old, _)) in (0_u32..).zip(&numbered) {
        if let Some(number) = numbers.get_mut(*old) {
            *number = Some(new);
        }
    }
    let segments = numbered.into_iter().map(|(_, it)| it).collect();
    (segments, numbers)
}

fn peak(postings: &[Posting]) -> u16 {
    let worths = postings.iter().map(|it| it.worth);
    worths.max().unwrap_or_default()
}

/// Merges two sorted lists.
fn merge<T, K: Ord>(
    left: impl Iterator<Item = T>,
    right: impl Iterator<Item = T>,
    room: usize,
    key: impl Fn(&T) -> K,
) -> Vec<T> {
    let mut out = Vec::with_capacity(room);
    let mut left = left.peekable();
    for item in right {
        while let Some(before) = left.next_if(|it| key(it) < key(&item)) {
            out.push(before);
        }
        out.push(item);
    }
    out.extend(left);
    out
}

/// Applies a change to the words of a segment's names, and returns those that are not there.
fn recount<'a>(
    words: &mut [NameWord],
    segment: &'a Segment,
    change: impl Fn(&mut NameWord),
) -> Vec<&'a str> {
    let mut missing = Vec::new();
    for name in segment.name_words() {
        let found = words.binary_search_by(|it| it.text.as_ref().cmp(name));
        match found.ok().and_then(|at| words.get_mut(at)) {
            Some(word) => change(word),
            None => missing.push(name),
        }
    }
    missing
}
