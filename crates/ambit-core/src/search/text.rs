//! How text becomes terms: identifiers split, case folded, stop words out, English stems.
//!
//! Names and requests go through the same analysis, so `searchIssues`, `search_issues` and
//! "searching for an issue" meet in the same terms. A word that splits inside (`GitHub`,
//! `base64`) also yields its joined form, because people write it as one word.
//!
//! A term is the 64-bit hash of its stem: equal everywhere without a shared dictionary, which
//! is what lets each source be indexed alone. Everything is bounded: the text comes from
//! servers nobody trusts.

use std::borrow::Cow;
use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

use super::words::{IRREGULAR, is_stop_word};

/// Most terms taken from one field or one query; the rest of the text is ignored.
pub(crate) const MAX_TOKENS: usize = 4096;
/// Most bytes of one text that are read at all.
pub(crate) const MAX_BYTES: usize = 64 * 1024;
/// Longer runs of letters are data (a key, a hash), not words.
const MAX_WORD: usize = 40;
/// The stem cache of one analyzer is dropped when it grows to this.
const MAX_CACHE: usize = 50_000;

/// A stem, by hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Term(u64);

impl Term {
    /// The term of an already analysed stem.
    pub(crate) fn of_stem(stem: &str) -> Term {
        Term(fnv(0, stem))
    }

    /// Enough of the term to recognise it in a sequence of words.
    pub(crate) fn short(self) -> u32 {
        (self.0 >> 32) as u32 ^ self.0 as u32
    }

    /// A term no word can have: a whole name, for exact matches.
    pub(crate) fn of_name(name: &str) -> Term {
        Term(fnv(0x9e37_79b9_7f4a_7c15, name))
    }
}

/// FNV-1a: stable across builds and machines, unlike the standard hasher.
fn fnv(seed: u64, text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325 ^ seed, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// Whether a word is a part of the text or the joined form of parts already given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A word as it stands, or one part of an identifier.
    Part,
    /// The parts of one identifier written together; adds no length.
    Joined,
}

/// Splits and stems. Keeps the stems it has seen, since corpora repeat their words.
pub(crate) struct Analyzer {
    stemmer: Stemmer,
    stems: HashMap<Box<str>, Term>,
}

impl Default for Analyzer {
    fn default() -> Self {
        Analyzer {
            stemmer: Stemmer::create(Algorithm::English),
            stems: HashMap::new(),
        }
    }
}

impl Analyzer {
    /// Calls `each` with every term of the text, in order, with the lower-case word it is
    /// from. Stop words are left out.
    pub(crate) fn terms(&mut self, text: &str, mut each: impl FnMut(Term, &str, Shape)) {
        words(text, |word, shape| {
            if !is_stop_word(word) {
                each(self.term(word), word, shape);
            }
        });
    }

    /// The term of one lower-case word.
    pub(crate) fn term(&mut self, word: &str) -> Term {
        if let Some(&term) = self.stems.get(word) {
            return term;
        }
        // The stemmer knows English; other words stand as they are.
        let stem = if word.is_ascii() {
            self.stemmer.stem(word)
        } else {
            Cow::Borrowed(word)
        };
        let stem = IRREGULAR
            .binary_search_by(|(from, _)| (*from).cmp(stem.as_ref()))
            .ok()
            .and_then(|at| IRREGULAR.get(at))
            .map_or(stem.as_ref(), |(_, to)| to);
        let term = Term::of_stem(stem);
        if self.stems.len() >= MAX_CACHE {
            self.stems.clear();
        }
        self.stems.insert(word.into(), term);
        term
    }
}

/// Calls `each` with every lower-case word of the text.
pub(crate) fn words(text: &str, mut each: impl FnMut(&str, Shape)) {
    let mut chunk = Chunk::default();
    let mut left = MAX_TOKENS;
    for c in clip(text, MAX_BYTES).chars() {
        if left == 0 {
            return;
        }
        if is_mark(c) {
            continue;
        }
        if is_ideograph(c) {
            left = left.saturating_sub(chunk.flush(&mut each));
            chunk.ideograph(c, &mut each);
            left = left.saturating_sub(1);
        } else if c.is_alphanumeric() {
            chunk.push(c);
        } else {
            left = left.saturating_sub(chunk.flush(&mut each));
            chunk.last_ideograph = None;
        }
    }
    chunk.flush(&mut each);
}

/// The longest prefix of at most `max` bytes that is whole characters.
pub(crate) fn clip(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}

/// Accents written as separate characters; they belong to the letter before.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}')
}

/// Scripts written without spaces.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
}

/// A run of letters and digits between separators, cut where case or class changes.
#[derive(Default)]
struct Chunk {
    /// Lower-case text of the run.
    text: String,
    /// Where parts begin, except the first.
    cuts: Vec<usize>,
    last: Option<Class>,
    /// Where the last character begins in `text`.
    last_at: usize,
    /// The last cut came before a capital and an `s`, which may turn out to be a plural.
    plural_at: Option<usize>,
    too_long: bool,
    last_ideograph: Option<char>,
}

impl Chunk {
    fn push(&mut self, c: char) {
        self.last_ideograph = None;
        if self.text.len() >= 4 * MAX_WORD {
            self.too_long = true;
            return;
        }
        let class = if c.is_numeric() {
            Class::Digit
        } else if c.is_uppercase() {
            Class::Upper
        } else {
            Class::Lower
        };
        let at = self.text.len();
        match (self.last, class) {
            (Some(Class::Lower), Class::Upper) => self.cuts.push(at),
            // `HTTPServer`: the last capital starts the next word.
            (Some(Class::Upper), Class::Lower)
                if self.last_at > 0 && self.cuts.last() != Some(&self.last_at) =>
            {
                self.cuts.push(self.last_at);
                self.plural_at = (c == 's').then_some(at);
            }
            (Some(Class::Digit), Class::Lower | Class::Upper)
            | (Some(Class::Lower | Class::Upper), Class::Digit) => self.cuts.push(at),
            _ => {}
        }
        self.text.extend(c.to_lowercase());
        self.last = Some(class);
        self.last_at = at;
    }

    /// Pairs of neighbours stand for words where nothing marks their ends.
    fn ideograph(&mut self, c: char, each: &mut impl FnMut(&str, Shape)) {
        let mut pair = String::new();
        if let Some(before) = self.last_ideograph {
            pair.push(before);
            pair.push(c);
            each(&pair, Shape::Part);
        } else {
            pair.push(c);
            each(&pair, Shape::Joined);
        }
        self.last_ideograph = Some(c);
    }

    /// Gives the words of the run and returns how many there were.
    fn flush(&mut self, each: &mut impl FnMut(&str, Shape)) -> usize {
        let mut count = 0;
        // `PDFs` is `PDF` and an ending, not `PD` and `Fs`.
        if self.plural_at.is_some_and(|at| at + 1 == self.text.len()) {
            self.cuts.pop();
        }
        if !self.text.is_empty() && !self.too_long {
            let mut from = 0;
            for to in self.cuts.iter().copied().chain([self.text.len()]) {
                let part = self.text.get(from..to).unwrap_or_default();
                from = to;
                // A lone letter cut out of `v2` or `3d` says nothing.
                let lone = !self.cuts.is_empty() && part.len() == 1;
                if !lone && part.len() <= MAX_WORD {
                    count += 1;
                    each(part, Shape::Part);
                }
            }
            if !self.cuts.is_empty() && self.text.len() <= MAX_WORD {
                count += 1;
                each(&self.text, Shape::Joined);
            }
        }
        self.text.clear();
        self.cuts.clear();
        self.last = None;
        self.last_at = 0;
        self.plural_at = None;
        self.too_long = false;
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut found = Vec::new();
        words(text, |word, _| found.push(word.to_owned()));
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn identifiers_are_split() {
        check("search_issues", "search issues");
        check("search-issues.v2/list", "search issues v2 list");
        check("searchIssues", "search issues searchissues");
        check("HTTPServer", "http server httpserver");
        check("GitHub", "git hub github");
        check("base64", "base 64 base64");
        check("PDFs", "pdfs");
        check("getURLs", "get urls geturls");
        check("company's", "company s");
        check("a\u{202e}b\u{0}c\u{200b}d", "a b c d");
        check(
            "Stra\u{df}e caf\u{e9} cafe\u{301}",
            "stra\u{df}e caf\u{e9} cafe",
        );
        check(
            "\u{5929}\u{6c17}\u{4e88}\u{5831}",
            "\u{5929} \u{5929}\u{6c17} \u{6c17}\u{4e88} \u{4e88}\u{5831}",
        );
        check("", "");
    }

    #[test]
    fn forms_of_a_word_are_one_term() {
        let mut analyzer = Analyzer::default();
        for (a, b) in [
            ("issues", "issue"),
            ("searching", "search"),
            ("calculator", "calculate"),
            ("analysis", "analyze"),
            ("conversion", "convert"),
            ("children", "child"),
        ] {
            assert_eq!(analyzer.term(a), analyzer.term(b), "{a} {b}");
        }
        assert_ne!(analyzer.term("read"), analyzer.term("write"));
    }

    #[test]
    fn no_text_is_read_without_end() {
        let mut count = 0;
        words(&"ab ".repeat(400_000), |_, _| count += 1);
        assert_eq!(count, MAX_TOKENS);
        words(&"x".repeat(1_000_000), |word, _| panic!("{word}"));
    }

    proptest! {
        #[test]
        fn any_text_can_be_split(text in any::<String>()) {
            words(&text, |word, _| assert!(!word.is_empty()));
        }
    }
}
