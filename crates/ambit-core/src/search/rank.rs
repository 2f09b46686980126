//! The ranking: everything that adds to a score, and the total order of the result.

use std::cmp::Reverse;

use super::board::{Board, Chosen};
use super::embed::{nearness, quantised};
use super::exact::named;
use super::fuse::fuse;
use super::gate::Gate;
use super::hint::ServerHint;
use super::hit::{Hit, Score};
use super::index::SearchIndex;
use super::phrase::phrases;
use super::query::{Query, SearchRequest, clause_share};
use super::text::{MAX_BYTES, clip};

/// Most hits of one search.
const MAX_LIMIT: usize = 1000;
/// How many of the best are looked at closely.
const CLOSE_LOOK: usize = 32;

/// What a document's score is made of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts {
    pub(crate) words: u32,
    pub(crate) clause: u32,
    pub(crate) server: u32,
    pub(crate) meaning: u32,
    pub(crate) name: u32,
    pub(crate) phrase: u32,
}

impl Parts {
    fn sum(&self) -> u32 {
        self.words + self.clause + self.server + self.meaning + self.name + self.phrase
    }
}

#[derive(Clone, Copy)]
struct Candidate {
    document: u32,
    parts: Parts,
}

impl SearchIndex {
    /// The best answers to a request among what passes the gate, best first, equals by id.
    /// What does not pass is never scored and never found; a gate of another index passes
    /// nothing.
    pub fn search(&self, request: &SearchRequest, gate: &Gate) -> Vec<Hit> {
        if !self.made(gate) {
            return Vec::new();
        }
        let query = Query::new(self, request);
        let limit = request.limit.min(MAX_LIMIT);
        let look_at = limit.max(CLOSE_LOOK);
        let mut board = Board::new(self, gate, &query, look_at);
        let mut named = named(self, &request.query);
        named.retain(|(document, _)| board.call(*document));
        let near = self.nearness(request, |document| board.call(document));
        board.add_words();

        let chosen = board.choose();
        let chosen = chosen.iter().map(|it| self.candidate(&query, it));
        let mut candidates: Vec<Candidate> = chosen.collect();
        let best_by_words = candidates.iter().map(|it| it.parts.sum()).max();
        let meaning = fuse(best_by_words.unwrap_or_default(), &near);
        add(&mut candidates, &meaning, |parts| &mut parts.meaning);
        add(&mut candidates, &named, |parts| &mut parts.name);

        self.keep_best(&mut candidates, look_at);
        // A fixed number, so that a longer answer begins with the shorter one.
        for it in candidates.iter_mut().take(CLOSE_LOOK) {
            if let Some((segment, at)) = self.locate(it.document) {
                it.parts.phrase = phrases(&query.pairs, segment.words_of(at));
            }
        }
        self.keep_best(&mut candidates, limit);
        let hits = candidates.iter().filter_map(|it| {
            Some(Hit {
                id: self.entry(it.document)?.id.clone(),
                score: Score(it.parts.sum()),
                why: self.why(&query, it.document, &it.parts),
            })
        });
        hits.collect()
    }

    fn candidate(&self, query: &Query, chosen: &Chosen) -> Candidate {
        let mut parts = Parts {
            words: chosen.words,
            clause: clause_share(chosen.best_clause),
            ..Parts::default()
        };
        parts.server = self.server_part(&query.server, chosen.document, parts.sum());
        Candidate {
            document: chosen.document,
            parts,
        }
    }

    /// How near each document that passes is in meaning, by document; empty without an
    /// embedder.
    fn nearness(
        &self,
        request: &SearchRequest,
        mut passes: impl FnMut(u32) -> bool,
    ) -> Vec<(u32, i32)> {
        let text = clip(&request.query, MAX_BYTES);
        let Some(asked) = self.embedder().and_then(|it| quantised(it, text)) else {
            return Vec::new();
        };
        let vectors = self
            .segments()
            .filter_map(|(segment, base)| Some((base..).zip(segment.vectors.as_ref()?.iter())));
        let of_passing = vectors.flatten().filter_map(|(document, vector)| {
            let vector = vector.filter(|_| passes(document))?;
            Some((document, nearness(vector, &asked)))
        });
        of_passing.collect()
    }

    /// What belonging to the server asked for adds.
    fn server_part(&self, hint: &ServerHint, document: u32, rest: u32) -> u32 {
        if hint.is_empty() {
            return 0;
        }
        let pack = self.locate(document).and_then(|(segment, at)| {
            let pack = segment.entries.get(at as usize)?.pack;
            segment.packs.get(pack as usize)
        });
        pack.map_or(0, |it| hint.share(it, rest))
    }

    /// Keeps so many, best first. Only what could be among them is compared by id.
    fn keep_best(&self, candidates: &mut Vec<Candidate>, count: usize) {
        let score = |it: &Candidate| it.parts.sum();
        candidates.retain(|it| score(it) > 0);
        if count < candidates.len() {
            let mut scores: Vec<u32> = candidates.iter().map(score).collect();
            let (_, last, _) = scores.select_nth_unstable_by_key(count, |it| Reverse(*it));
            let bound = *last;
            candidates.retain(|it| score(it) >= bound);
        }
        let id = |it: &Candidate| self.entry(it.document).map(|it| &it.id);
        candidates.sort_unstable_by(|a, b| score(b).cmp(&score(a)).then_with(|| id(a).cmp(&id(b))));
        candidates.truncate(count);
    }
}

/// Adds one part to the candidates listed; both are sorted by document.
fn add(candidates: &mut [Candidate], listed: &[(u32, u32)], part: fn(&mut Parts) -> &mut u32) {
    for (document, worth) in listed {
        let found = candidates.binary_search_by_key(document, |it| it.document);
        if let Some(it) = found.ok().and_then(|at| candidates.get_mut(at)) {
            *part(&mut it.parts) = *worth;
        }
    }
}
