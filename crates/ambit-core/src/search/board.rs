//! The score board of one search: what the words of a request add up to, behind the gate.
//!
//! The gate is asked once per document, before the first point the document could get: what
//! does not pass is never scored. Terms come heaviest first, and when those still to come
//! could not lift a new document among the best, no new ones are let in: most documents that
//! only share a common word with the request are never looked at.

use super::index::SearchIndex;
use super::query::{Query, QueryTerm};
use super::segment::Posting;
use crate::id::CapabilityId;

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Unseen,
    Passed,
    Refused,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    words: u32,
    /// One more than the document's place among the chosen; zero for the rest.
    chosen: u32,
    state: State,
    /// Chosen whatever its words.
    is_called: bool,
}

/// A document that may be among the best.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) document: u32,
    /// What the words of the whole request add up to.
    pub(crate) words: u32,
    /// The same for the clause that fits best.
    pub(crate) best_clause: u32,
    this_clause: u32,
    clause: u32,
}

/// All running scores.
pub(crate) struct Board<'a, G> {
    index: &'a SearchIndex,
    gate: G,
    slots: Vec<Slot>,
    /// Documents that passed the gate.
    passed: Vec<u32>,
}

impl<'a, G: Fn(&CapabilityId) -> bool> Board<'a, G> {
    pub(crate) fn new(index: &'a SearchIndex, gate: G) -> Self {
        Board {
            index,
            gate,
            slots: vec![Slot::default(); index.len()],
            passed: Vec::new(),
        }
    }

    /// Scores the words of a request, for finding its best `count`. What is left out could
    /// not have been among them.
    pub(crate) fn add_words(&mut self, query: &Query, count: usize) {
        let mut to_come: u32 = query.terms.iter().map(|it| it.most).sum();
        // Finding the bar walks the board, so it is looked up only when there is less to come
        // than the best already has, and again only when a quarter of that is gone.
        let mut highest = 0;
        let mut look_below = u32::MAX;
        let mut is_open = true;
        for term in &query.terms {
            let most = query.most(to_come);
            if is_open && most < highest.min(look_below) {
                is_open = most >= self.words_of_last(count);
                look_below = most - most / 4;
            }
            if is_open {
                highest = highest.max(self.add_to_all(term));
            } else {
                self.add_to_passed(term);
            }
            to_come -= term.most;
        }
    }

    /// Adds a term to every document that has it and passes; returns the highest sum met.
    fn add_to_all(&mut self, term: &QueryTerm) -> u32 {
        let mut highest = 0;
        for (segment, base, postings) in self.index.postings(&term.run) {
            for posting in postings {
                let id = || Some(&segment.entries.get(posting.document as usize)?.id);
                if let Some(slot) = self.admit(base + posting.document, id) {
                    slot.words += contribution(term.weight, posting);
                    highest = highest.max(slot.words);
                }
            }
        }
        highest
    }

    fn add_to_passed(&mut self, term: &QueryTerm) {
        for (_, base, postings) in self.index.postings(&term.run) {
            for posting in postings {
                let slot = self.slots.get_mut((base + posting.document) as usize);
                if let Some(slot) = slot.filter(|it| it.state == State::Passed) {
                    slot.words += contribution(term.weight, posting);
                }
            }
        }
    }

    /// Lets a document in for another reason than its words, if it passes the gate; it will
    /// be among the chosen.
    pub(crate) fn call(&mut self, document: u32) -> bool {
        let index = self.index;
        let id = || Some(&index.entry(document)?.id);
        let slot = self.admit(document, id);
        slot.map(|it| it.is_called = true).is_some()
    }

    fn admit<'i>(
        &mut self,
        document: u32,
        id: impl FnOnce() -> Option<&'i CapabilityId>,
    ) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(document as usize)?;
        if slot.state == State::Unseen {
            if id().is_some_and(&self.gate) {
                slot.state = State::Passed;
                self.passed.push(document);
            } else {
                slot.state = State::Refused;
            }
        }
        (slot.state == State::Passed).then_some(slot)
    }

    fn words(&self, document: u32) -> u32 {
        self.slots.get(document as usize).map_or(0, |it| it.words)
    }

    /// The words of the last of the best `count` so far; zero if there are fewer.
    fn words_of_last(&self, count: usize) -> u32 {
        let mut words: Vec<u32> = self.passed.iter().map(|it| self.words(*it)).collect();
        match words.len().checked_sub(count) {
            Some(below) if below < words.len() => *words.select_nth_unstable(below).1,
            _ => 0,
        }
    }

    /// Those of the passed that may be among the best `count` when everything is added, with
    /// their best clauses, by document.
    pub(crate) fn choose(mut self, query: &Query, count: usize) -> Vec<Chosen> {
        let bound = self.words_of_last(count);
        let may_be_best = |it: &Slot| it.is_called || query.most(it.words) >= bound;
        let slots = &mut self.slots;
        self.passed
            .retain(|it| slots.get(*it as usize).is_some_and(may_be_best));
        self.passed.sort_unstable();
        let mut chosen = Vec::new();
        for document in &self.passed {
            if let Some(slot) = slots.get_mut(*document as usize) {
                chosen.push(Chosen {
                    document: *document,
                    words: slot.words,
                    ..Chosen::default()
                });
                slot.chosen = chosen.len() as u32;
            }
        }
        if query.clauses > 1 {
            self.add_clauses(query, &mut chosen);
        }
        chosen
    }

    fn add_clauses(&self, query: &Query, chosen: &mut [Chosen]) {
        for clause in 0..query.clauses {
            let in_clause = |it: &&QueryTerm| it.clauses & (1 << clause) != 0;
            for term in query.terms.iter().filter(in_clause) {
                for (_, base, postings) in self.index.postings(&term.run) {
                    for posting in postings {
                        let slot = self.slots.get((base + posting.document) as usize);
                        let place = slot.and_then(|it| it.chosen.checked_sub(1));
                        let Some(it) = place.and_then(|at| chosen.get_mut(at as usize)) else {
                            continue;
                        };
                        if it.clause != clause {
                            it.clause = clause;
                            it.this_clause = 0;
                        }
                        it.this_clause += contribution(term.weight, posting);
                        it.best_clause = it.best_clause.max(it.this_clause);
                    }
                }
            }
        }
    }
}

/// What a term adds to a document that has it.
pub(crate) fn contribution(weight: u32, posting: &Posting) -> u32 {
    most(weight, posting.worth)
}

/// What a term of this weight adds at this worth, which is of 2^16, near enough.
pub(crate) fn most(weight: u32, worth: u16) -> u32 {
    let product = (u64::from(weight) * u64::from(worth)) >> 16;
    (product as u32).max(1)
}
