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
use super::segment::{Entry, Posting, Segment};
use super::text::Term;

/// Where one term occurs in one segment.
#[derive(Clone, Copy, Debug)]
struct Place {
    term: Term,
    segment: u32,
    start: u32,
    count: u32,
    /// The most the term is worth in any of its documents.
    peak: u16,
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
    fn new(text: Arc<str>) -> Self {
        NameWord {
            letters: letters(&text),
            text,
            segments: 1,
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
        self.replace(source, Some(self.segment(source, documents)))
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
        let sources = sources.into_iter();
        let new = sources.map(|(source, documents)| self.segment(source.as_ref(), documents));
        let mut segments: Vec<Arc<Segment>> = self.segments.iter().cloned().chain(new).collect();
        // Of two with one name the later stands, as it would one after the other.
        segments.reverse();
        segments.sort_by(|a, b| a.source.cmp(&b.source));
        segments.dedup_by(|later, first| later.source == first.source);

        let mut directory = Vec::new();
        let mut words = Vec::new();
        for (at, segment) in (0_u32..).zip(&segments) {
            directory.extend(places(segment, at));
            words.extend(segment.name_words.iter().cloned().map(NameWord::new));
        }
        directory.sort_unstable_by_key(|it| (it.term, it.segment));
        words.sort_unstable_by(|a, b| a.text.cmp(&b.text));
        words.dedup_by(|later, first| {
            let same = later.text == first.text;
            first.segments += u32::from(same);
            same
        });
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

    fn segment(&self, source: &str, documents: Vec<SearchDocument>) -> Arc<Segment> {
        Arc::new(Segment::build(source, documents, self.embedder()))
    }

    /// What ranks by meaning, if anything does.
    pub(crate) fn embedder(&self) -> Option<&dyn Embedder> {
        self.embedder.as_deref()
    }

    fn replace(&self, source: &str, new: Option<Arc<Segment>>) -> SearchIndex {
        let found = self
            .segments
            .binary_search_by(|it| it.source.as_ref().cmp(source));
        let (at, old) = match found {
            Ok(at) => (at, self.segments.get(at)),
            Err(at) => (at, None),
        };
        let mut segments = self.segments.to_vec();
        segments.splice(at..at + usize::from(old.is_some()), new.clone());

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
        let added = new.iter().flat_map(|it| places(it, at));
        let room = self.directory.len() + new.as_ref().map_or(0, |it| it.term_count());
        let directory = merge(kept, added, room, |it| (it.term, it.segment));

        let mut words = self.name_words.to_vec();
        if let Some(old) = old {
            recount(&mut words, &old.name_words, |it| it.segments -= 1);
            words.retain(|it| it.segments > 0);
        }
        if let Some(new) = &new {
            let missing = recount(&mut words, &new.name_words, |it| it.segments += 1);
            let missing = missing.into_iter().map(NameWord::new);
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

    fn places(&self, run: &Run) -> &[Place] {
        let range = run.start as usize..run.end as usize;
        self.directory.get(range).unwrap_or_default()
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

    /// The postings of a run, segment by segment, each with its first document's number.
    pub(crate) fn postings(&self, run: &Run) -> impl Iterator<Item = (&Segment, u32, &[Posting])> {
        self.places(run).iter().filter_map(|it| {
            let segment = self.segments.get(it.segment as usize)?;
            let base = self.bases.get(it.segment as usize)?;
            Some((
                segment.as_ref(),
                *base,
                segment.postings(it.start, it.count),
            ))
        })
    }

    /// The posting of a run for one document.
    pub(crate) fn posting(&self, run: &Run, document: u32) -> Option<&Posting> {
        let at = self.segment_of(document)?;
        let places = self.places(run);
        let place = places
            .binary_search_by_key(&(at as u32), |it| it.segment)
            .ok()?;
        let place = places.get(place)?;
        let postings = self.segments.get(at)?.postings(place.start, place.count);
        let local = document - self.bases.get(at)?;
        let found = postings.binary_search_by_key(&local, |it| it.document);
        postings.get(found.ok()?)
    }

    fn segment_of(&self, document: u32) -> Option<usize> {
        self.bases
            .partition_point(|base| *base <= document)
            .checked_sub(1)
    }

    /// The segment that holds a document, and the document's place in it.
    pub(crate) fn locate(&self, document: u32) -> Option<(&Segment, u32)> {
        let at = self.segment_of(document)?;
        Some((self.segments.get(at)?, document - self.bases.get(at)?))
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

fn places(segment: &Segment, at: u32) -> impl Iterator<Item = Place> {
    segment.terms().map(move |(term, start, count)| Place {
        term,
        segment: at,
        start,
        count,
        peak: peak(segment.postings(start, count)),
    })
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

/// Applies a change to the words named, and returns those that are not there.
fn recount(
    words: &mut [NameWord],
    named: &[Arc<str>],
    change: impl Fn(&mut NameWord),
) -> Vec<Arc<str>> {
    let mut missing = Vec::new();
    for name in named {
        let found = words.binary_search_by(|it| it.text.cmp(name));
        match found.ok().and_then(|at| words.get_mut(at)) {
            Some(word) => change(word),
            None => missing.push(name.clone()),
        }
    }
    missing
}
