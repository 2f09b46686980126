//! `json_query`: parts of a JSON document, by JSONPath.

use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};

use super::budget::Budget;
use super::table::Builtin;
use super::{document, json_path};
use crate::declare::{arguments, object};

const MOST_RESULTS: usize = 1_000;
const DEFAULT_RESULTS: usize = 100;

pub(super) const JSON_QUERY: Builtin = Builtin {
    name: "json_query",
    title: "Query JSON",
    description: "Find values in a JSON document with a JSONPath query (RFC 9535), each with where it is. \
        Examples: `$.items[*].name`, `$..price`, `$.items[?@.price < 10 && @.tags[0] == 'new']`, `$.list[-1]`, `$.list[0:10:2]`. \
        Filters know length(), count(), match(), search() and value(). To change a document, use json_patch or json_merge.",
    tags: &["json", "query"],
    input,
    output: Some(output),
    run,
};

fn input() -> Value {
    object(
        &["json", "query"],
        json!({
            "json": document::schema("The document"),
            "query": {
                "type": "string", "minLength": 1, "maxLength": 2000,
                "description": "A JSONPath query. It begins with `$`.",
            },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": MOST_RESULTS,
                "description": "How many results are shown at most. Default: 100.",
            },
        }),
    )
}

fn output() -> Value {
    object(
        &["count", "results"],
        json!({
            "count": { "type": "integer", "description": "How many were found." },
            "results": {
                "type": "array", "description": "The first of them, in the order of the document.",
                "items": object(&["path", "value"], json!({
                    "path": { "type": "string", "description": "Where it is." },
                    "value": { "description": "What it is." },
                })),
            },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    json: Value,
    query: String,
    limit: Option<usize>,
}

fn run(value: Value, budget: &mut Budget<'_>) -> Result<Output, Failure> {
    let Arguments { json, query, limit } = arguments(value)?;
    let query = json_path::parse(&query)?;
    let document = document::read("json", json)?;
    let found = json_path::select(&query, &document, budget)?;
    let mut results = Vec::new();
    for node in found.iter().take(limit.unwrap_or(DEFAULT_RESULTS)) {
        let path = node.path();
        budget.bytes(path.len())?;
        document::weigh(node.value, 0, budget)?;
        results.push(json!({ "path": path, "value": node.value }));
    }
    let answer = json!({ "count": found.len(), "results": results });
    Ok(Output::text(answer.to_string()).with_structured(answer))
}
