//! What each word is worth in each document: field-weighted BM25 without the rarity, which
//! depends on everything else and is multiplied in when asked.

use super::document::SearchDocument;
use super::field::{Field, FieldSet, ONE};
use super::segment::Posting;
use super::text::{Analyzer, MAX_TOKENS, Shape, Term};

/// What a posting's worth is a fraction of.
pub(crate) const FULL_WORTH: u32 = u16::MAX as u32;
/// Weighted frequency at which a word is worth half of what it can ever be worth, of [`ONE`].
/// High, so that a word in name and description is worth clearly more than in one of them.
const HALF_WORTH: u32 = 2000;
/// More repetitions than this say no more.
const MAX_FREQUENCY: u32 = 255;
/// Most words of one document that keep their order.
const MAX_SEQUENCE: usize = 256;
/// Stands between texts, so that words of two never seem to be neighbours.
const BREAK: u32 = 0;

/// The postings of a source while its documents are read.
#[derive(Default)]
pub(crate) struct Inversion {
    pub(crate) found: Vec<(Term, Posting)>,
    pub(crate) sequence: Vec<u32>,
    terms: Vec<(Term, Field)>,
    lengths: [u32; Field::ALL.len()],
    /// Where the sequence of the current document must end.
    sequence_end: usize,
}

impl Inversion {
    /// Adds one document's words.
    pub(crate) fn add(&mut self, analyzer: &mut Analyzer, at: u32, document: &SearchDocument) {
        self.terms.clear();
        self.lengths = Default::default();
        self.sequence_end = self.sequence.len() + MAX_SEQUENCE;
        let mut read = |field, text: &str| self.read(analyzer, field, text);
        read(Field::Name, &document.name);
        read(Field::Pack, &document.pack);
        read(Field::Title, &document.title);
        read(Field::Description, &document.description);
        for tag in &document.tags {
            read(Field::Tags, tag);
        }
        for parameter in &document.parameters {
            read(Field::ParameterNames, &parameter.name);
            read(Field::ParameterDescriptions, &parameter.description);
        }
        read(Field::PackSummary, &document.pack_summary);
        read(Field::Body, &document.body);
        self.weigh(at);
    }

    /// Sorts by term, then document, one posting each.
    pub(crate) fn sort(&mut self) {
        let key = |(term, posting): &(Term, Posting)| (*term, posting.document);
        self.found.sort_unstable_by_key(key);
        self.found.dedup_by_key(|it| key(it));
    }

    fn read(&mut self, analyzer: &mut Analyzer, field: Field, text: &str) {
        let Some(length) = self.lengths.get_mut(field as usize) else {
            return;
        };
        let in_order = matches!(
            field,
            Field::Name
                | Field::Title
                | Field::Description
                | Field::Pack
                | Field::ParameterDescriptions
        );
        analyzer.terms(text, |term, _, shape| {
            if *length as usize >= MAX_TOKENS {
                return;
            }
            self.terms.push((term, field));
            if shape == Shape::Part {
                *length += 1;
                if in_order && self.sequence.len() < self.sequence_end {
                    self.sequence.push(term.short());
                }
            }
        });
        if in_order && self.sequence.last() != Some(&BREAK) {
            self.sequence.push(BREAK);
        }
    }

    /// Turns the words read into postings.
    fn weigh(&mut self, document: u32) {
        self.terms.sort_unstable();
        let units = Field::ALL.map(|field| {
            let length = self.lengths.get(field as usize).copied();
            unit(field, length.unwrap_or_default())
        });
        for of_term in self.terms.chunk_by(|a, b| a.0 == b.0) {
            let mut frequency = 0;
            let mut fields = FieldSet::default();
            for of_field in of_term.chunk_by(|a, b| a.1 == b.1) {
                let Some((_, field)) = of_field.first() else {
                    continue;
                };
                let count = (of_field.len() as u32).min(MAX_FREQUENCY);
                let unit = units.get(*field as usize).copied();
                frequency += count * unit.unwrap_or_default();
                fields = fields.with(*field);
            }
            let worth =
                u64::from(frequency) * u64::from(FULL_WORTH) / u64::from(frequency + HALF_WORTH);
            if let Some((term, _)) = of_term.first() {
                let posting = Posting {
                    document,
                    worth: worth as u16,
                    fields,
                };
                self.found.push((*term, posting));
            }
        }
    }
}

/// What one occurrence in a field is worth when the field is so long.
fn unit(field: Field, length: u32) -> u32 {
    let tuning = field.tuning();
    let norm = ONE - tuning.dilution + tuning.dilution * length / tuning.normal_length;
    tuning.weight * ONE / norm
}
