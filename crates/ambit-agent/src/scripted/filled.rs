//! Words a script cannot know: names that are given out while it is played. `${observed:r-}` in a
//! call's input is the newest word beginning with `r-` in what calls have brought.

use serde_json::{Map, Value};

use super::expect::Unmet;
use crate::message::Message;
use crate::piece::text_of;

const BEGINS: &str = "${observed:";

/// The input with all such words filled in.
pub(super) fn filled(
    input: &Map<String, Value>,
    messages: &[Message],
) -> Result<Map<String, Value>, Unmet> {
    let entries = input.iter().map(|(key, value)| {
        let value = fill(value, messages)?;
        Ok((key.clone(), value))
    });
    entries.collect()
}

fn fill(value: &Value, messages: &[Message]) -> Result<Value, Unmet> {
    Ok(match value {
        Value::String(text) => Value::String(fill_text(text, messages)?),
        Value::Array(items) => {
            let items = items.iter().map(|it| fill(it, messages));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(map) => Value::Object(filled(map, messages)?),
        plain => plain.clone(),
    })
}

fn fill_text(text: &str, messages: &[Message]) -> Result<String, Unmet> {
    let mut written = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGINS) {
        let Some((prefix, after)) = after.split_once('}') else {
            break;
        };
        written.push_str(before);
        written.push_str(&newest(prefix, messages)?);
        rest = after;
    }
    written.push_str(rest);
    Ok(written)
}

fn newest(prefix: &str, messages: &[Message]) -> Result<String, Unmet> {
    let results = messages.iter().rev().flat_map(|it| match it {
        Message::Results { results } => results.as_slice(),
        Message::User { .. } | Message::Assistant { .. } => &[],
    });
    let found = results.map(|it| text_of(&it.content));
    let mut found = found.filter_map(|text| last_word(prefix, &text).map(str::to_owned));
    found.next().ok_or_else(|| Unmet {
        expectation: format!("a word beginning with `{prefix}` in what calls brought"),
        instead: "there is none".to_owned(),
    })
}

/// The last word of a text that begins like this.
fn last_word<'a>(prefix: &str, text: &'a str) -> Option<&'a str> {
    let of_a_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let words = text.rsplit(|c: char| !of_a_word(c));
    let mut words = words.filter(|it| it.len() > prefix.len() && it.starts_with(prefix));
    words.next()
}

#[cfg(test)]
mod tests {
    use ambit_core::observation::Content;
    use serde_json::json;

    use super::*;
    use crate::message::ToolResult;

    fn brought(text: &str) -> Message {
        Message::Results {
            results: vec![ToolResult {
                call: "a".to_owned(),
                name: "x".to_owned(),
                content: vec![Content::text(text)],
                is_error: false,
                reveals: Vec::new(),
            }],
        }
    }

    #[track_caller]
    fn check(input: Value, expected: Value) {
        let messages = [
            brought("stored as `r-old`, task_7"),
            brought("first r-abc, then \"r-def\". for-r-nobody, r-"),
            Message::user("r-user"),
        ];
        let found = match filled(input.as_object().unwrap(), &messages) {
            Ok(map) => Value::Object(map),
            Err(unmet) => json!(unmet.to_string()),
        };
        assert_eq!(found, expected, "{input}");
    }

    #[test]
    fn words_are_filled_in_from_what_was_observed() {
        check(
            json!({"a": "${observed:r-}", "n": 1}),
            json!({"a": "r-def", "n": 1}),
        );
        check(
            json!({"a": [{"b": "see ${observed:r-} and ${observed:task_}!"}]}),
            json!({"a": [{"b": "see r-def and task_7!"}]}),
        );
        check(
            json!({"a": "${HOME} ${observed:"}),
            json!({"a": "${HOME} ${observed:"}),
        );
        check(
            json!({"a": "${observed:t-}"}),
            json!("expected a word beginning with `t-` in what calls brought, but there is none"),
        );
    }
}
