//! What a misspelt word was meant to be.
//!
//! Only words that nothing has are taken for others, and only for words of names: a model
//! that half remembers a tool misspells its name, not its description.

use std::sync::Arc;

use super::index::{NameWord, SearchIndex};

/// How many edits a word of so many letters may be away; short words are too alike.
fn allowed(letters: usize) -> u32 {
    match letters {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    }
}

impl SearchIndex {
    /// The word of names nearest to a lower-case word that nothing has. Misspellings keep the
    /// first letter or swap it with the second, so no other words are looked at.
    pub(crate) fn nearest_name_word(&self, word: &str) -> Option<Arc<str>> {
        let allowed = allowed(word.chars().count());
        if allowed == 0 {
            return None;
        }
        let letters = letters(word);
        let firsts = word.chars().take(2);
        firsts
            .flat_map(|first| self.name_words_from(first))
            .filter(|it| could_be(it, word, letters, allowed))
            .map(|it| (strsim::osa_distance(&it.text, word), &it.text))
            .filter(|(distance, _)| *distance <= allowed as usize)
            .min()
            .map(|(_, it)| it.clone())
    }
}

/// A cheap bound: each edit changes the length by one character at most and the letters used by
/// two.
fn could_be(it: &NameWord, word: &str, letters: u32, allowed: u32) -> bool {
    let further = it.text.len().abs_diff(word.len()) as u32;
    (it.letters ^ letters).count_ones() <= 2 * allowed
        && (further <= allowed
            || further <= 4 * allowed && !(it.text.is_ascii() && word.is_ascii()))
}

/// Which letters a word uses, one bit each.
pub(crate) fn letters(word: &str) -> u32 {
    word.chars().fold(0, |set, c| set | 1 << (c as u32 % 32))
}
