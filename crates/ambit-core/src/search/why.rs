//! Why a document was found, taken apart after the fact: only hits pay for it.

use std::cmp::Reverse;

use super::board::contribution;
use super::hit::MatchReason;
use super::index::SearchIndex;
use super::query::Query;
use super::rank::Parts;

impl SearchIndex {
    /// The reasons behind a score, heaviest first.
    pub(crate) fn why(&self, query: &Query, document: u32, parts: &Parts) -> Vec<MatchReason> {
        let words = query.terms.iter().filter_map(|term| {
            let posting = self.posting(&term.run, document)?;
            let weight = contribution(term.weight, posting);
            let word = term.word.clone();
            Some(match term.taken_for.clone() {
                None => MatchReason::Word {
                    word,
                    fields: posting.fields,
                    weight,
                },
                Some(taken_for) => MatchReason::NearMiss {
                    word,
                    taken_for,
                    weight,
                },
            })
        });
        let rest = [
            MatchReason::ExactName { weight: parts.name },
            MatchReason::Phrase {
                weight: parts.phrase,
            },
            MatchReason::Clause {
                weight: parts.clause,
            },
            MatchReason::Server {
                weight: parts.server,
            },
            MatchReason::Meaning {
                weight: parts.meaning,
            },
        ];
        let rest = rest.into_iter().filter(|it| it.weight() > 0);
        let mut why: Vec<MatchReason> = words.chain(rest).collect();
        why.sort_by_key(|it| Reverse(it.weight()));
        why
    }
}
