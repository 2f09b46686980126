//! The words of one source, inverted once and then shared.
//!
//! What a word is worth in a document depends on nothing outside the document, so a posting
//! keeps only the result: eight bytes per distinct word.

use std::sync::Arc;

use super::document::SearchDocument;
use super::embed::{Embedder, Vectors};
use super::field::{Field, FieldSet};
use super::invert::Inversion;
use super::text::{Analyzer, Shape, Term, words};
use crate::id::CapabilityId;

/// Shorter words of names are not offered for misspelt ones.
const MIN_NAME_WORD: usize = 4;

/// One word in one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    /// The document's place in its segment.
    pub(crate) document: u32,
    /// Field-weighted and saturated frequency, of [`FULL_WORTH`](super::invert::FULL_WORTH).
    pub(crate) worth: u16,
    pub(crate) fields: FieldSet,
}

/// A term and where its postings are. Kept by the index for all its segments together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) term: Term,
    pub(crate) start: u32,
    pub(crate) count: u32,
}

/// A document within its segment.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: CapabilityId,
    /// The place of its pack among the segment's packs.
    pub(crate) pack: u32,
    /// Where its words begin in the segment's sequence.
    words_at: u32,
}

/// All documents of one source.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) source: Arc<str>,
    /// By id.
    pub(crate) entries: Vec<Entry>,
    /// By term, then document.
    postings: Vec<Posting>,
    /// The words of each document's main fields as they follow each other, shortened.
    sequence: Vec<u32>,
    /// The words of names, sorted, with a space between.
    name_words: Box<str>,
    /// The terms of each pack's name.
    pub(crate) packs: Vec<Box<[Term]>>,
    /// What the documents mean, where an embedder was given.
    pub(crate) vectors: Option<Vectors>,
}

impl Segment {
    /// The segment of a source's documents, and its spans by term.
    pub(crate) fn build(
        source: &str,
        mut documents: Vec<SearchDocument>,
        embedder: Option<&dyn Embedder>,
    ) -> (Segment, Vec<Span>) {
        // The whole document decides, so that the order they came in never matters.
        documents.sort_unstable();
        documents.dedup_by(|later, first| later.id == first.id);
        let mut pack_names: Vec<&str> = documents.iter().map(|it| it.pack.as_str()).collect();
        pack_names.sort_unstable();
        pack_names.dedup();

        let mut analyzer = Analyzer::default();
        let mut inversion = Inversion::default();
        let mut entries = Vec::with_capacity(documents.len());
        for (at, document) in (0_u32..).zip(&documents) {
            let pack = pack_names.binary_search(&document.pack.as_str());
            entries.push(Entry {
                id: document.id.clone(),
                pack: pack.unwrap_or_default() as u32,
                words_at: inversion.sequence.len() as u32,
            });
            inversion.add(&mut analyzer, at, document);
            for name in exact_names(document) {
                inversion
                    .found
                    .push((Term::of_name(&name), name_posting(at)));
            }
        }
        let packs = pack_names
            .iter()
            .map(|name| distinct_terms(&mut analyzer, name))
            .collect();
        inversion.sort();
        let mut spans: Vec<Span> = Vec::new();
        for (start, (term, _)) in (0_u32..).zip(&inversion.found) {
            match spans.last_mut().filter(|it| it.term == *term) {
                Some(span) => span.count += 1,
                None => spans.push(Span {
                    term: *term,
                    start,
                    count: 1,
                }),
            }
        }
        inversion.sequence.shrink_to_fit();
        let segment = Segment {
            source: source.into(),
            entries,
            postings: inversion.found.iter().map(|(_, it)| *it).collect(),
            sequence: inversion.sequence,
            name_words: name_words(&documents),
            packs,
            vectors: embedder.map(|it| Vectors::of(it, &documents)),
        };
        (segment, spans)
    }

    /// The words of names, sorted.
    pub(crate) fn name_words(&self) -> impl Iterator<Item = &str> {
        self.name_words.split_ascii_whitespace()
    }

    /// So many postings from there, by document.
    pub(crate) fn postings(&self, start: u32, count: u32) -> &[Posting] {
        let range = start as usize..(start + count) as usize;
        self.postings.get(range).unwrap_or_default()
    }

    /// The words of a document as they follow each other.
    pub(crate) fn words_of(&self, document: u32) -> &[u32] {
        let at = |place: usize| self.entries.get(place).map(|it| it.words_at as usize);
        let from = at(document as usize).unwrap_or(self.sequence.len());
        let to = at(document as usize + 1).unwrap_or(self.sequence.len());
        self.sequence.get(from..to).unwrap_or_default()
    }
}

fn name_posting(document: u32) -> Posting {
    Posting {
        document,
        worth: 0,
        fields: FieldSet::default().with(Field::Name),
    }
}

/// The ways to write a document's whole name.
fn exact_names(document: &SearchDocument) -> [String; 3] {
    let id = &document.id;
    [
        document.name.to_lowercase(),
        id.name().to_lowercase(),
        wire_name(id),
    ]
}

/// The name with its owner, as clients write it.
pub(crate) fn wire_name(id: &CapabilityId) -> String {
    format!("{}__{}", id.owner(), id.name()).to_lowercase()
}

/// The distinct terms of a short text, sorted.
pub(crate) fn distinct_terms(analyzer: &mut Analyzer, text: &str) -> Box<[Term]> {
    let mut terms = Vec::new();
    analyzer.terms(text, |term, _, _| terms.push(term));
    terms.sort_unstable();
    terms.dedup();
    terms.into()
}

fn name_words(documents: &[SearchDocument]) -> Box<str> {
    let mut found: Vec<Box<str>> = Vec::new();
    for document in documents {
        words(&document.name, |word, shape| {
            if shape == Shape::Part && word.len() >= MIN_NAME_WORD {
                found.push(word.into());
            }
        });
    }
    found.sort_unstable();
    found.dedup();
    found.join(" ").into()
}
