use ambit_core::observation::Content;
use ambit_core::projection::Projection;
use serde_json::json;

use super::*;
use crate::engine::{ModelOptions, StopReason, Unheard};
use crate::message::{Arguments, Message, ToolResult};

/// `shown` is `tool tool | deferred | skill skill`.
fn projection(shown: &str) -> Projection {
    let mut parts = shown.split('|').map(|part| part.split_whitespace());
    let mut next = || parts.next().into_iter().flatten();
    Projection {
        tools: next()
            .map(|it| json!({"type": "function", "function": {"name": it}}))
            .collect(),
        deferred: next().map(|it| format!("- {it}(path?): does it")).collect(),
        skills: next().map(|it| format!("- {it}: does: it")).collect(),
        resources: Vec::new(),
    }
}

fn play(script: &str, shown: &str, messages: &[Message]) -> Result<ModelTurn, EngineError> {
    let engine = ScriptedEngine::new(Script::parse(script).unwrap());
    let projection = projection(shown);
    let request = ModelRequest {
        system: &[],
        projection: &projection,
        messages,
        options: ModelOptions::default(),
    };
    let cancel = CancellationToken::new();
    let turn = engine.turn(&request, &Unheard, &cancel);
    futures_util::FutureExt::now_or_never(turn).expect("a script does not wait")
}

fn conversation() -> Vec<Message> {
    let loaded = ScriptedTurn {
        calls: vec![ScriptedCall {
            tool: "load_skill".to_owned(),
            with: ScriptedInput::Input(json!({"name": "test-fix"}).as_object().cloned().unwrap()),
        }],
        ..ScriptedTurn::default()
    };
    vec![
        Message::user("fix the test"),
        Message::Assistant {
            parts: loaded.parts(0, &[]).unwrap(),
        },
        Message::Results {
            results: vec![ToolResult {
                call: "call_1_1".to_owned(),
                name: "load_skill".to_owned(),
                content: vec![Content::text("run the tests, see PR 128")],
                is_error: false,
                reveals: Vec::new(),
            }],
        },
    ]
}

const SHOWN: &str = "read_file load_skill | gh__get | test-fix";

#[track_caller]
fn check(expect: &str, unmet: &str) {
    let script = format!(r#"{{"turns": [{{"expect": {expect}, "say": "done"}}]}}"#);
    let said = match play(&script, SHOWN, &conversation()) {
        Ok(turn) => turn.text(),
        Err(error) => error.to_string(),
    };
    assert_eq!(said, unmet, "{expect}");
}

#[test]
fn expectations_that_hold_let_it_speak() {
    for expect in [
        "{}",
        r#"{"tools": ["read_file", "gh__get"], "noTools": ["rm"]}"#,
        r#"{"skills": ["test-fix"], "noSkills": ["frontend"]}"#,
        r#"{"loaded": ["test-fix"], "observed": ["PR 128", "tests"]}"#,
    ] {
        check(expect, "done");
    }
}

#[test]
fn expectations_that_do_not_say_what_was_there() {
    check(
        r#"{"tools": ["gh__list"]}"#,
        "turn 1 of the script expected the tool `gh__list`, but the visible tools are `read_file`, `load_skill`, `gh__get`",
    );
    check(
        r#"{"noTools": ["gh__get"]}"#,
        "turn 1 of the script expected no tool `gh__get`, but it is visible",
    );
    check(
        r#"{"loaded": ["frontend"]}"#,
        "turn 1 of the script expected the loaded skill `frontend`, but the loaded skills are `test-fix`",
    );
    check(
        r#"{"observed": ["PR 7"]}"#,
        "turn 1 of the script expected `PR 7` in what the last calls brought, but that is `run the tests, see PR 128`",
    );
}

#[test]
fn a_turn_is_what_the_file_says() {
    let script = r#"{"turns": [{"say": "I look.", "calls": [
        {"tool": "read_file", "input": {"path": "a"}}, {"tool": "read_file", "malformed": "{\"path\":"},
    ]}]}"#;
    let turn = play(script, SHOWN, &conversation()).unwrap();
    assert_eq!(turn.text(), "I look.");
    assert_eq!(turn.stop, StopReason::WantsTools);
    let arguments: Vec<_> = turn.calls().map(|it| it.arguments.clone()).collect();
    assert_eq!(
        arguments,
        [
            Arguments::read(r#"{"path":"a"}"#),
            Arguments::Malformed(r#"{"path":"#.to_owned())
        ]
    );
    let again = Script::parse(&record([&turn]).to_text()).unwrap();
    assert_eq!(
        again.turns[0].calls,
        Script::parse(script).unwrap().turns[0].calls
    );
    assert_eq!(again.turns[0].expect.tools, ["read_file"]);
}

#[test]
fn a_recorded_script_asks_for_what_is_named_anew() {
    let script = r#"{"turns": [{"calls": [{"tool": "read_result", "input": {"ref": "r-abcdefghjk23", "offset": 5}}]}]}"#;
    let turn = play(script, SHOWN, &conversation()).unwrap();
    let recorded = record([&turn]).to_text();
    assert!(
        recorded.contains(r#""ref": "${observed:r-}""#),
        "{recorded}"
    );
}

#[test]
fn it_ends_where_the_file_ends() {
    let error = play(r#"{"turns": []}"#, SHOWN, &conversation()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the script ends after turn 0, and another one was asked for"
    );
    assert!(error.hint().is_some());
}

#[track_caller]
fn check_malformed(text: &str, expected: &str) {
    assert_eq!(
        Script::parse(text).unwrap_err().to_string(),
        expected,
        "{text}"
    );
}

#[test]
fn what_is_no_script_is_said_with_its_place() {
    check_malformed("", "line 1, column 1: the file says nothing");
    check_malformed(
        "{\n  // one\n  \"turn\": []}",
        "line 3, column 8: unknown field `turn`, expected `turns`",
    );
    check_malformed(
        "{\"turns\": [\n  {\"say\": \"ü\" \"calls\": []}]}",
        "line 2, column 14: expected comma",
    );
    check_malformed(
        r#"{"turns": [{"calls": [{"tool": "a", "input": {"x": 1, "x": 2}}]}]}"#,
        "line 1, column 57: the key `x` stands twice",
    );
}
