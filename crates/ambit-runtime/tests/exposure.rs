//! How much is put in front of an agent: what is listed, what can be called, and what stays the
//! same whatever was said.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;

use ambit_core::permission::Mode;
use ambit_core::projection::ToolFormat;
use ambit_runtime::discovery::{DiscoverySettings, Exposure, TurnRequest};
use ambit_runtime::session::{Session, SessionSpec};
use ambit_testkit::{Behaviour, Bench, FixtureResolver, call, rules};
use serde_json::{Value, json};

const TOOLS: &str = "
    ext__kit__look   reads open-world
    ext__kit__post   writes open-world
    ext__kit__wipe   destructive";

/// A session with room for one tool beside the runtime's own, and a rule against one.
async fn session(exposure: Exposure, mode: Mode) -> Session {
    let kit = Arc::new(FixtureResolver::lines("kit", TOOLS, &Behaviour::Echo));
    let bench = Bench::default()
        .with(kit, json!({}))
        .ruled(rules("deny ext__kit__wipe"));
    let spec = SessionSpec {
        exposure,
        discovery: DiscoverySettings {
            limit: Some(3),
            ..DiscoverySettings::default()
        },
        ..bench.spec(mode)
    };
    let session = bench.market().open_session(spec).await.unwrap();
    session.begin_turn(&TurnRequest::default());
    session
}

fn listed(session: &Session) -> String {
    let tools = session.projection(ToolFormat::Mcp).tools;
    let names: Vec<&str> = tools.iter().filter_map(|it| it["name"].as_str()).collect();
    names.join(" ")
}

#[tokio::test]
async fn each_exposure_lists_its_own() {
    for (exposure, mode, list) in [
        (
            Exposure::Selected,
            Mode::Ask,
            "read_result tool_search kit__look",
        ),
        (
            Exposure::Everything,
            Mode::Ask,
            "read_result kit__look kit__post",
        ),
        (
            Exposure::Everything,
            Mode::ReadOnly,
            "read_result kit__look",
        ),
        (
            Exposure::Dispatched,
            Mode::Ask,
            "call_tool describe_tool read_result tool_search",
        ),
    ] {
        assert_eq!(
            listed(&session(exposure, mode).await),
            list,
            "{exposure:?} {mode:?}"
        );
    }
}

#[tokio::test]
async fn what_was_said_and_heard_changes_a_selection_only() {
    for (exposure, changes) in [
        (Exposure::Selected, true),
        (Exposure::Everything, false),
        (Exposure::Dispatched, false),
    ] {
        let session = session(exposure, Mode::Ask).await;
        let before = listed(&session);
        call(&session, "tool_search", json!({"query": "kit post"})).await;
        assert_eq!(session.is_behind(), changes, "{exposure:?}");
        session.begin_turn(&TurnRequest {
            goal: "post".to_owned(),
            ..TurnRequest::default()
        });
        assert!(!session.is_behind(), "{exposure:?}");
        assert_eq!(listed(&session) != before, changes, "{exposure:?}");
    }
}

/// How `call_tool` and `describe_tool` end for a name: `completed`, or the code.
async fn check(mode: Mode, name: &str, called: &str, described: &str) {
    let session = session(Exposure::Dispatched, mode).await;
    for (tool, expected) in [("call_tool", called), ("describe_tool", described)] {
        let observation = call(&session, tool, json!({"name": name}))
            .await
            .observation;
        let word = observation.code().map_or("completed", |it| it.as_str());
        assert_eq!(word, expected, "{mode:?} {tool} {name}");
    }
}

#[tokio::test]
async fn dispatching_opens_no_gate() {
    check(Mode::Auto, "kit__look", "completed", "completed").await;
    check(Mode::Auto, "ext__kit__look", "completed", "completed").await;
    check(Mode::Auto, "kit__wipe", "not_visible", "refused").await;
    check(Mode::Auto, "kit__nope", "not_visible", "refused").await;
    check(Mode::ReadOnly, "kit__post", "not_visible", "refused").await;
    check(Mode::Ask, "kit__post", "approval_pending", "completed").await;
    check(Mode::Auto, "tool_search", "refused", "refused").await;
    check(Mode::Auto, "call_tool", "refused", "refused").await;
}

#[tokio::test]
async fn arguments_reach_the_tool_and_nothing_else_does() {
    let session = session(Exposure::Dispatched, Mode::Auto).await;
    let ends = |arguments: Value| {
        let session = &session;
        async move {
            let observation = call(session, "call_tool", arguments).await.observation;
            observation.code().map_or("completed", |it| it.as_str())
        }
    };
    for (arguments, expected) in [
        (json!({"name": "kit__look", "arguments": {}}), "completed"),
        (
            json!({"name": "kit__look", "arguments": "x"}),
            "input_invalid",
        ),
        (json!({"name": "kit__look", "more": 1}), "input_invalid"),
        (json!({"arguments": {}}), "input_invalid"),
        (json!([]), "input_invalid"),
    ] {
        assert_eq!(ends(arguments.clone()).await, expected, "{arguments}");
    }
}
