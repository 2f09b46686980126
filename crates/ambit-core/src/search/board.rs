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
use super::query::{Query, QueryTerm, clause_share};
use super::segment::Posting;

/// How many segments come first.
const FIRST: usize = 32;

/// A document that may be among the best.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) document: u32,
    pub(crate) segment: u32,
    /// What the words of the whole request add up to.
    pub(crate) words: u32,
    /// The same for the clause that fits best.
    pub(crate) best_clause: u32,
}

impl Chosen {
    /// What words and clause come to.
    pub(crate) fn score(&self) -> u32 {
        self.words + clause_share(self.best_clause)
    }
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
    /// What the words of the last of the best come to, as far as they are added.
    floor: u32,
    /// What the words of a document must come to for it to be among the best.
    needed: u32,
    /// Postings read since the floor was found.
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
            floor: 0,
            needed: 0,
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
        self.add_words_in(Turn::First);
        self.raise_floor();
        self.raise_by_clauses();
        self.add_words_in(Turn::Second);
        self.raise_floor();
    }

    fn add_words_in(&mut self, turn: Turn) {
        for term in &self.query.terms {
            // Finding the floor walks the slots, so it is done when twice as much was read.
            if self.read > 2 * self.slots.len() {
                self.raise_floor();
            }
            for place in self.index.places(&term.run) {
                let block = self.blocks.get_mut(place.segment as usize);
                let Some(block) = block.filter(|it| it.turn == turn) else {
                    continue;
                };
                let may_be_best = block.ahead >= self.needed;
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

    /// Finds what the best `count` have so far.
    fn raise_floor(&mut self) {
        self.read = 0;
        let reach = self.slots.iter().filter(|it| **it > self.floor);
        let mut words: Vec<u32> = reach.map(|it| it - 1).collect();
        self.floor = nth_largest(&mut words, self.count).unwrap_or(self.floor);
        self.need(self.query.least(self.floor));
    }

    /// The same for the best so far with their clauses, which says more.
    fn raise_by_clauses(&mut self) {
        if self.query.clauses > 1 {
            let mut best = self.with_words(self.floor);
            add_best_clauses(self.index, self.query, &mut best);
            let mut scores: Vec<u32> = best.iter().map(Chosen::score).collect();
            if let Some(score) = nth_largest(&mut scores, self.count) {
                self.need(score);
            }
        }
    }

    /// From now on, only what may reach this score is among the best.
    fn need(&mut self, score: u32) {
        self.needed = self.needed.max(self.query.words_for(score));
    }

    /// Those let in whose words come to so much, by document.
    fn with_words(&self, words: u32) -> Vec<Chosen> {
        let mut found = Vec::new();
        let mut slots = self.slots.as_slice();
        for segment in &self.opened {
            let documents = self.index.documents_of(*segment);
            let (of_segment, rest) = slots.split_at(documents.len().min(slots.len()));
            slots = rest;
            let above = documents.zip(of_segment).filter(|(_, it)| **it > words);
            found.extend(above.map(|(document, slot)| Chosen {
                document,
                segment: *segment,
                words: slot - 1,
                best_clause: 0,
            }));
        }
        found.sort_unstable_by_key(|it| it.document);
        found
    }

    /// Those let in that may be among the best when everything is added, with their best
    /// clauses, by document.
    pub(crate) fn choose(mut self) -> Vec<Chosen> {
        let mut chosen = if self.called.is_empty() {
            self.with_words(self.needed)
        } else {
            self.called.sort_unstable();
            let mut all = self.with_words(0);
            all.retain(|it| {
                it.words >= self.needed || self.called.binary_search(&it.document).is_ok()
            });
            all
        };
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

#[cfg(test)]
mod tests {
    use crate::id::{CapabilityId, Source};
    use crate::search::{SearchDocument, SearchIndex, SearchRequest};

    const WORDS: [&str; 16] = [
        "search", "issue", "file", "weather", "stock", "price", "list", "message", "city", "mail",
        "invoice", "branch", "ticket", "hotel", "flight", "and",
    ];

    /// Numbers that look random, always the same.
    struct Dice(u32);

    impl Dice {
        /// So many words, the first of the list most often.
        fn text(&mut self, length: u32) -> String {
            let words = (0..length).map(|_| {
                let (a, b) = (self.below(16), self.below(16));
                WORDS[a.min(b)]
            });
            words.collect::<Vec<_>>().join(" ")
        }

        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (self.0 >> 16) as usize % end
        }
    }

    /// A thousand are more than there are, so nothing is left out for them.
    #[test]
    fn what_is_left_out_is_not_missed() {
        let mut dice = Dice(7);
        let sources: Vec<(String, Vec<SearchDocument>)> = (0..90)
            .map(|source| {
                let owner = format!("s{source}");
                let documents = (0..10).map(|at| {
                    let id = CapabilityId::tool(Source::Mcp, &owner, &format!("t{at}")).unwrap();
                    let length = 1 + dice.below(12) as u32;
                    SearchDocument {
                        description: dice.text(length),
                        ..SearchDocument::new(id)
                    }
                });
                (owner.clone(), documents.collect())
            })
            .collect();
        let together = sources.iter().flat_map(|it| it.1.clone()).collect();
        let one = SearchIndex::default().with_source("all", together);
        let many = SearchIndex::default().with_sources(sources);
        for at in 0..150 {
            let mut request = SearchRequest::new(dice.text(1 + at % 9));
            request.server = (at % 3 == 0).then(|| format!("s{at}"));
            request.limit = 1000;
            let all = many.search(&request, &many.gate(|_| true));
            request.limit = 10;
            let best = &all[..all.len().min(10)];
            for index in [&one, &many] {
                let hits = index.search(&request, &index.gate(|_| true));
                assert_eq!(hits, best, "{request:?}");
            }
        }
    }
}
