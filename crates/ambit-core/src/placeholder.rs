//! What a model is given in the place of a secret: a word that means nothing to it, and that is
//! exchanged for the value only in fields a capability declares, when its call runs.

use serde::{Deserialize, Serialize};

/// How every placeholder begins.
const PREFIX: &str = "ambit_secret_";
/// How many characters of `a-z0-9` follow.
const LENGTH: usize = 32;

/// The placeholder of a word. The word must be one nobody guesses.
pub fn placeholder(word: &str) -> String {
    format!("{PREFIX}{word}")
}

/// How long the word of a placeholder is.
pub const WORD: usize = LENGTH;

/// What a placeholder looks like, as a pattern of JSON Schema.
pub const PATTERN: &str = "^ambit_secret_[a-z0-9]{32}$";

/// Where placeholders are in a text, in order, each with the text before it; and what comes after
/// the last.
pub fn split(text: &str) -> (Vec<(&str, &str)>, &str) {
    let mut found = Vec::new();
    let (mut rest, mut searched) = (text, 0);
    while let Some(at) = rest.get(searched..).and_then(|it| it.find(PREFIX)) {
        let begin = searched + at;
        let word = begin + PREFIX.len();
        let end = word + LENGTH;
        let is_word = |it: &str| {
            it.bytes()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        };
        match (rest.get(word..end), rest.get(..begin), rest.get(begin..end)) {
            (Some(letters), Some(before), Some(whole)) if is_word(letters) => {
                found.push((before, whole));
                rest = rest.get(end..).unwrap_or_default();
                searched = 0;
            }
            _ => searched = word,
        }
    }
    (found, rest)
}

/// What the entries of a field are, so that a secret is given on only as that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecretField {
    /// Variables of a child's environment, by name.
    Environment,
    /// Headers of a request, by name.
    Headers,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_wherever_they_are() {
        let (a, b) = (
            placeholder(&"a".repeat(WORD)),
            placeholder(&"7".repeat(WORD)),
        );
        for (text, expected, rest) in [
            (String::new(), vec![], String::new()),
            ("Bearer x".to_owned(), vec![], "Bearer x".to_owned()),
            (a.clone(), vec![("", a.as_str())], String::new()),
            (
                format!("Bearer {a}"),
                vec![("Bearer ", a.as_str())],
                String::new(),
            ),
            (
                format!("{a}{b}!"),
                vec![("", a.as_str()), ("", b.as_str())],
                "!".to_owned(),
            ),
            (
                format!("ambit_secret_short {b}"),
                vec![("ambit_secret_short ", b.as_str())],
                String::new(),
            ),
            ("ambit_secret_".repeat(3), vec![], "ambit_secret_".repeat(3)),
            (
                format!("ambit_secret_{}", "Ä".repeat(40)),
                vec![],
                format!("ambit_secret_{}", "Ä".repeat(40)),
            ),
        ] {
            assert_eq!(split(&text), (expected, rest.as_str()), "{text}");
        }
    }
}
