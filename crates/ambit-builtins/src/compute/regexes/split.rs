//! `regex_split`: a text, cut where a pattern fits.

use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::budget::Budget;
use super::super::table::Builtin;
use super::{Go, pattern_schema, read, text_schema, visit};
use crate::declare::{arguments, object};

const MOST_PARTS: usize = 10_000;

pub(in super::super) const REGEX_SPLIT: Builtin = Builtin {
    name: "regex_split",
    title: "Split by pattern",
    description: "Cut a text into parts where a regular expression fits, such as `\\s*,\\s*` or `\\n+`.",
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
            "limit": { "type": "integer", "minimum": 1, "maximum": MOST_PARTS, "description": "How many parts there are at most; the last is the rest. Default: 10000." },
        }),
    )
}

fn output() -> Value {
    object(
        &["parts"],
        json!({
            "parts": { "type": "array", "items": { "type": "string" }, "description": "The parts, in order. Parts can be empty." },
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
    let limit = limit.unwrap_or(MOST_PARTS);
    let mut parts: Vec<&str> = Vec::new();
    let mut copied = 0;
    visit(&regex, &text, budget, |captures, budget| {
        if parts.len() + 1 >= limit {
            return Ok(Go::Stop);
        }
        let cut = captures.get_match();
        let part = text.get(copied..cut.start()).unwrap_or("");
        budget.bytes(part.len() + 32)?;
        parts.push(part);
        copied = cut.end();
        Ok(Go::On)
    })?;
    parts.push(text.get(copied..).unwrap_or(""));
    let answer = json!({ "parts": parts });
    Ok(Output::text(answer.to_string()).with_structured(answer))
}
