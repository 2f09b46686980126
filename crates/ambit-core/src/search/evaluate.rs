//! How good search is, measured on labelled requests.
//!
//! A request has needs, and each need is met by any of its ids. Recall counts needs met within
//! the first k; NDCG gives one gain per need, at the rank where it is first met.

use serde::Serialize;

use super::hit::Hit;
use super::labelled::LabelledQuery;
use super::query::SearchRequest;
use crate::id::CapabilityId;

/// The depths at which recall is measured.
pub const DEPTHS: [usize; 4] = [1, 3, 5, 10];
/// How deep a ranking is read for the rank of what was missed.
const READ_TO: usize = 100;
/// How many of what came first a miss tells.
const ABOVE: usize = 3;

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// How many requests.
    pub queries: usize,
    /// Needs met within the first 1, 3, 5 and 10, averaged over requests.
    pub recall: [f64; DEPTHS.len()],
    /// Discounted gain of the first ten against the best possible.
    pub ndcg: f64,
    /// One over the rank of the first need met, averaged.
    pub mrr: f64,
    /// Needs not met within the first ten.
    pub misses: Vec<Miss>,
}

/// A need not met within the first ten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Miss {
    /// The request.
    pub query: String,
    /// What would have met the need.
    pub wanted: Vec<CapabilityId>,
    /// Where the first of them came, if any did.
    pub found: Option<Found>,
    /// What came first instead, with why.
    pub above: Vec<Hit>,
}

/// Something wanted that came too late.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Its place, from one.
    pub rank: usize,
    /// With why it came at all.
    pub hit: Hit,
}

/// Measures search on labelled requests. The caller searches, and may time what it does; it is
/// asked for a longer answer than is measured, to tell how far off a miss was.
pub fn evaluate(
    queries: &[LabelledQuery],
    mut search: impl FnMut(&SearchRequest) -> Vec<Hit>,
) -> Evaluation {
    let mut sum = Evaluation::default();
    for labelled in queries {
        let hits = search(&SearchRequest {
            limit: READ_TO,
            ..SearchRequest::new(labelled.query.as_str())
        });
        sum.add(labelled, &hits);
    }
    sum.averaged(queries.len())
}

impl Evaluation {
    fn add(&mut self, labelled: &LabelledQuery, hits: &[Hit]) {
        let ranks: Vec<Option<usize>> = labelled
            .relevant
            .iter()
            .map(|need| hits.iter().position(|hit| need.contains(&hit.id)))
            .collect();
        let needs = ranks.len() as f64;
        for (recall, depth) in self.recall.iter_mut().zip(DEPTHS) {
            let met = ranks.iter().flatten().filter(|rank| **rank < depth);
            *recall += met.count() as f64 / needs;
        }
        let discount = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
        let met = ranks.iter().flatten().copied();
        let gain: f64 = met.clone().filter(|it| *it < 10).map(discount).sum();
        let ideal: f64 = (0..ranks.len().min(10)).map(discount).sum();
        self.ndcg += (gain / ideal).min(1.0);
        self.mrr += met.min().map_or(0.0, |it| 1.0 / (it as f64 + 1.0));
        for (need, rank) in labelled.relevant.iter().zip(ranks) {
            if rank.is_none_or(|it| it >= 10) {
                self.misses.push(Miss {
                    query: labelled.query.clone(),
                    wanted: need.clone(),
                    found: rank.and_then(|at| {
                        let hit = hits.get(at)?.clone();
                        Some(Found { rank: at + 1, hit })
                    }),
                    above: hits.iter().take(ABOVE).cloned().collect(),
                });
            }
        }
    }

    fn averaged(mut self, queries: usize) -> Evaluation {
        let count = queries.max(1) as f64;
        self.queries = queries;
        self.recall = self.recall.map(|it| it / count);
        self.ndcg /= count;
        self.mrr /= count;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::SearchIndex;
    use crate::search::labelled::LabelledSet;

    const TOOLS: &str = r#"
{"id": "a", "server": "Mail Box", "name": "send mail", "description": "Send mail"}
{"id": "b", "server": "Mail Box", "name": "send mail", "description": "Send mail later"}
{"id": "c", "name": "weather", "description": null, "input_schema": {"properties": {"city": {}}}}
"#;

    #[test]
    fn measures_are_as_defined() {
        let queries = r#"
{"query": "weather", "relevant": [["c"]]}
{"query": "mail in any weather", "relevant": [["a", "b"], ["c"]]}
{"query": "nothing at all", "relevant": [["c"]]}"#;
        let set = LabelledSet::parse(TOOLS, queries).unwrap();
        let index = SearchIndex::default().with_source("labelled", set.documents);
        let gate = index.gate(|_| true);
        let measured = evaluate(&set.queries, |request| index.search(request, &gate));
        assert_eq!(measured.queries, 3);
        // First request: met at once. Second: one need of two at the first place, both by
        // the third. Third: not at all.
        assert_eq!(measured.recall[0], (1.0 + 0.5) / 3.0);
        assert_eq!(measured.recall[1], 2.0 / 3.0);
        assert_eq!(measured.mrr, 2.0 / 3.0);
        assert!(measured.ndcg > 0.6 && measured.ndcg <= 2.0 / 3.0);
        assert_eq!(measured.misses.len(), 1);
        assert_eq!(measured.misses[0].found, None);
    }
}
