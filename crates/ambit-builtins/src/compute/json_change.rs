//! `json_patch` and `json_merge`: a JSON document, changed by the two standards for that.

use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::budget::Budget;
use super::document;
use super::pointer::{Operation, apply};
use super::table::Builtin;
use crate::declare::{arguments, object};

const MOST_OPERATIONS: usize = 1_000;

pub(super) const JSON_PATCH: Builtin = Builtin {
    name: "json_patch",
    title: "Change JSON by operations",
    description: "Apply JSON Patch operations (RFC 6902) to a document, in order; all or none. \
        Each is {op: add | remove | replace | move | copy | test, path, value or from}. \
        Paths are JSON Pointers: `/items/0/name`, `/items/-` for the end of an array, `~1` for `/` in a name. \
        To set or drop a few members, json_merge is simpler.",
    tags: &["json", "transform"],
    input: patch_input,
    output: Some(output),
    run: patch,
};

pub(super) const JSON_MERGE: Builtin = Builtin {
    name: "json_merge",
    title: "Merge JSON",
    description: "Merge one JSON document into another (JSON Merge Patch, RFC 7396): members replace those of the same name, \
        objects merge, null removes a member, arrays are replaced as a whole. For changes inside arrays, use json_patch.",
    tags: &["json", "transform"],
    input: merge_input,
    output: Some(output),
    run: merge,
};

fn output() -> Value {
    object(
        &["json"],
        json!({ "json": { "description": "The document, changed." } }),
    )
}

fn patch_input() -> Value {
    let pointer = |description: &str| json!({ "type": "string", "maxLength": 2000, "description": description });
    object(
        &["json", "operations"],
        json!({
            "json": document::schema("The document"),
            "operations": {
                "type": "array", "minItems": 1, "maxItems": MOST_OPERATIONS,
                "description": "What to do, in order.",
                "items": {
                    "type": "object",
                    "required": ["op", "path"],
                    "properties": {
                        "op": { "enum": ["add", "remove", "replace", "move", "copy", "test"], "description": "What to do. `test` refuses everything unless the value is there." },
                        "path": pointer("Where."),
                        "from": pointer("Where `move` and `copy` take the value from."),
                        "value": { "description": "The value of `add`, `replace` and `test`." },
                    },
                },
            },
        }),
    )
}

fn merge_input() -> Value {
    object(
        &["json", "patch"],
        json!({
            "json": document::schema("The document"),
            "patch": document::schema("What to merge into it"),
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PatchArguments {
    json: Value,
    operations: Vec<Operation>,
}

fn patch(value: Value, budget: &mut Budget<'_>) -> Result<Output, Failure> {
    let PatchArguments { json, operations } = arguments(value)?;
    let mut document = document::read("json", json)?;
    document::weigh(&document, 0, budget)?;
    for (at, operation) in operations.into_iter().enumerate() {
        apply(&mut document, operation, budget).map_err(|failure| Failure {
            message: format!(
                "operation {}: {}; nothing was changed",
                at + 1,
                failure.message
            ),
            ..failure
        })?;
    }
    Ok(document::written(&document))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MergeArguments {
    json: Value,
    patch: Value,
}

fn merge(value: Value, budget: &mut Budget<'_>) -> Result<Output, Failure> {
    let MergeArguments { json, patch } = arguments(value)?;
    let mut document = document::read("json", json)?;
    let patch = document::read("patch", patch)?;
    document::weigh(&document, 0, budget)?;
    document::weigh(&patch, 0, budget)?;
    merge_into(&mut document, patch);
    Ok(document::written(&document))
}

fn merge_into(target: &mut Value, patch: Value) {
    let Value::Object(members) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(into) = target else { return };
    for (name, value) in members {
        if value.is_null() {
            into.remove(&name);
        } else {
            merge_into(into.entry(name).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::text;
    use super::*;

    #[track_caller]
    fn check(tool: &str, second: &str, cases: &[(Value, Value, &str)]) {
        for (document, change, expected) in cases {
            let mut given = Map::new();
            given.insert("json".to_owned(), document.clone());
            given.insert(second.to_owned(), change.clone());
            assert_eq!(text(tool, given.into()), *expected, "{document} {change}");
        }
    }

    #[test]
    fn operations_are_applied_in_order() {
        let op =
            |op: &str, path: &str, value: Value| json!({ "op": op, "path": path, "value": value });
        check(
            "json_patch",
            "operations",
            &[
                (
                    json!({}),
                    json!([op("add", "/a", json!(1)), op("add", "/b", json!([]))]),
                    r#"{"a":1,"b":[]}"#,
                ),
                (
                    json!("[1,3]"),
                    json!([op("add", "/1", json!(2)), op("add", "/-", json!(4))]),
                    "[1,2,3,4]",
                ),
                (
                    json!({ "a": 1, "b": 2 }),
                    json!([op("replace", "/a", json!(null)), { "op": "remove", "path": "/b" }]),
                    r#"{"a":null}"#,
                ),
                (
                    json!({ "a": [1, 2] }),
                    json!([{ "op": "move", "from": "/a/0", "path": "/b" }]),
                    r#"{"a":[2],"b":1}"#,
                ),
                (
                    json!({ "a": 1 }),
                    json!([{ "op": "copy", "from": "/a", "path": "/b" }]),
                    r#"{"a":1,"b":1}"#,
                ),
                (
                    json!({ "a/b": { "~": 1 } }),
                    json!([op("test", "/a~1b/~0", json!(1.0))]),
                    r#"{"a/b":{"~":1}}"#,
                ),
                (
                    json!([1]),
                    json!([op("replace", "", json!({ "new": true }))]),
                    r#"{"new":true}"#,
                ),
                (
                    json!({}),
                    json!([op("remove", "/a", json!(null))]),
                    "refused: operation 1: there is nothing at `/a`; nothing was changed",
                ),
                (
                    json!({ "a": 1 }),
                    json!([op("test", "/a", json!(2))]),
                    "refused: operation 1: the value at `/a` is another one; nothing was changed",
                ),
                (
                    json!([1]),
                    json!([op("add", "/2", json!(2))]),
                    "refused: operation 1: `2` is no place in an array of 1: give an index, or `-` for its end; nothing was changed",
                ),
                (
                    json!([1]),
                    json!([op("add", "/0/a", json!(2))]),
                    "refused: operation 1: `/0` is neither an object nor an array; nothing was changed",
                ),
                (
                    json!({ "a": {} }),
                    json!([{ "op": "move", "from": "/a", "path": "/a/b" }]),
                    "refused: operation 1: `/a` cannot be moved into itself; nothing was changed",
                ),
                (
                    json!({}),
                    json!([op("add", "a", json!(1))]),
                    "refused: the arguments cannot be used: `a` is not a JSON Pointer: it is empty or begins with `/`, with `~0` for `~` and `~1` for `/`",
                ),
                (
                    json!({}),
                    json!([{ "op": "add", "path": "/a" }]),
                    "refused: the arguments cannot be used: missing field `value`",
                ),
                (
                    json!("{"),
                    json!([op("add", "/a", json!(1))]),
                    "refused: `json` is not JSON: EOF while parsing an object at line 1 column 1; a string in it wants quotes of its own",
                ),
            ],
        );
    }

    #[test]
    fn copies_of_copies_are_refused_in_time() {
        // Each puts the whole into its own deepest place.
        let deep = (0..8).map(|it| "/0".repeat((1 << it) - 1));
        let deep = deep.map(|it| json!({ "op": "copy", "from": "", "path": format!("{it}/-") }));
        let deep: Vec<_> = deep.collect();
        let wide = vec![json!({ "op": "copy", "from": "/0", "path": "/0/-" }); 40];
        for (document, operations, expected) in [
            (json!([]), deep, "would nest deeper than 128 levels"),
            (json!([["x".repeat(1000)]]), wide, "larger than 4 MiB"),
        ] {
            let found = text(
                "json_patch",
                json!({ "json": document, "operations": operations }),
            );
            assert!(
                found.starts_with("refused: ") && found.contains(expected),
                "{found}"
            );
        }
    }

    #[test]
    fn members_are_merged() {
        // The examples of RFC 7396.
        check(
            "json_merge",
            "patch",
            &[
                (json!({ "a": "b" }), json!({ "a": "c" }), r#"{"a":"c"}"#),
                (
                    json!({ "a": "b" }),
                    json!({ "b": "c" }),
                    r#"{"a":"b","b":"c"}"#,
                ),
                (
                    json!({ "a": "b", "b": "c" }),
                    json!({ "a": null }),
                    r#"{"b":"c"}"#,
                ),
                (json!({ "a": ["b"] }), json!({ "a": "c" }), r#"{"a":"c"}"#),
                (
                    json!({ "a": { "b": "c" } }),
                    json!({ "a": { "b": "d", "c": null } }),
                    r#"{"a":{"b":"d"}}"#,
                ),
                (
                    json!({ "a": [{ "b": "c" }] }),
                    json!({ "a": [1] }),
                    r#"{"a":[1]}"#,
                ),
                (json!(["a", "b"]), json!(["c", "d"]), r#"["c","d"]"#),
                (json!({ "a": "b" }), json!(["c"]), r#"["c"]"#),
                (
                    json!({ "e": null }),
                    json!({ "a": 1 }),
                    r#"{"a":1,"e":null}"#,
                ),
                (
                    json!([1, 2]),
                    json!({ "a": "b", "c": null }),
                    r#"{"a":"b"}"#,
                ),
                (
                    json!({}),
                    json!({ "a": { "bb": { "ccc": null } } }),
                    r#"{"a":{"bb":{}}}"#,
                ),
                (json!(r#"{"a":1}"#), json!(r#"{"b":2}"#), r#"{"a":1,"b":2}"#),
                (
                    json!({}),
                    json!("text"),
                    "refused: `patch` is not JSON: expected ident at line 1 column 2; a string in it wants quotes of its own",
                ),
            ],
        );
    }
}
