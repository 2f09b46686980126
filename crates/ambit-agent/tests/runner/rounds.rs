//! What a round does with what a model wants.

use std::sync::Arc;

use ambit_agent::runner::RunLimits;
use ambit_core::run::RunEnd;
use ambit_runtime::CancellationToken;
use ambit_testkit::{Behaviour, Bench, FixtureResolver};
use serde_json::{Value, json};

use crate::support::{Heard, Stage, begin, call};

const KIT: &str = "
    local__kit__look reads
    local__kit__change writes";

fn kit(behaviour: &Behaviour) -> (Stage, Arc<FixtureResolver>) {
    let kit = Arc::new(FixtureResolver::lines("kit", KIT, behaviour));
    let bench = Bench::default().with(Arc::clone(&kit) as _, json!({}));
    (Stage::new(bench), kit)
}

/// What the model is told after calling these.
async fn check(calls: Value, told: &[&str]) {
    let (stage, _) = kit(&Behaviour::Echo);
    let engine = Heard::new(json!([{"calls": calls}, {"say": "done"}]));
    let report = stage.run(&engine, begin("look around")).await;
    assert_eq!(
        (report.ended, report.answer.as_str()),
        (RunEnd::Answered, "done")
    );
    assert_eq!(engine.last_results(), told);
    stage.assert_replays(&report.session).await;
}

#[tokio::test]
async fn every_call_ends_as_words_for_the_model() {
    check(json!([call("kit__look", json!({"a": 1}))]), &["{\"a\":1}"]).await;
    check(
        json!([{"tool": "kit__look", "malformed": "{\"a\":"}]),
        &["denied (input_invalid): the arguments are no JSON object, so nothing was called: `{\"a\":`"],
    )
    .await;
    check(
        json!([call("kit__none", json!({})), call("kit__look", json!({}))]),
        &[
            "denied (not_visible): there is no capability `kit__none` to use in this turn",
            "{}",
        ],
    )
    .await;
}

#[tokio::test]
async fn what_happened_is_on_record_in_order() {
    let (stage, _) = kit(&Behaviour::Echo);
    let turns =
        json!([{"say": "I look.", "calls": [call("kit__look", json!({}))]}, {"say": "done"}]);
    let report = stage.run(&Heard::new(turns), begin("look")).await;
    let types = stage.types(&report.session).await;
    let told = [
        "message.",
        "model.",
        "tool.started",
        "tool.observation",
        "run.",
        "turn.",
    ];
    let told: Vec<&str> = types
        .iter()
        .filter(|it| told.iter().any(|prefix| it.starts_with(prefix)))
        .map(String::as_str)
        .collect();
    assert_eq!(
        told,
        [
            "turn.started",
            "message.user",
            "model.requested",
            "model.responded",
            "tool.started",
            "tool.observation",
            "turn.started",
            "message.results",
            "model.requested",
            "model.responded",
            "run.finished",
        ]
    );
    assert_eq!((report.turns, report.calls), (2, 1));
    assert_eq!(report.usage.output, 20);
}

/// How many of two calls run at the same time.
async fn side_by_side(tool: &str) -> usize {
    let (stage, kit) = kit(&Behaviour::Hangs);
    let engine = Heard::new(json!([{"calls": [call(tool, json!({})), call(tool, json!({}))]}]));
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let watched = Arc::clone(&kit);
    let both = tokio::spawn(async move {
        let both = watched.until_executing(2);
        let found = tokio::time::timeout(std::time::Duration::from_millis(300), both).await;
        stop.cancel();
        found.is_ok()
    });
    let report = stage.run_until(&engine, begin("both"), &cancel).await;
    assert_eq!(report.ended, RunEnd::Interrupted);
    let _ = both.await.unwrap();
    kit.executed()
}

#[tokio::test]
async fn reads_run_side_by_side_and_changes_one_by_one() {
    assert_eq!(side_by_side("kit__look").await, 2);
    assert_eq!(side_by_side("kit__change").await, 1);
}

#[tokio::test]
async fn limits_end_a_run_that_can_go_on() {
    let turn = json!({"calls": [call("kit__look", json!({}))]});
    for (limits, ended) in [
        (
            RunLimits {
                turns: 2,
                ..RunLimits::default()
            },
            RunEnd::TurnLimit,
        ),
        (
            RunLimits {
                tokens: Some(40),
                ..RunLimits::default()
            },
            RunEnd::Budget,
        ),
    ] {
        let (mut stage, _) = kit(&Behaviour::Echo);
        stage.limits = limits;
        let engine = Heard::new(json!([turn, turn, {"say": "done"}]));
        let report = stage.run(&engine, begin("look")).await;
        assert_eq!((report.ended, report.turns), (ended, 2));
        let again = ambit_agent::runner::Task::GoOn {
            session: report.session.clone(),
            said: None,
        };
        let report = stage.run(&engine, again).await;
        assert_eq!(report.ended, RunEnd::Answered);
        assert_eq!(engine.last_results(), ["{}"]);
        stage.assert_replays(&report.session).await;
    }
}

#[tokio::test]
async fn a_model_that_cannot_be_asked_ends_it() {
    let (stage, _) = kit(&Behaviour::Echo);
    let report = stage.run(&Heard::new(json!([])), begin("look")).await;
    assert_eq!(report.ended, RunEnd::Failed);
    assert!(report.error.is_some());
    let types = stage.types(&report.session).await;
    assert!(types.contains(&"model.failed".to_owned()), "{types:?}");
}
