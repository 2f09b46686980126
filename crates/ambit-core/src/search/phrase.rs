//! Words that stand side by side both in the request and in a document.
//!
//! "Stock price" is one thing; a tool with `stock` here and `price` there is about something
//! else. Looked for only in the documents that are already near the top.

use super::query::Pair;

/// What a phrase is worth, in percent of what its words are.
const PERCENT: u32 = 30;

/// What the pairs found in a sequence of words are worth, each counted once.
pub(crate) fn phrases(pairs: &[Pair], words: &[u32]) -> u32 {
    // Most neighbours are no pair, and a look at two bits tells.
    let firsts = pairs.iter().fold(0_u64, |set, it| set | bit(it.words.0));
    let seconds = pairs.iter().fold(0_u64, |set, it| set | bit(it.words.1));
    let mut found: Vec<usize> = words
        .array_windows()
        .filter(|[first, second]| firsts & bit(*first) != 0 && seconds & bit(*second) != 0)
        .filter_map(|[first, second]| {
            pairs
                .binary_search_by_key(&(*first, *second), |it| it.words)
                .ok()
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    let worth = found.iter().filter_map(|it| pairs.get(*it));
    worth.map(|it| it.weight).sum::<u32>() * PERCENT / 100
}

fn bit(word: u32) -> u64 {
    1 << (word % 64)
}
