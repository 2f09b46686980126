//! The score board of one search: what the words of a request add up to, behind the gate.
//!
//! The gate is asked before the first point a document could get: what does not pass is never
//! scored. Terms come heaviest first, and when those still to come could not lift a new document
//! among the best, no new ones are let in: most documents that only share a common word with the
//! request are never looked at.

use super::gate::Gate;
use super::index::SearchIndex;
use super::query::{Query, QueryTerm};
use super::segment::Posting;

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
pub(crate) struct Board<'a> {
    index: &'a SearchIndex,
    gate: &'a Gate,
    /// One more than what the words of each document add up to; zero for those not let in.
    slots: Vec<u32>,
    /// Documents let in.
    met: Vec<u32>,
    /// Those of them that will be chosen whatever their words.
    called: Vec<u32>,
}

impl<'a> Board<'a> {
    pub(crate) fn new(index: &'a SearchIndex, gate: &'a Gate) -> Self {
        Board {
            index,
            gate,
            slots: vec![0; index.len()],
            met: Vec::new(),
            called: Vec::new(),
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
                self.add_to_met(term);
            }
            to_come -= term.most;
        }
    }

    /// Adds a term to every document that has it and passes; returns the highest sum met.
    fn add_to_all(&mut self, term: &QueryTerm) -> u32 {
        let mut highest = 0;
        for (_, base, postings) in self.index.postings(&term.run) {
            for posting in postings {
                if let Some(slot) = self.admit(base + posting.document) {
                    *slot += contribution(term.weight, posting);
                    highest = highest.max(*slot - 1);
                }
            }
        }
        highest
    }

    /// Adds a term to the documents already let in.
    fn add_to_met(&mut self, term: &QueryTerm) {
        for (_, base, postings) in self.index.postings(&term.run) {
            for posting in postings {
                let slot = self.slots.get_mut((base + posting.document) as usize);
                if let Some(slot) = slot.filter(|it| **it > 0) {
                    *slot += contribution(term.weight, posting);
                }
            }
        }
    }

    /// Lets a document in for another reason than its words, if it passes the gate; it will
    /// be among the chosen.
    pub(crate) fn call(&mut self, document: u32) -> bool {
        let passes = self.admit(document).is_some();
        if passes {
            self.called.push(document);
        }
        passes
    }

    /// The slot of a document, if it passes the gate.
    fn admit(&mut self, document: u32) -> Option<&mut u32> {
        let slot = self.slots.get_mut(document as usize)?;
        if *slot == 0 {
            if !self.gate.passes(document) {
                return None;
            }
            *slot = 1;
            self.met.push(document);
        }
        Some(slot)
    }

    fn words(&self, document: u32) -> u32 {
        let slot = self.slots.get(document as usize);
        slot.map_or(0, |it| it.saturating_sub(1))
    }

    /// The words of the last of the best `count` so far; zero if there are fewer.
    fn words_of_last(&self, count: usize) -> u32 {
        let mut words: Vec<u32> = self.met.iter().map(|it| self.words(*it)).collect();
        match words.len().checked_sub(count) {
            Some(below) if below < words.len() => *words.select_nth_unstable(below).1,
            _ => 0,
        }
    }

    /// Those let in that may be among the best `count` when everything is added, with their
    /// best clauses, by document.
    pub(crate) fn choose(mut self, query: &Query, count: usize) -> Vec<Chosen> {
        let bound = self.words_of_last(count);
        let met = std::mem::take(&mut self.met).into_iter();
        let may_be_best = met.filter(|it| query.most(self.words(*it)) >= bound);
        let mut documents: Vec<u32> = may_be_best.collect();
        documents.append(&mut self.called);
        documents.sort_unstable();
        documents.dedup();
        let chosen = documents.iter().map(|document| Chosen {
            document: *document,
            words: self.words(*document),
            ..Chosen::default()
        });
        let mut chosen: Vec<Chosen> = chosen.collect();
        if query.clauses > 1 {
            self.add_clauses(query, &mut chosen);
        }
        chosen
    }

    /// Takes the sums apart by clause. The slots are done with, so they serve again: for one
    /// more than each chosen document's place, and zero for the rest.
    fn add_clauses(mut self, query: &Query, chosen: &mut [Chosen]) {
        self.slots.fill(0);
        for (place, it) in (1_u32..).zip(chosen.iter()) {
            if let Some(slot) = self.slots.get_mut(it.document as usize) {
                *slot = place;
            }
        }
        for clause in 0..query.clauses {
            let in_clause = |it: &&QueryTerm| it.clauses & (1 << clause) != 0;
            for term in query.terms.iter().filter(in_clause) {
                for (_, base, postings) in self.index.postings(&term.run) {
                    for posting in postings {
                        let slot = self.slots.get((base + posting.document) as usize);
                        let place = slot.and_then(|it| it.checked_sub(1));
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
