//! `compute` through the pipeline, where nothing may be changed and nobody is asked.

use std::sync::Arc;

use ambit_builtins::compute::{ComputeResolver, TABLE};
use ambit_core::observation::Observation;
use ambit_core::permission::Mode;
use ambit_testkit::{Bench, call};
use serde_json::json;

#[tokio::test]
async fn every_function_is_there_in_read_only() {
    let bench = Bench::default().with(Arc::new(ComputeResolver), json!({}));
    let session = bench.session(Mode::ReadOnly).await;
    for (name, arguments, expected) in [
        ("calculate", json!({ "expression": "0.1+0.2" }), "0.3"),
        ("statistics", json!({ "numbers": [1, 2] }), "\"mean\":1.5"),
        (
            "convert_units",
            json!({ "value": 1, "from": "mi", "to": "m" }),
            "1609.344 m",
        ),
        ("date_convert", json!({ "date": "2026-03-29" }), "Sunday"),
        (
            "date_add",
            json!({ "date": "2026-03-29", "duration": "1w" }),
            "2026-04-05",
        ),
        (
            "date_difference",
            json!({ "from": "2026-03-29", "to": "2026-04-05" }),
            "7 days",
        ),
        (
            "json_query",
            json!({ "json": { "a": [1] }, "query": "$.a[0]" }),
            "$['a'][0]",
        ),
        (
            "json_patch",
            json!({ "json": {}, "operations": [{ "op": "add", "path": "/a", "value": 1 }] }),
            r#"{"a":1}"#,
        ),
        (
            "json_merge",
            json!({ "json": {}, "patch": { "a": 1 } }),
            r#"{"a":1}"#,
        ),
        ("text_diff", json!({ "before": "a", "after": "b" }), "-a"),
        (
            "regex_find",
            json!({ "text": "abc", "pattern": "b" }),
            "\"start\":1",
        ),
        (
            "regex_replace",
            json!({ "text": "abc", "pattern": "b", "replacement": "" }),
            "ac",
        ),
        (
            "regex_split",
            json!({ "text": "a b", "pattern": " " }),
            r#"["a","b"]"#,
        ),
        (
            "hash",
            json!({ "input": "abc", "algorithm": "md5" }),
            "900150983cd24fb0d6963f7d28e17f72",
        ),
        ("base64_encode", json!({ "input": "hi" }), "aGk="),
        ("base64_decode", json!({ "base64": "aGk" }), "hi"),
    ] {
        let report = call(&session, &format!("compute__{name}"), arguments).await;
        let observation = report.observation;
        let Observation::Completed(completed) = &observation else {
            panic!("{name}: {observation:?}");
        };
        assert!(!completed.untrusted, "{name}");
        let found = completed.output.content[0].as_text().unwrap();
        assert!(found.contains(expected), "{name}: {found}");
    }
    assert_eq!(TABLE.iter().count(), 16);
}

#[tokio::test]
async fn what_the_schema_forbids_does_not_run() {
    let bench = Bench::default().with(Arc::new(ComputeResolver), json!({}));
    let session = bench.session(Mode::ReadOnly).await;
    for (name, arguments) in [
        ("calculate", json!({})),
        ("calculate", json!({ "expression": "1".repeat(4097) })),
        (
            "calculate",
            json!({ "expression": "x", "variables": { "not a name": 1 } }),
        ),
        ("statistics", json!({ "numbers": [] })),
        ("statistics", json!({ "numbers": vec![0; 10_001] })),
        (
            "json_query",
            json!({ "json": "x".repeat(1_000_001), "query": "$" }),
        ),
        (
            "regex_find",
            json!({ "text": "x".repeat(200_001), "pattern": "x" }),
        ),
        ("hash", json!({ "input": "", "algorithm": "crc" })),
        ("date_convert", json!({ "date": "2026-01-01", "now": true })),
    ] {
        let report = call(&session, &format!("compute__{name}"), arguments).await;
        let code = report.observation.code().map(|it| it.as_str());
        assert_eq!(code, Some("input_invalid"), "{name}");
    }
}
