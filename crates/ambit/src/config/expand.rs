//! `${VAR}` and `${secret:NAME}` in the strings of a trusted file; `$${` stands for `${`.
//!
//! Checked before, filled in last: no message about a file can quote a secret. What was filled
//! in that nobody should read again (secrets, and variables in `env` and `headers`) is
//! collected, so that it can be taken out of whatever is written later.

use std::ffi::OsString;

use serde_json::{Map, Value};

use super::jsonc::{Document, Spot, child, is_sensitive};
use super::problem::{MAX_PROBLEMS, Problem};
use crate::secrets::{SecretValue, is_name};

/// Where values come from.
pub(super) struct Lookups<'a> {
    pub(super) variable: &'a dyn Fn(&str) -> Option<OsString>,
    pub(super) secret: &'a dyn Fn(&str) -> Result<Option<SecretValue>, String>,
}

/// A value with everything filled in.
pub(super) struct Expanded {
    pub(super) value: Value,
    /// What was filled in and must not be shown.
    pub(super) sensitive: Vec<SecretValue>,
}

/// Fills in all strings of a document, or says what cannot be filled in.
pub(super) fn expand(document: &Document, lookups: &Lookups<'_>) -> Result<Expanded, Vec<Problem>> {
    let mut expansion = Expansion {
        document,
        lookups,
        sensitive: Vec::new(),
        problems: Vec::new(),
    };
    let value = expansion.value(&document.value, "");
    if expansion.problems.is_empty() {
        Ok(Expanded {
            value,
            sensitive: expansion.sensitive,
        })
    } else {
        Err(expansion.problems)
    }
}

struct Expansion<'a> {
    document: &'a Document,
    lookups: &'a Lookups<'a>,
    sensitive: Vec<SecretValue>,
    problems: Vec<Problem>,
}

impl Expansion<'_> {
    fn value(&mut self, value: &Value, pointer: &str) -> Value {
        match value {
            Value::String(text) => Value::String(self.string(text, pointer)),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(n, item)| self.value(item, &child(pointer, &n.to_string())))
                .collect(),
            // Switched off, often for want of the very variable it names.
            Value::Object(map) if is_disabled_server(pointer, map) => value.clone(),
            Value::Object(map) => map
                .iter()
                .map(|(key, item)| (key.clone(), self.value(item, &child(pointer, key))))
                .collect(),
            other => other.clone(),
        }
    }

    fn string(&mut self, text: &str, pointer: &str) -> String {
        let mut out = String::new();
        for piece in pieces(text) {
            match self.fill(piece, pointer) {
                Ok(filled) => out.push_str(&filled),
                Err(_) if self.problems.len() >= MAX_PROBLEMS => {}
                Err(problem) => {
                    let place = self.document.place(pointer, Spot::Value);
                    self.problems.push(problem.at(place));
                }
            }
        }
        out
    }

    fn fill(&mut self, piece: Piece<'_>, pointer: &str) -> Result<String, Problem> {
        match piece {
            Piece::Text(text) => Ok(text.to_owned()),
            Piece::Variable(name) => {
                let value = (self.lookups.variable)(name).ok_or_else(|| {
                    Problem::error(
                        "variable_unset",
                        format!("the variable `{name}` is not set"),
                    )
                    .hint(format!("set `{name}`, or write `$${{` for a plain `${{`"))
                })?;
                let value = value.into_string().map_err(|_| {
                    let message = format!("the variable `{name}` is not UTF-8");
                    Problem::error("variable_invalid", message)
                })?;
                if is_sensitive(pointer) {
                    self.sensitive.push(SecretValue::new(value.clone()));
                }
                Ok(value)
            }
            Piece::Secret(name) => match (self.lookups.secret)(name) {
                Ok(Some(value)) => {
                    let text = value.expose().to_owned();
                    self.sensitive.push(value);
                    Ok(text)
                }
                Ok(None) => Err(Problem::error(
                    "secret_missing",
                    format!("there is no secret `{name}`"),
                )
                .hint(format!("store it with `ambit secrets set {name}`"))),
                Err(error) => Err(Problem::error(
                    "secret_unreadable",
                    format!("the secret `{name}` cannot be read: {error}"),
                )),
            },
            Piece::Malformed => Err(Problem::error(
                "placeholder_malformed",
                "`${` begins a placeholder, and this is not one",
            )
            .hint("write `${VAR}`, `${secret:NAME}`, or `$${` for a plain `${`")),
        }
    }
}

fn is_disabled_server(pointer: &str, server: &Map<String, Value>) -> bool {
    let steps: Vec<&str> = pointer.split('/').skip(1).collect();
    matches!(steps.as_slice(), ["mcpServers", _])
        && server.get("disabled") == Some(&Value::Bool(true))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Variable(&'a str),
    Secret(&'a str),
    Malformed,
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(before) = before.strip_suffix('$') {
            pieces.extend([Piece::Text(before), Piece::Text("${")]);
            rest = after;
            continue;
        }
        pieces.push(Piece::Text(before));
        let Some((name, after)) = after.split_once('}') else {
            pieces.push(Piece::Malformed);
            return pieces;
        };
        pieces.push(match name.strip_prefix("secret:") {
            Some(secret) if is_name(secret) => Piece::Secret(secret),
            None if is_variable(name) => Piece::Variable(name),
            _ => Piece::Malformed,
        });
        rest = after;
    }
    pieces.push(Piece::Text(rest));
    pieces
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::super::problem::Source;
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn run(value: Value) -> Result<(Value, Vec<String>), Vec<String>> {
        let document = Document::parse(Source::new("f", value.to_string())).unwrap();
        let lookups = Lookups {
            variable: &|name| (name == "HOST").then(|| "h.example".into()),
            secret: &|name| match name {
                "gh" => Ok(Some(SecretValue::new("s3cr3t".to_owned()))),
                "locked" => Err("no key".to_owned()),
                _ => Ok(None),
            },
        };
        match expand(&document, &lookups) {
            Ok(it) => {
                let sensitive = it.sensitive.iter().map(|it| it.expose().to_owned());
                Ok((it.value, sensitive.collect()))
            }
            Err(problems) => Err(problems
                .iter()
                .map(|it| format!("{} {it}", it.at.as_ref().unwrap()))
                .collect()),
        }
    }

    #[track_caller]
    fn text(from: &str, to: Result<&str, &str>) {
        let found = run(json!([from])).map(|(value, _)| value[0].as_str().unwrap().to_owned());
        let expected = to.map(str::to_owned);
        assert_eq!(found, expected.map_err(|it| vec![format!("f:1:2 {it}")]));
    }

    #[test]
    fn placeholders_are_filled_in() {
        text("https://${HOST}/x", Ok("https://h.example/x"));
        text("${HOST}${HOST}", Ok("h.exampleh.example"));
        text("Bearer ${secret:gh}", Ok("Bearer s3cr3t"));
        text("$${HOST} $HOST $ {} $", Ok("${HOST} $HOST $ {} $"));
        text("${NOPE}", Err("the variable `NOPE` is not set"));
        text("${secret:nope}", Err("there is no secret `nope`"));
        text(
            "${secret:locked}",
            Err("the secret `locked` cannot be read: no key"),
        );
        for bad in [
            "${",
            "${}",
            "${1A}",
            "${A B}",
            "${env:HOST}",
            "${secret:}",
            "${HOST:-x}",
        ] {
            text(bad, Err("`${` begins a placeholder, and this is not one"));
        }
    }

    #[test]
    fn what_must_not_be_shown_is_collected() {
        let (value, sensitive) = run(json!({
            "mcpServers": {"a": {
                "args": ["${HOST}", "${secret:gh}"],
                "env": {"H": "x-${HOST}"},
                "headers": {"A": "plain"},
            }},
        }))
        .unwrap();
        assert_eq!(value["mcpServers"]["a"]["env"]["H"], "x-h.example");
        assert_eq!(sensitive, ["s3cr3t", "h.example"]);
    }

    #[test]
    fn a_server_that_is_switched_off_needs_nothing() {
        let server = |disabled: bool| json!({"mcpServers": {"a": {"env": {"T": "${NOPE}"}, "disabled": disabled}}});
        assert!(run(server(true)).is_ok() && run(server(false)).is_err());
    }

    #[test]
    fn keys_are_left_alone() {
        let (value, _) = run(json!({"${HOST}": 1})).unwrap();
        assert_eq!(value, json!({"${HOST}": 1}));
    }

    proptest! {
        #[test]
        fn what_has_no_placeholder_is_unchanged(text in "[^$]*") {
            prop_assert_eq!(pieces(&text), vec![Piece::Text(text.as_str())]);
        }

        #[test]
        fn an_escaped_text_comes_back(text in any::<String>()) {
            let escaped = text.replace("${", "$${");
            let (value, _) = run(json!([escaped])).unwrap();
            prop_assert_eq!(value[0].as_str().unwrap(), text);
        }
    }
}
