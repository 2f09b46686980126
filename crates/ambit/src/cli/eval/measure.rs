//! Building the index and asking every request, with the time each takes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_core::search::evaluate::{Evaluation, evaluate};
use ambit_core::search::labelled::LabelledSet;
use ambit_core::search::{SearchDocument, SearchIndex, SearchRequest, StaticModel};

use super::progress::Progress;

/// What was measured, and how long it took.
pub(super) struct Measured {
    pub(super) evaluation: Evaluation,
    /// To build the index.
    pub(super) index: Duration,
    /// Per search, sorted.
    searches: Vec<Duration>,
}

impl Measured {
    /// What so many percent of the searches did not exceed.
    pub(super) fn percentile(&self, percent: usize) -> Duration {
        let at = self.searches.len() * percent / 100;
        let last = self.searches.last();
        self.searches.get(at).or(last).copied().unwrap_or_default()
    }
}

pub(super) fn measure(set: &LabelledSet, model: Option<StaticModel>) -> Measured {
    let mut progress = Progress::new(set.queries.len());
    let documents = set.documents.clone();
    let started = Instant::now();
    let index = match model {
        None => SearchIndex::default(),
        Some(model) => {
            let texts = documents.iter().map(SearchDocument::own_words);
            SearchIndex::with_embedder(Arc::new(model.weighted_by(texts)))
        }
    };
    let index = index.with_source("labelled", documents);
    let built = started.elapsed();

    let gate = index.gate(|_| true);
    let mut searches = Vec::with_capacity(set.queries.len());
    let evaluation = evaluate(&set.queries, |request| {
        // The time of an answer as it is usually asked for, not of the long one measured.
        let usual = SearchRequest::new(request.query.as_str());
        let started = Instant::now();
        let _ = std::hint::black_box(index.search(&usual, &gate));
        searches.push(started.elapsed());
        progress.step();
        index.search(request, &gate)
    });
    searches.sort_unstable();
    Measured {
        evaluation,
        index: built,
        searches,
    }
}
