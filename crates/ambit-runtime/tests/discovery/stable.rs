//! What a model has read stays where it was: twenty turns and what they leave of a prefix.

use ambit_core::permission::Mode;
use ambit_core::projection::ToolFormat;
use ambit_core::visible::Signal;
use ambit_runtime::discovery::TurnRequest;
use ambit_testkit::fixture_tool;

use crate::support::{World, open, search, signals, turn};

const FORMATS: [ToolFormat; 3] = [ToolFormat::OpenAi, ToolFormat::Anthropic, ToolFormat::Mcp];

#[tokio::test]
async fn the_same_input_gives_the_same_bytes() {
    let bytes = async || {
        let world = World::new();
        let market = world.bench.market();
        let session = market
            .open_session(world.bench.spec(Mode::Auto))
            .await
            .unwrap();
        let request = TurnRequest {
            goal: "close the issue and read the job log".to_owned(),
            touched: ["src/a.rs".to_owned()].into(),
            project: ["rust".to_owned()].into(),
            ..TurnRequest::default()
        };
        let first = session.begin_turn(&request);
        let shown = FORMATS.map(|it| session.projection(it).to_json().to_string());
        // Settled: what was visible and still is gives the same again, turn after turn.
        for _ in 0..20 {
            session.begin_turn(&request);
            assert_eq!(
                FORMATS.map(|it| session.projection(it).to_json().to_string()),
                shown
            );
        }
        (first.digest(), shown)
    };
    assert_eq!(bytes().await, bytes().await);
}

#[tokio::test]
async fn what_is_added_comes_after_what_was_there() {
    let world = World::new();
    let market = world.bench.market();
    let session = market
        .open_session(world.bench.spec(Mode::Auto))
        .await
        .unwrap();
    let mut before: Vec<String> = Vec::new();
    let goals = [
        "write a poem",
        "get the issue",
        "the job log",
        "a note",
        "close the issue",
        "review",
    ];
    for n in 0..20 {
        turn(&session, goals[n % goals.len()]);
        if n == 9 {
            search(&session, "tool_search", "cancel the job").await;
        }
        let tools: Vec<String> = session
            .projection(ToolFormat::Anthropic)
            .tools
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(
            tools.starts_with(&before),
            "turn {n}: {before:#?} {tools:#?}"
        );
        before = tools;
    }
    assert!(before.len() > 6, "{before:#?}");
}

#[tokio::test]
async fn having_been_visible_counts_and_says_so() {
    let world = World::new();
    let market = world.bench.market();
    let session = market
        .open_session(world.bench.spec(Mode::Auto))
        .await
        .unwrap();
    turn(&session, "show me the job log");
    for _ in 0..3 {
        let visible = turn(&session, "write a poem");
        assert_eq!(signals(&visible, "mcp__ci__job_log"), [Signal::Stays]);
    }
}

#[tokio::test]
async fn another_catalog_leaves_the_prefix_alone() {
    let world = World::new();
    let (market, session) = open(&world, Mode::Auto).await;
    turn(&session, "");
    let before = session.projection(ToolFormat::OpenAi);
    market.offer("mcp:aaa", vec![fixture_tool("mcp__aaa__first reads")]);
    turn(&session, "");
    assert_eq!(
        session.projection(ToolFormat::OpenAi),
        before,
        "what is not granted changes nothing"
    );
}
