//! What the JSON tools share: how a document is given, and how large one may become.

use ambit_core::observation::{Failure, Output};
use serde_json::{Value, json};

use super::budget::Budget;

/// How deep a document may nest, which is also how deep one is read.
pub(super) const MOST_DEPTH: usize = 128;

/// The schema of a document.
pub(super) fn schema(description: &str) -> Value {
    json!({
        "maxLength": 1_000_000,
        "description": format!("{description}, as JSON or as a string that holds JSON."),
    })
}

/// The document. A string is JSON in writing.
pub(super) fn read(name: &str, value: Value) -> Result<Value, Failure> {
    let Value::String(text) = value else {
        return Ok(value);
    };
    serde_json::from_str(&text).map_err(|error| {
        Failure::refused(format!(
            "`{name}` is not JSON: {error}; a string in it wants quotes of its own"
        ))
    })
}

/// Pays for keeping a value and refuses one that nests too deep.
pub(super) fn weigh(value: &Value, depth: usize, budget: &mut Budget<'_>) -> Result<(), Failure> {
    if depth > MOST_DEPTH {
        return Err(Failure::refused(format!(
            "the result would nest deeper than {MOST_DEPTH} levels"
        )));
    }
    budget.steps(4)?;
    // What a value takes up beside its text, roughly.
    budget.bytes(32)?;
    match value {
        Value::String(it) => budget.bytes(it.len()),
        Value::Array(items) => items.iter().try_for_each(|it| weigh(it, depth + 1, budget)),
        Value::Object(members) => members.iter().try_for_each(|(name, it)| {
            budget.bytes(name.len())?;
            weigh(it, depth + 1, budget)
        }),
        _ => Ok(()),
    }
}

/// A document as a result.
pub(super) fn written(value: &Value) -> Output {
    Output::text(value.to_string()).with_structured(json!({ "json": value }))
}
