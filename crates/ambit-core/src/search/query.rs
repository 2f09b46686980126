//! What a request asks for: terms with what they are worth, in clauses.

use std::cmp::Reverse;
use std::sync::Arc;

use super::board::most;
use super::clause::clauses;
use super::hint::ServerHint;
use super::index::{Run, SearchIndex};
use super::text::{Analyzer, MAX_BYTES, Shape, Term, clip};
use super::words::is_asking_word;

/// Most distinct terms of one request that are looked up.
const MAX_TERMS: usize = 256;
/// Most words of one request that are looked up as misspelt.
const MAX_NEAR_MISSES: usize = 4;
/// What a word is worth for being there at all, however common: as much as being twice as
/// rare. It favours documents that cover more of the request.
const PRESENCE: u32 = 1 << FRACTION;

/// A request for capabilities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchRequest {
    /// What is wanted, in words, or a name.
    pub query: String,
    /// The server it is expected from: preferred, not required.
    pub server: Option<String>,
    /// Most hits wanted.
    pub limit: usize,
}

impl SearchRequest {
    /// A request for the best ten.
    pub fn new(query: impl Into<String>) -> Self {
        SearchRequest {
            query: query.into(),
            server: None,
            limit: 10,
        }
    }
}

/// One term of a request that something has.
#[derive(Debug)]
pub(crate) struct QueryTerm {
    term: Term,
    /// The word as asked.
    pub(crate) word: Arc<str>,
    /// The word of a name it is taken for.
    pub(crate) taken_for: Option<Arc<str>>,
    /// Where it occurs.
    pub(crate) run: Run,
    /// What it is worth where it applies fully.
    pub(crate) weight: u32,
    /// The most it adds to any document there is.
    pub(crate) most: u32,
    /// A bit for each clause it is in.
    pub(crate) clauses: u32,
}

/// Two words that stand side by side in the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair {
    pub(crate) words: (u32, u32),
    /// What it is worth to stand side by side in a document too.
    pub(crate) weight: u32,
}

/// A request, analysed against what there is.
#[derive(Debug, Default)]
pub(crate) struct Query {
    /// Heaviest first.
    pub(crate) terms: Vec<QueryTerm>,
    /// Distinct, sorted by words.
    pub(crate) pairs: Vec<Pair>,
    /// How many clauses have terms.
    pub(crate) clauses: u32,
    pub(crate) server: ServerHint,
}

impl Query {
    pub(crate) fn new(index: &SearchIndex, request: &SearchRequest) -> Query {
        let mut reading = Reading {
            index,
            analyzer: Analyzer::default(),
            query: Query::default(),
            misspelt: Vec::new(),
        };
        for clause in clauses(clip(&request.query, MAX_BYTES)) {
            reading.clause(clause);
        }
        reading.near_misses();
        if let Some(server) = &request.server {
            reading.query.server = ServerHint::new(&mut reading.analyzer, server);
        }
        let mut query = reading.query;
        query.pairs.sort_unstable();
        query.pairs.dedup_by_key(|it| it.words);
        query.terms.sort_by_key(|it| Reverse(it.most));
        query
    }

    /// The most that words of this sum can come to with clause and server added.
    pub(crate) fn most(&self, words: u32) -> u32 {
        let with_clause = if self.clauses > 1 {
            words + clause_share(words)
        } else {
            words
        };
        with_clause + self.server.most(with_clause)
    }

    /// The least that words must come to for a score that [`most`](Query::most) allows.
    pub(crate) fn words_for(&self, score: u32) -> u32 {
        // No more than the score itself, for what is added is never negative.
        let (mut low, mut high) = (0, score);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.most(middle) < score {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The least that words of this sum come to with clause and server added: one clause has
    /// no less than its share.
    pub(crate) fn least(&self, words: u32) -> u32 {
        if self.clauses > 1 {
            words + clause_share(words.div_ceil(self.clauses))
        } else {
            words
        }
    }
}

/// What the clause that fits best adds.
pub(crate) fn clause_share(best_clause: u32) -> u32 {
    best_clause / 2
}

/// A query while its request is read.
struct Reading<'a> {
    index: &'a SearchIndex,
    analyzer: Analyzer,
    query: Query,
    /// Words that nothing has, with their clause.
    misspelt: Vec<(Arc<str>, u32)>,
}

impl Reading<'_> {
    fn clause(&mut self, text: &str) {
        let bit = 1 << self.query.clauses;
        let mut before: Option<(Term, u32)> = None;
        let mut has_terms = false;
        let query = &mut self.query;
        self.analyzer.terms(text, |term, word, shape| {
            let known = query.terms.iter_mut().find(|it| it.term == term);
            let weight = if let Some(known) = known {
                known.clauses |= bit;
                known.weight
            } else if query.terms.len() >= MAX_TERMS {
                0
            } else {
                let run = self.index.run(term);
                let weight = weight(self.index, &run, word);
                if weight > 0 {
                    query.terms.push(QueryTerm {
                        term,
                        word: word.into(),
                        taken_for: None,
                        most: most(weight, self.index.peak(&run)),
                        run,
                        weight,
                        clauses: bit,
                    });
                } else if shape == Shape::Part && self.misspelt.len() < MAX_NEAR_MISSES {
                    self.misspelt.push((word.into(), bit));
                }
                weight
            };
            has_terms |= weight > 0;
            if shape == Shape::Part {
                if let Some((other, other_weight)) = before
                    && weight > 0
                    && other_weight > 0
                {
                    query.pairs.push(Pair {
                        words: (other.short(), term.short()),
                        weight: (weight + other_weight) / 2,
                    });
                }
                before = Some((term, weight));
            }
        });
        self.query.clauses += u32::from(has_terms);
    }

    /// Takes words that nothing has for words of names; half sure, so half as much.
    fn near_misses(&mut self) {
        for (word, clauses) in std::mem::take(&mut self.misspelt) {
            let Some(near) = self.index.nearest_name_word(&word) else {
                continue;
            };
            let term = self.analyzer.term(&near);
            let run = self.index.run(term);
            let weight = weight(self.index, &run, &near) / 2;
            if weight > 0 && self.query.terms.iter().all(|it| it.term != term) {
                self.query.terms.push(QueryTerm {
                    term,
                    word,
                    taken_for: Some(near),
                    most: most(weight, self.index.peak(&run)),
                    run,
                    weight,
                    clauses,
                });
                let clause = clauses.trailing_zeros();
                self.query.clauses = self.query.clauses.max(clause + 1);
            }
        }
    }
}

/// What a term of a request is worth: how rare it is, less for words that mostly ask and for
/// bare numbers, which are arguments more often than needs. Zero if nothing has it.
fn weight(index: &SearchIndex, run: &Run, word: &str) -> u32 {
    let found = u64::from(index.count(run));
    if found == 0 {
        return 0;
    }
    let all = index.len() as u64;
    // The usual rarity of BM25, ln(1 + (all - found + ½) / (found + ½)), to another base.
    let rarity = PRESENCE + log2(2 * all + 2).saturating_sub(log2(2 * found + 1));
    let percent = if is_asking_word(word) {
        10
    } else if word.bytes().all(|it| it.is_ascii_digit()) {
        30
    } else {
        100
    };
    (rarity * percent / 100).max(1)
}

/// Bits of fraction in a logarithm.
const FRACTION: u32 = 12;

/// Binary logarithm in fixed point: integers only, so the same on every machine.
fn log2(x: u64) -> u32 {
    let Some(whole) = x.checked_ilog2() else {
        return 0;
    };
    // The mantissa, in [1, 2) with 31 bits of fraction, squared once per bit of the result.
    let mut mantissa = if whole <= 31 {
        x << (31 - whole)
    } else {
        x >> (whole - 31)
    };
    let mut result = whole;
    for _ in 0..FRACTION {
        mantissa = (mantissa * mantissa) >> 31;
        let bit = mantissa >> 32;
        mantissa >>= bit;
        result = result << 1 | bit as u32;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_close() {
        for x in [1_u64, 2, 3, 7, 10, 1000, 20_001, 123_456_789, 1 << 40] {
            let exact = (x as f64).log2() * f64::from(1 << FRACTION);
            assert!((f64::from(log2(x)) - exact).abs() <= 2.0, "{x}");
        }
    }
}
