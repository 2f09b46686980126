//! Names in a request: the whole of it, or single words that can only be names.

use super::index::SearchIndex;
use super::segment::wire_name;
use super::text::{Term, clip};
use crate::id::CapabilityId;

/// Above anything words can add up to.
const WHOLE: u32 = 1 << 30;
/// For a name among other words; below a request that is a name.
const AMONG: u32 = 1 << 29;
/// Longer texts are not names.
const MAX_NAME: usize = 256;
/// Most words of one request tried as names.
const MAX_NAMES: usize = 16;

/// The documents a request calls by name, with what that is worth: by id, by name with
/// owner, or by bare name. Sorted by document.
pub(crate) fn named(index: &SearchIndex, request: &str) -> Vec<(u32, u32)> {
    let whole = request.trim();
    let mut found = Vec::new();
    if whole.len() <= MAX_NAME {
        find(index, whole, WHOLE, &mut found);
    }
    let words = clip(request, 16 * MAX_NAME)
        .split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | ',' | '(' | ')'))
        .map(|it| it.trim_matches(['.', ':', ';', '?', '!']))
        .filter(|it| it.contains(['_', '.']) && it.len() <= MAX_NAME);
    for word in words.take(MAX_NAMES) {
        find(index, word, AMONG, &mut found);
    }
    found.sort_unstable_by_key(|(document, worth)| (*document, std::cmp::Reverse(*worth)));
    found.dedup_by_key(|(document, _)| *document);
    found
}

fn find(index: &SearchIndex, text: &str, worth: u32, into: &mut Vec<(u32, u32)>) {
    let id = text.parse::<CapabilityId>().ok();
    let name = match &id {
        Some(id) => wire_name(id),
        None => text.to_lowercase(),
    };
    let run = index.run(Term::of_name(&name));
    for place in index.places(&run) {
        let (base, postings) = index.postings_at(place);
        for document in postings.iter().map(|it| base + it.document) {
            let is_meant = match &id {
                Some(id) => index.entry(document).is_some_and(|it| it.id == *id),
                None => true,
            };
            if is_meant {
                into.push((document, worth));
            }
        }
    }
}
