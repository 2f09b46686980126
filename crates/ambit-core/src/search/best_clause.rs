//! Which clause of a request fits a document best: the sums of its words, taken apart by clause.
//!
//! Only for documents that may be among the best, and so only in the segments these are in.

use super::board::{Chosen, contribution};
use super::index::SearchIndex;
use super::query::Query;

/// Fills in what the clause that fits best comes to; `chosen` is sorted by document.
pub(crate) fn add_best_clauses(index: &SearchIndex, query: &Query, chosen: &mut [Chosen]) {
    let clauses = query.clauses as usize;
    let mut sums = Vec::new();
    for group in chosen.chunk_by_mut(|a, b| a.segment == b.segment) {
        sums.clear();
        sums.resize(group.len() * clauses, 0);
        add_by_clause(index, query, group, &mut sums);
        for (it, sums) in group.iter_mut().zip(sums.chunks_exact(clauses)) {
            it.best_clause = sums.iter().copied().max().unwrap_or_default();
        }
    }
}

/// Adds the words of a request to documents of one segment, which have one sum per clause each.
fn add_by_clause(index: &SearchIndex, query: &Query, group: &[Chosen], sums: &mut [u32]) {
    let Some(first) = group.first() else {
        return;
    };
    for term in &query.terms {
        let Some(place) = index.place(&term.run, first.segment) else {
            continue;
        };
        let (base, postings) = index.postings_at(place);
        let mut wanted = group
            .iter()
            .zip(sums.chunks_exact_mut(query.clauses as usize))
            .peekable();
        for posting in postings {
            let document = base + posting.document;
            while wanted.next_if(|(it, _)| it.document < document).is_some() {}
            let Some((_, sums)) = wanted.next_if(|(it, _)| it.document == document) else {
                continue;
            };
            let points = contribution(term.weight, posting);
            for (clause, sum) in sums.iter_mut().enumerate() {
                if term.clauses & (1 << clause) != 0 {
                    *sum += points;
                }
            }
        }
    }
}
