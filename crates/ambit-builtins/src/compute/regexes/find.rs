//! `regex_find`: where a pattern fits, and what its groups hold.

use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::budget::Budget;
use super::super::table::Builtin;
use super::{Go, pattern_schema, read, text_schema, visit};
use crate::declare::{arguments, object};

const MOST_MATCHES: usize = 1_000;
const DEFAULT_MATCHES: usize = 100;

pub(in super::super) const REGEX_FIND: Builtin = Builtin {
    name: "regex_find",
    title: "Find by pattern",
    description: "Find where a regular expression fits in a text you have at hand, with its groups. \
        To search files, use grep.",
    tags: &["text", "regex"],
    input,
    output: Some(output),
    run,
};

fn input() -> Value {
    object(
        &["text", "pattern"],
        json!({
            "text": text_schema(),
            "pattern": pattern_schema(),
            "limit": { "type": "integer", "minimum": 1, "maximum": MOST_MATCHES, "description": "How many matches are looked for. Default: 100." },
        }),
    )
}

fn output() -> Value {
    object(
        &["matches", "more"],
        json!({
            "matches": {
                "type": "array", "description": "Where it fits, in order.",
                "items": object(&["match", "start", "end"], json!({
                    "match": { "type": "string", "description": "What it fits." },
                    "start": { "type": "integer", "description": "The character it begins at, from 0." },
                    "end": { "type": "integer", "description": "The character after it." },
                    "groups": { "type": "array", "items": { "type": ["string", "null"] }, "description": "What the groups hold, from the first; null for one that took no part." },
                    "named": { "type": "object", "description": "What the groups with names hold." },
                })),
            },
            "more": { "type": "boolean", "description": "Whether it fits in more places than are shown." },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    text: String,
    pattern: String,
    limit: Option<usize>,
}

fn run(value: Value, budget: &mut Budget<'_>) -> Result<Output, Failure> {
    let Arguments {
        text,
        pattern,
        limit,
    } = arguments(value)?;
    let regex = read(&pattern)?;
    let limit = limit.unwrap_or(DEFAULT_MATCHES);
    let mut matches = Vec::new();
    let mut more = false;
    // Bytes and characters up to the last match, so that none is counted twice.
    let (mut bytes, mut chars) = (0, 0);
    visit(&regex, &text, budget, |captures, budget| {
        if matches.len() == limit {
            more = true;
            return Ok(Go::Stop);
        }
        let whole = captures.get_match();
        chars += text.get(bytes..whole.start()).unwrap_or("").chars().count();
        bytes = whole.start();
        let mut found = Map::new();
        found.insert("match".to_owned(), whole.as_str().into());
        found.insert("start".to_owned(), chars.into());
        let end = chars + whole.as_str().chars().count();
        found.insert("end".to_owned(), end.into());
        let mut kept = whole.len() + 32;
        let groups: Vec<Option<&str>> = captures
            .iter()
            .skip(1)
            .map(|it| it.map(|it| it.as_str()))
            .collect();
        kept += groups
            .iter()
            .flatten()
            .map(|it| it.len() + 16)
            .sum::<usize>()
            * 2;
        budget.bytes(kept)?;
        let named: Map<String, Value> = regex
            .capture_names()
            .flatten()
            .filter_map(|name| Some((name.to_owned(), captures.name(name)?.as_str().into())))
            .collect();
        if !groups.is_empty() {
            found.insert("groups".to_owned(), json!(groups));
        }
        if !named.is_empty() {
            found.insert("named".to_owned(), named.into());
        }
        matches.push(Value::from(found));
        Ok(Go::On)
    })?;
    let answer = json!({ "matches": matches, "more": more });
    Ok(Output::text(answer.to_string()).with_structured(answer))
}
