//! Searching asks for more visibility. It grants nothing.

use std::sync::Arc;

use ambit_core::event::EventBody;
use ambit_core::permission::Mode;
use ambit_core::visible::{HiddenReason, Signal};
use ambit_testkit::{Behaviour, Bench, FixtureResolver, call, events, fixture_tool};
use serde_json::json;

use crate::support::{World, ends, names, open, search, signals, source, turn, why_hidden};

#[tokio::test]
async fn candidates_are_visible_in_the_next_turn() {
    let world = World::new();
    let market = world.bench.market();
    let session = market
        .open_session(world.bench.spec(Mode::Ask))
        .await
        .unwrap();
    let visible = turn(&session, "write a poem about spring");
    assert_eq!(
        why_hidden(&visible, "mcp__ci__job_log"),
        Some(HiddenReason::NotRelevant)
    );
    assert_eq!(ends(&session, "ci__job_log").await, "not_visible");
    let found = search(&session, "tool_search", "log of a job").await;
    assert_eq!(found[0], "mcp__ci__job_log");
    assert_eq!(
        ends(&session, "ci__job_log").await,
        "not_visible",
        "found is not visible yet"
    );
    let visible = turn(&session, "write a poem about spring");
    assert!(signals(&visible, "mcp__ci__job_log").contains(&Signal::Candidate));
    assert_eq!(ends(&session, "ci__job_log").await, "completed");
    let visible = turn(&session, "write a poem about spring");
    let after = signals(&visible, "mcp__ci__job_log");
    assert!(
        !after.contains(&Signal::Candidate)
            && after.contains(&Signal::Stays)
            && after.contains(&Signal::Called),
        "{after:?}"
    );
}

#[tokio::test]
async fn what_is_found_and_then_forbidden_is_not_added() {
    let world = World::new();
    let market = world.bench.market();
    let session = market
        .open_session(world.bench.spec(Mode::Ask))
        .await
        .unwrap();
    turn(&session, "write a poem");
    let found = search(&session, "tool_search", "job log").await;
    assert_eq!(found[0], "mcp__ci__job_log");
    source(&market, "mcp:ci", Some("gone"));
    let visible = turn(&session, "write a poem");
    assert_eq!(
        why_hidden(&visible, "mcp__ci__job_log").unwrap().as_str(),
        "sourceDown"
    );
    assert_eq!(ends(&session, "mcp__ci__job_log").await, "not_visible");
    assert_eq!(world.executed(), 0);
    let refused = events(&market, &session)
        .await
        .into_iter()
        .find_map(|it| match it.body {
            EventBody::CapabilityRefused { target, why, .. } => Some((target, why)),
            _ => None,
        });
    let (target, why) = refused.unwrap();
    assert_eq!(
        (target.as_str(), why.unwrap().as_str()),
        ("mcp__ci__job_log", "sourceDown")
    );
}

#[tokio::test]
async fn what_is_not_granted_is_not_found() {
    let world = World::new();
    let market = world.bench.market();
    let mut spec = world.bench.spec(Mode::Auto);
    spec.capabilities = json!({"ci": {"tools": ["job_log"]}});
    let session = market.open_session(spec).await.unwrap();
    turn(&session, "");
    for query in ["mcp__gh__get_issue", "get issue", "cancel_job", "job"] {
        let found = search(&session, "tool_search", query).await;
        assert!(
            found.iter().all(|it| it == "mcp__ci__job_log"),
            "{query}: {found:?}"
        );
    }
    assert!(!names(&session.visible()).contains("gh"));
    // Without skills nothing about skills.
    assert_eq!(ends(&session, "load_skill").await, "not_visible");
}

#[tokio::test]
async fn kinds_do_not_crowd_each_other_out() {
    let skills = (0..120).map(|n| {
        let mut it = fixture_tool(&format!("skill__deploy-{n} reads"));
        it.description = "Deploy deploy deploy a release.".to_owned();
        (it, Behaviour::Echo)
    });
    let mut tool = fixture_tool("mcp__ops__ship reads");
    tool.description =
        "Among much else that has to do with many other things, this can also deploy.".to_owned();
    let bench = Bench::default()
        .with(
            Arc::new(FixtureResolver::new("skills", skills.collect())),
            json!({}),
        )
        .with(
            Arc::new(FixtureResolver::new("ops", vec![(tool, Behaviour::Echo)])),
            json!({}),
        );
    let session = bench.session(Mode::Auto).await;
    let output = call(
        &session,
        "tool_search",
        json!({"query": "deploy", "limit": 1}),
    )
    .await
    .observation;
    let text = format!("{output:?}");
    assert!(text.contains("mcp__ops__ship"), "{text}");
}

#[tokio::test]
async fn a_search_is_recorded_and_answers_within_its_bounds() {
    let many = (0..400).map(|n| {
        let mut it = fixture_tool(&format!("mcp__big__list_{n} reads"));
        it.description = format!(
            "Lists things of sort {n}: {}",
            "very long words ".repeat(200)
        );
        (it, Behaviour::Echo)
    });
    let bench = Bench::default().with(
        Arc::new(FixtureResolver::new("big", many.collect())),
        json!({}),
    );
    let market = bench.market();
    let session = bench.session_on(&market, Mode::Auto).await;
    let observation = call(
        &session,
        "tool_search",
        json!({"query": "list things", "limit": 20}),
    )
    .await
    .observation;
    let text = match &observation {
        ambit_core::observation::Observation::Completed(it) => it
            .output
            .content
            .iter()
            .filter_map(|it| it.as_text())
            .collect::<String>(),
        other => panic!("{other:?}"),
    };
    assert!(ambit_runtime::tokens::count(&text) <= 1_100, "{text}");
    let found = events(&market, &session)
        .await
        .into_iter()
        .find_map(|it| match it.body {
            EventBody::SearchPerformed {
                query, candidates, ..
            } => Some((query, candidates)),
            _ => None,
        });
    let (query, candidates) = found.unwrap();
    assert_eq!(query, "list things");
    assert!(!candidates.is_empty() && candidates.len() <= 20);
}

#[tokio::test]
async fn odd_queries_have_clear_outcomes() {
    let world = World::new();
    let (_, session) = open(&world, Mode::Auto).await;
    let outcome = async |query: String| {
        let observation = call(&session, "tool_search", json!({"query": query}))
            .await
            .observation;
        observation.code().map_or("completed", |it| it.as_str())
    };
    for (query, ends) in [
        (String::new(), "input_invalid"),
        ("x".repeat(2_001), "input_invalid"),
        ("issue ".repeat(300), "completed"),
        (" \t\n".to_owned(), "completed"),
        ("\u{0}\u{1b}[31m\u{7f}".to_owned(), "completed"),
        ("\u{202e}eussi teg\u{2066}\u{200b}".to_owned(), "completed"),
        ("…;--' OR 1=1 \"*\" AND (".to_owned(), "completed"),
    ] {
        let head: String = query.chars().take(20).collect();
        assert_eq!(outcome(query).await, ends, "{head:?}");
    }
}
