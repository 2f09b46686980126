//! `ambit eval` as a whole process, on sets small enough to work out by hand.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use ambit_testkit::{Home, Run};
use serde_json::{Value, json};

const TOOLS: &str = r#"
{"id": "a", "server": "mail", "name": "send_mail", "description": "Send mail to somebody"}
{"id": "b", "name": "get_weather", "description": "Weather of a city", "input_schema": {"properties": {"city": {"type": "string"}}}}

{"id": "c", "server": "files", "name": "list_files", "description": null}
"#;

/// Met at once; both needs met by the second place; nothing asked; something else found.
const QUERIES: &str = r#"
{"query": "send mail", "relevant": [["a"]]}
{"query": "the weather, then the files", "relevant": [["b"], ["c", "a"]]}
{"query": "", "relevant": [["a"]]}
{"query": "what is the weather", "relevant": [["c"]]}
"#;

fn home(tools: impl AsRef<[u8]>, queries: impl AsRef<[u8]>) -> Home {
    let home = Home::new(env!("CARGO_BIN_EXE_ambit"));
    home.write("set/tools.jsonl", tools);
    home.write("set/queries.jsonl", queries);
    home
}

fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().unwrap();
    object.keys().map(String::as_str).collect()
}

#[test]
fn measures_are_as_worked_out_by_hand() {
    let run = home(TOOLS, QUERIES)
        .run(&["eval", "set", "--json"])
        .exits(0);
    let document = run.json();
    let expected = [
        ("schemaVersion", json!(1)),
        ("tools", json!(3)),
        ("queries", json!(4)),
        ("recall@1", json!((1.0 + 0.5) / 4.0)),
        ("recall@3", json!(0.5)),
        ("recall@5", json!(0.5)),
        ("recall@10", json!(0.5)),
        ("ndcg@10", json!(0.5)),
        ("mrr", json!(0.5)),
    ];
    for (name, value) in &expected {
        assert_eq!(&document[name], value, "{name}");
    }
    assert!(document["indexMs"].as_f64().unwrap() >= 0.0);
    let times = &document["queryUs"];
    assert_eq!(keys(times), ["p50", "p99"]);
    assert!(times["p50"].as_f64().unwrap() <= times["p99"].as_f64().unwrap());
    assert_eq!(
        keys(&document).len(),
        expected.len() + 2,
        "and nothing else"
    );
    assert_eq!(run.stderr, "");
}

#[test]
fn misses_come_when_asked_for() {
    let home = home(TOOLS, QUERIES);
    let document = home.run(&["eval", "set", "--json", "--misses", "5"]).json();
    let misses = document["misses"].as_array().unwrap();
    assert_eq!(
        misses[0],
        json!({"query": "", "wanted": ["a"], "found": null, "above": []})
    );
    assert_eq!(misses[1]["wanted"], json!(["c"]));
    assert_eq!(misses[1]["above"][0]["id"], "b");
    let why = &misses[1]["above"][0]["why"][0];
    assert_eq!(
        (&why["reason"], &why["word"]),
        (&json!("word"), &json!("weather"))
    );
    assert_eq!(misses.len(), 2);

    let none = home.run(&["eval", "set", "--json", "--misses", "0"]).json();
    assert_eq!(none["misses"], json!([]));
}

#[test]
fn a_person_is_shown_what_came_first_and_why() {
    let home = home(TOOLS, QUERIES);
    let run = home.run(&["eval", "set"]).exits(0);
    let shown = [
        "recall@1   0.375",
        "ndcg@10    0.500",
        "(nothing is asked)\n  wanted a, not found\n  nothing was found",
        "what is the weather\n  wanted c, not found\n  but first came\n     1  b  ",
        "`weather` in name, description +",
    ];
    for text in shown {
        assert!(run.stdout.contains(text), "{text}\n{}", run.stdout);
    }
    assert!(
        run.stderr
            .contains("2 needs are not met within the first ten\n")
    );

    let fewer = home.run(&["eval", "set", "--misses", "1"]).exits(0);
    assert!(!fewer.stdout.contains("what is the weather"));
    assert!(fewer.stderr.contains("1 of them not shown"));
}

#[test]
fn a_set_cannot_play_with_the_terminal() {
    let queries = r#"{"query": "\u001b[2J\u202eweather\u0007", "relevant": [["c"]]}"#;
    let run = home(TOOLS, queries).run(&["eval", "set"]).exits(0);
    let bad = ['\u{1b}', '\u{7}', '\u{202e}'];
    assert!(!run.stdout.contains(bad), "{:?}", run.stdout);
}

#[track_caller]
fn check_refused(run: Run, code: &str, says: &str, at: Option<(&str, u64)>) {
    let error = run.exits(2).json()["error"].clone();
    assert_eq!(error["code"], code);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(says), "{message}");
    let place = error.get("at").map(|it| {
        let file = it["file"].as_str().unwrap();
        (file.to_owned(), it["line"].as_u64().unwrap())
    });
    assert_eq!(place, at.map(|(file, line)| (file.to_owned(), line)));
}

#[test]
fn a_bad_line_is_named_with_its_place() {
    let check = |tools: &str, queries: &str, says: &str, at: (&str, u64)| {
        let run = home(tools, queries).run(&["eval", "set", "--json"]);
        check_refused(run, "labelled_set", says, Some(at));
    };
    let tools = "set/tools.jsonl";
    check(&format!("{TOOLS}{{"), QUERIES, "EOF", (tools, 6));
    check(&format!("{TOOLS}7"), QUERIES, "invalid type", (tools, 6));
    check(
        r#"{"id": "a"}"#,
        QUERIES,
        "missing field `name`",
        (tools, 1),
    );
    check(
        &format!("{TOOLS}{TOOLS}"),
        QUERIES,
        "`a` is there already",
        (tools, 7),
    );
    let queries = "set/queries.jsonl";
    let wants = |relevant: &str| format!("{QUERIES}{{\"query\": \"x\", \"relevant\": {relevant}}}");
    check(TOOLS, &wants(r#"[["z"]]"#), "no tool `z`", (queries, 6));
    check(TOOLS, &wants("[]"), "nothing is relevant", (queries, 6));
    check(TOOLS, &wants("[[]]"), "nothing is relevant", (queries, 6));
    check(TOOLS, &wants(r#"["a"]"#), "invalid type", (queries, 6));
}

#[test]
fn a_set_that_is_not_there_is_said_to_be_missing() {
    let check = |home: &Home, dir: &str, says: &str| {
        let run = home.run(&["eval", dir, "--json"]);
        check_refused(run, "labelled_set", says, None);
    };
    let home = home(TOOLS, QUERIES);
    check(&home, "nowhere", "there is no folder `nowhere`");
    check(&home, "set/tools.jsonl", "is not a folder");
    home.write("no-queries/tools.jsonl", TOOLS);
    check(
        &home,
        "no-queries",
        "has no `queries.jsonl`: there is nothing to measure by",
    );
    home.write("no-tools/queries.jsonl", QUERIES);
    check(&home, "no-tools", "has no `tools.jsonl`");
    home.write("empty/tools.jsonl", "");
    home.write("empty/queries.jsonl", "\n");
    check(&home, "empty", "`empty/tools.jsonl` is empty");
    home.write("silent/tools.jsonl", TOOLS);
    home.write("silent/queries.jsonl", "\n");
    check(&home, "silent", "`silent/queries.jsonl` is empty");
    home.write("bytes/tools.jsonl", [0xff, 0xfe]);
    home.write("bytes/queries.jsonl", QUERIES);
    check(&home, "bytes", "`bytes/tools.jsonl` cannot be read");
}

/// A model of four pieces: rain is weather, and neither is mail.
fn write_model(home: &Home) {
    home.write(
        "model/tokenizer.json",
        r###"{"model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "vocab": {"[UNK]": 0, "rain": 1, "weather": 2, "mail": 3}}}"###,
    );
    let rows: [[f32; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 0.1], [0.0, 1.0]];
    let data: Vec<u8> = rows
        .as_flattened()
        .iter()
        .flat_map(|it| it.to_le_bytes())
        .collect();
    let header = r#"{"embeddings":{"dtype":"F32","shape":[4,2],"data_offsets":[0,32]}}"#;
    let length = (header.len() as u64).to_le_bytes();
    home.write(
        "model/model.safetensors",
        [&length[..], header.as_bytes(), &data].concat(),
    );
}

#[test]
fn a_model_joins_in() {
    let home = home(TOOLS, r#"{"query": "rain", "relevant": [["b"]]}"#);
    write_model(&home);
    let recall = |arguments: &[&str]| home.run(arguments).exits(0).json()["recall@1"].clone();
    assert_eq!(recall(&["eval", "set", "--json"]), 0.0);
    assert_eq!(recall(&["eval", "set", "--json", "--model", "model"]), 1.0);
}

#[test]
fn what_is_not_a_model_is_refused() {
    let home = home(TOOLS, QUERIES);
    let check = |says: &str| {
        let run = home.run(&["eval", "set", "--json", "--model", "model"]);
        check_refused(run, "model", says, None);
    };
    check("there is no folder `model`");
    home.write("model/README", "");
    check("`model` has no `tokenizer.json`");
    home.write("model/tokenizer.json", "{");
    check("`model` has no `model.safetensors`");
    home.write("model/model.safetensors", "");
    check("`model`: the tokenizer cannot be read: EOF");
    write_model(&home);
    home.write("model/model.safetensors", "");
    check("`model`: the tensors cannot be read: there is no header");
}
