//! The score board of one search: what the words of a request add up to, behind the gate.
//!
//! The gate is asked before the first point a document could get: what does not pass is never
//! scored. Nor is what cannot be among the best: each segment keeps the most a term is worth in
//! it, so what the terms still to come could add to a new document there is known, and where that
//! is less than the last of the best has already, no new documents are let in. The segments that
//! promise most come first, because they raise that bar soonest.

use super::best_clause::add_best_clauses;
use super::gate::Gate;
use super::index::{Place, SearchIndex};
use super::query::{Query, QueryTerm};
use super::segment::Posting;

/// How many segments come first.
const FIRST: usize = 32;

/// A document that may be among the best.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) document: u32,
    /// What the words of the whole request add up to.
    pub(crate) words: u32,
    /// The same for the clause that fits best.
    pub(crate) best_clause: u32,
}

/// One segment while its documents are scored.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// The most that the terms to come add to any of its documents.
    ahead: u32,
    /// Where its slots begin, if any of its documents was let in.
    slots_at: Option<u32>,
    turn: Turn,
}

/// When a segment is scored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Turn {
    First,
    #[default]
    Second,
}

/// All running scores.
pub(crate) struct Board<'a> {
    index: &'a SearchIndex,
    gate: &'a Gate,
    query: &'a Query,
    /// How many of the best are looked for.
    count: usize,
    /// By segment.
    blocks: Vec<Block>,
    /// The segments that have slots, in the order of these.
    opened: Vec<u32>,
    /// One more than what the words of a document add up to; zero for those not let in.
    slots: Vec<u32>,
    /// Documents that will be chosen whatever their words.
    called: Vec<u32>,
    /// What the words of the last of the best come to at least.
    bar: u32,
    /// Postings read since the bar was set.
    read: usize,
}

impl<'a> Board<'a> {
    /// A board for finding the best `count` answers to a request. What is left out could not
    /// have been among them.
    pub(crate) fn new(
        index: &'a SearchIndex,
        gate: &'a Gate,
        query: &'a Query,
        count: usize,
    ) -> Self {
        Board {
            index,
            gate,
            query,
            count,
            blocks: vec![Block::default(); index.segment_count()],
            opened: Vec::new(),
            slots: Vec::new(),
            called: Vec::new(),
            bar: 0,
            read: 0,
        }
    }

    /// Lets a document in for another reason than its words, if it passes the gate; it will
    /// be among the chosen.
    pub(crate) fn call(&mut self, document: u32) -> bool {
        if !self.gate.passes(document) {
            return false;
        }
        let Some((segment, at)) = self.index.segment_of(document) else {
            return false;
        };
        if let Some(slot) = self.slots_of(segment).get_mut(at as usize) {
            *slot = 1;
        }
        self.called.push(document);
        true
    }

    /// Scores the words of the request.
    pub(crate) fn add_words(&mut self) {
        for term in &self.query.terms {
            for place in self.index.places(&term.run) {
                if let Some(block) = self.blocks.get_mut(place.segment as usize) {
                    block.ahead += most(term.weight, place.peak);
                }
            }
        }
        let mut promises: Vec<u32> = self.blocks.iter().map(|it| it.ahead).collect();
        let least = nth_largest(&mut promises, FIRST).unwrap_or_default();
        for block in &mut self.blocks {
            if block.ahead >= least {
                block.turn = Turn::First;
            }
        }
        for turn in [Turn::First, Turn::Second] {
            self.add_words_in(turn);
            self.raise_bar();
        }
    }

    fn add_words_in(&mut self, turn: Turn) {
        for term in &self.query.terms {
            // Setting the bar walks the slots, so it is done when as much was read.
            if self.read > self.slots.len() {
                self.raise_bar();
            }
            let bar = self.query.least(self.bar);
            for place in self.index.places(&term.run) {
                let block = self.blocks.get_mut(place.segment as usize);
                let Some(block) = block.filter(|it| it.turn == turn) else {
                    continue;
                };
                let may_be_best = self.query.most(block.ahead) >= bar;
                block.ahead -= most(term.weight, place.peak);
                if may_be_best {
                    self.add_to_all(term, place);
                } else if block.slots_at.is_some() {
                    self.add_to_met(term, place);
                }
            }
        }
    }

    /// Adds a term to every document of a segment that has it and passes.
    fn add_to_all(&mut self, term: &QueryTerm, place: &Place) {
        let (base, postings) = self.index.postings_at(place);
        self.read += postings.len();
        let gate = self.gate;
        let slots = self.slots_of(place.segment);
        for posting in postings {
            let Some(slot) = slots.get_mut(posting.document as usize) else {
                continue;
            };
            if *slot == 0 {
                if !gate.passes(base + posting.document) {
                    continue;
                }
                *slot = 1;
            }
            *slot += contribution(term.weight, posting);
        }
    }

    /// Adds a term to the documents of a segment already let in.
    fn add_to_met(&mut self, term: &QueryTerm, place: &Place) {
        let (_, postings) = self.index.postings_at(place);
        let slots = self.slots_of(place.segment);
        for posting in postings {
            let slot = slots.get_mut(posting.document as usize);
            if let Some(slot) = slot.filter(|it| **it > 0) {
                *slot += contribution(term.weight, posting);
            }
        }
    }

    /// The slots of a segment, by document; it has some from now on.
    fn slots_of(&mut self, segment: u32) -> &mut [u32] {
        let Some(block) = self.blocks.get_mut(segment as usize) else {
            return &mut [];
        };
        let length = self.index.documents_of(segment).len();
        let at = *block.slots_at.get_or_insert_with(|| {
            let at = self.slots.len();
            self.slots.resize(at + length, 0);
            self.opened.push(segment);
            at as u32
        });
        let range = at as usize..at as usize + length;
        self.slots.get_mut(range).unwrap_or_default()
    }

    /// Sets the bar to what the best `count` have so far.
    fn raise_bar(&mut self) {
        self.read = 0;
        let reach = self.slots.iter().filter(|it| **it > self.bar);
        let mut words: Vec<u32> = reach.map(|it| it - 1).collect();
        self.bar = nth_largest(&mut words, self.count).unwrap_or(self.bar);
    }

    /// Those let in that may be among the best when everything is added, with their best
    /// clauses, by document.
    pub(crate) fn choose(mut self) -> Vec<Chosen> {
        self.called.sort_unstable();
        let bar = self.query.least(self.bar);
        let opened = self.opened.iter();
        let documents = opened.flat_map(|it| self.index.documents_of(*it));
        let let_in = documents.zip(&self.slots).filter(|(_, slot)| **slot > 0);
        let scored = let_in.map(|(document, slot)| Chosen {
            document,
            words: slot - 1,
            best_clause: 0,
        });
        let mut chosen: Vec<Chosen> = scored
            .filter(|it| {
                self.query.most(it.words) >= bar || self.called.binary_search(&it.document).is_ok()
            })
            .collect();
        chosen.sort_unstable_by_key(|it| it.document);
        if self.query.clauses > 1 {
            add_best_clauses(self.index, self.query, &mut chosen);
        }
        chosen
    }
}

/// The value with so many, itself included, that are no smaller; `None` if there are fewer.
fn nth_largest(values: &mut [u32], count: usize) -> Option<u32> {
    let below = values.len().checked_sub(count)?;
    let is_there = below < values.len();
    is_there.then(|| *values.select_nth_unstable(below).1)
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
