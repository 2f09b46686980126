//! `regex_replace`: a text with what a pattern fits replaced.

use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::budget::Budget;
use super::super::table::Builtin;
use super::{Go, pattern_schema, read, text_schema, visit};
use crate::declare::{arguments, object};

pub(in super::super) const REGEX_REPLACE: Builtin = Builtin {
    name: "regex_replace",
    title: "Replace by pattern",
    description: "Replace what a regular expression fits in a text you have at hand. \
        To change a file, use edit_file.",
    tags: &["text", "regex"],
    input,
    output: Some(output),
    run,
};

fn input() -> Value {
    object(
        &["text", "pattern", "replacement"],
        json!({
            "text": text_schema(),
            "pattern": pattern_schema(),
            "replacement": {
                "type": "string", "maxLength": 10_000,
                "description": "What to put there. `$1` is the first group, `${name}` a named one, `$$` a dollar sign.",
            },
            "limit": { "type": "integer", "minimum": 1, "maximum": 1_000_000, "description": "How many are replaced, from the start. Default: all." },
        }),
    )
}

fn output() -> Value {
    object(
        &["text", "replaced"],
        json!({
            "text": { "type": "string", "description": "The text, changed." },
            "replaced": { "type": "integer", "description": "How many were replaced." },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    text: String,
    pattern: String,
    replacement: String,
    limit: Option<usize>,
}

fn run(value: Value, budget: &mut Budget<'_>) -> Result<Output, Failure> {
    let Arguments {
        text,
        pattern,
        replacement,
        limit,
    } = arguments(value)?;
    let regex = read(&pattern)?;
    budget.bytes(text.len())?;
    let mut changed = String::with_capacity(text.len());
    let (mut copied, mut replaced) = (0, 0);
    visit(&regex, &text, budget, |captures, budget| {
        if limit.is_some_and(|it| replaced == it) {
            return Ok(Go::Stop);
        }
        let whole = captures.get_match();
        changed.push_str(text.get(copied..whole.start()).unwrap_or(""));
        // No more than each group in each place: known before it is made.
        let groups = captures.iter().flatten().map(|it| it.len()).max();
        let most = replacement.len() + replacement.matches('$').count() * groups.unwrap_or(0);
        if most > replacement.len() {
            budget.steps(most as u64 / 8)?;
        }
        let before = changed.len();
        captures.expand(&replacement, &mut changed);
        budget.bytes(changed.len() - before)?;
        copied = whole.end();
        replaced += 1;
        Ok(Go::On)
    })?;
    changed.push_str(text.get(copied..).unwrap_or(""));
    let structured = json!({ "text": changed, "replaced": replaced });
    Ok(Output::text(changed).with_structured(structured))
}
