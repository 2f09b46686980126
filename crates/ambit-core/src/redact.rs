//! Takes secrets out of text and JSON before anything is shown or written.
//!
//! Two strengths. *Known* values (from the secret store and from expanded config) never leave
//! in any direction. *Recognised* ones (key formats, fields named like a password) are kept out
//! of what is written down, but not out of what a caller asked to read: an edit needs the exact
//! text of the file.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;
use serde_json::{Map, Value};

/// Values shorter than this are words, not secrets; replacing them would shred every text.
const SHORTEST: usize = 6;
const MARK: &str = "[redacted]";

/// How many learned values are remembered. A token is good for an hour or so.
const LEARNED: usize = 256;

/// Knows what must not be shown. Clones know the same, also what one of them learns later.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Arc<RwLock<Known>>,
}

#[derive(Default)]
struct Known {
    given: Vec<String>,
    learned: VecDeque<String>,
    automaton: Option<AhoCorasick>,
}

impl Known {
    fn build(&mut self) {
        let secrets: Vec<&String> = self.given.iter().chain(&self.learned).collect();
        let mut builder = AhoCorasick::builder();
        let builder = builder.match_kind(MatchKind::LeftmostLongest);
        self.automaton = match secrets.is_empty() {
            true => None,
            false => builder.build(secrets).ok(),
        };
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor(…)")
    }
}

/// Formats of well-known keys, and what follows an `Authorization` scheme.
const FORMATS: &str = concat!(
    r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}",
    r"|\bsk-[A-Za-z0-9_-]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[A-Za-z0-9_-]{30,}",
    r"|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}",
    r"|(?i:\bbearer )[A-Za-z0-9._~+/=-]{12,}",
    r"|AGE-SECRET-KEY-1[0-9A-Z]{50,}",
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s]*(?:-----END [A-Z ]*PRIVATE KEY-----)?",
);

/// Compiled when something is first written down: that costs more than listing a catalog.
static RECOGNISED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(FORMATS).ok());

/// Names of fields whose text is a secret whatever it looks like.
const FIELDS: [&str; 10] = [
    "password",
    "passwd",
    "secret",
    "token",
    "apikey",
    "authorization",
    "privatekey",
    "accesskey",
    "clientsecret",
    "cookie",
];

impl Redactor {
    /// Knows these values.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let secrets = secrets.into_iter().filter(|it| it.len() >= SHORTEST);
        let mut known = Known {
            given: secrets.map(str::to_owned).collect(),
            ..Known::default()
        };
        known.build();
        Redactor {
            known: Arc::new(RwLock::new(known)),
        }
    }

    /// Learns values that came up later, such as a renewed token.
    pub fn learn<'a>(&self, secrets: impl IntoIterator<Item = &'a str>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let before = known.learned.len();
        for secret in secrets.into_iter().filter(|it| it.len() >= SHORTEST) {
            if !known
                .given
                .iter()
                .chain(&known.learned)
                .any(|it| it == secret)
            {
                known.learned.push_back(secret.to_owned());
            }
        }
        if known.learned.len() > before {
            let forgotten = known.learned.len().saturating_sub(LEARNED);
            known.learned.drain(..forgotten);
            known.build();
        }
    }

    fn automaton(&self) -> Option<AhoCorasick> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.automaton.clone()
    }

    /// Text to show: known values out.
    pub fn shown<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.automaton() {
            Some(known) if known.is_match(text) => {
                let mut out = String::with_capacity(text.len());
                known.replace_all_with(text, &mut out, |_, _, out| {
                    out.push_str(MARK);
                    true
                });
                Cow::Owned(out)
            }
            _ => Cow::Borrowed(text),
        }
    }

    /// Text to write down: known and recognised values out.
    pub fn written<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let shown = self.shown(text);
        match &*RECOGNISED {
            Some(formats) if formats.is_match(&shown) => {
                Cow::Owned(formats.replace_all(&shown, MARK).into_owned())
            }
            _ => shown,
        }
    }

    /// JSON to show: known values out of every string and key.
    pub fn shown_json(&self, value: &Value) -> Value {
        if self.automaton().is_none() {
            return value.clone();
        }
        map_strings(value, &|_, text| self.shown(text).into_owned())
    }

    /// JSON to write down: known and recognised values out, and fields named like a secret.
    pub fn written_json(&self, value: &Value) -> Value {
        map_strings(value, &|field, text| {
            if field.is_some_and(is_secret_field) && !text.is_empty() {
                MARK.to_owned()
            } else {
                self.written(text).into_owned()
            }
        })
    }
}

fn is_secret_field(name: &str) -> bool {
    let folded: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    FIELDS.iter().any(|field| folded.ends_with(field))
}

fn map_strings(value: &Value, change: &impl Fn(Option<&str>, &str) -> String) -> Value {
    fn walk(
        field: Option<&str>,
        value: &Value,
        change: &impl Fn(Option<&str>, &str) -> String,
    ) -> Value {
        match value {
            Value::String(text) => Value::String(change(field, text)),
            Value::Array(items) => {
                Value::Array(items.iter().map(|it| walk(field, it, change)).collect())
            }
            Value::Object(map) => {
                let changed: Map<_, _> = map
                    .iter()
                    .map(|(key, it)| (change(None, key), walk(Some(key), it, change)))
                    .collect();
                Value::Object(changed)
            }
            other => other.clone(),
        }
    }
    walk(None, value, change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn known_values_leave_in_no_direction() {
        let it = Redactor::new(["hunter2-hunter2", "short", "hunter2-hunter2-longer"]);
        assert_eq!(
            it.shown("a hunter2-hunter2-longer b short"),
            "a [redacted] b short"
        );
        assert_eq!(
            it.shown_json(&json!({"k": ["hunter2-hunter2"]})),
            json!({"k": ["[redacted]"]})
        );
        assert_eq!(
            it.shown_json(&json!({"hunter2-hunter2": 1})),
            json!({"[redacted]": 1})
        );
    }

    #[test]
    fn what_is_learned_is_known_to_all() {
        let it = Redactor::new(["given-given"]);
        let clone = it.clone();
        it.learn(["learned-1", "short", "given-given"]);
        let text = "given-given learned-1 learned-2 short";
        assert_eq!(clone.shown(text), "[redacted] [redacted] learned-2 short");
        clone.learn(["learned-2"]);
        assert_eq!(it.shown(text), "[redacted] [redacted] [redacted] short");
        it.learn(
            (0..LEARNED)
                .map(|it| format!("token-{it}"))
                .collect::<Vec<_>>()
                .iter()
                .map(String::as_str),
        );
        assert_eq!(
            it.shown("given-given token-0 token-255"),
            "[redacted] [redacted] [redacted]"
        );
        assert!(!format!("{it:?}").contains("given"));
    }

    #[test]
    fn recognised_values_are_not_written_down() {
        let it = Redactor::new([]);
        for text in [
            "ghp_0123456789abcdefghij0123456789abcdef",
            &format!("sk-{}", "a1".repeat(16)),
            "Bearer abcdefghijklmnop",
            "AKIAIOSFODNN7EXAMPLE",
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
        ] {
            assert_eq!(it.written(text), MARK, "{text}");
            assert_eq!(it.shown(text), text);
        }
        let value = json!({"apiKey": "abc", "api_key": "x", "db-password": "p", "path": "src/lib.rs", "tokens": "12"});
        assert_eq!(
            it.written_json(&value),
            json!({"apiKey": MARK, "api_key": MARK, "db-password": MARK, "path": "src/lib.rs", "tokens": "12"})
        );
    }
}
