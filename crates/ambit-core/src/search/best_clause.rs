//! Which clause of a request fits a document best: the sums of its words, taken apart by clause.
//!
//! Only for documents that may be among the best, and so only in the segments these are in.

use std::ops::Range;

use super::board::{Chosen, contribution};
use super::index::SearchIndex;
use super::query::Query;

/// Fills in what the clause that fits best comes to; `chosen` is sorted by document.
pub(crate) fn add_best_clauses(index: &SearchIndex, query: &Query, chosen: &mut [Chosen]) {
    let clauses = query.clauses as usize;
    let groups = by_segment(index, chosen);
    let mut sums = vec![0; chosen.len() * clauses];
    for term in &query.terms {
        for place in index.places(&term.run) {
            let group = groups.get(place.segment as usize).cloned();
            let Some(group) = group.filter(|it| !it.is_empty()) else {
                continue;
            };
            let of_group = sums.get_mut(group.start * clauses..group.end * clauses);
            let of_group = of_group.unwrap_or_default().chunks_exact_mut(clauses);
            let group = chosen.get(group).unwrap_or_default();
            let mut wanted = group.iter().zip(of_group).peekable();
            let (base, postings) = index.postings_at(place);
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
    for (it, sums) in chosen.iter_mut().zip(sums.chunks_exact(clauses)) {
        it.best_clause = sums.iter().copied().max().unwrap_or_default();
    }
}

/// Where each segment's documents are among the chosen.
fn by_segment(index: &SearchIndex, chosen: &[Chosen]) -> Vec<Range<usize>> {
    let mut groups = vec![0..0; index.segment_count()];
    for (at, it) in chosen.iter().enumerate() {
        let segment = index.segment_of(it.document);
        if let Some(group) = segment.and_then(|(it, _)| groups.get_mut(it as usize)) {
            if group.is_empty() {
                group.start = at;
            }
            group.end = at + 1;
        }
    }
    groups
}
