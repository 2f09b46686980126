//! A session goes on where it was: with what it had seen and heard, in the bounds of now.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;

use ambit_core::observation::Failure;
use ambit_core::permission::{Answer, Mode};
use ambit_core::projection::ToolFormat;
use ambit_runtime::discovery::TurnRequest;
use ambit_runtime::journal::Journal;
use ambit_runtime::replay::replay;
use ambit_runtime::resume::ResumeError;
use ambit_runtime::session::SessionSpec;
use ambit_testkit::{Answers, Behaviour, Bench, FixtureResolver, call, events, fixture_tool};
use serde_json::json;

fn bench(journal: &Journal, answers: &[Answer]) -> Bench {
    let echo = |line| (fixture_tool(line), Behaviour::Echo);
    let broken = Behaviour::Fails(Failure::provider("broken"));
    let local = vec![
        echo("local__kit__read reads"),
        echo("local__kit__write reads writes"),
        (fixture_tool("local__kit__break reads"), broken),
    ];
    let outside = vec![
        echo("ext__web__look reads open-world"),
        echo("ext__web__send writes egress"),
    ];
    Bench::default()
        .journal(journal.clone())
        .asking(Arc::new(Answers::new(answers.iter().copied())))
        .with(Arc::new(FixtureResolver::new("kit", local)), json!({}))
        .with(Arc::new(FixtureResolver::new("web", outside)), json!({}))
}

fn request(goal: &str) -> TurnRequest {
    TurnRequest {
        goal: goal.to_owned(),
        ..TurnRequest::default()
    }
}

#[tokio::test]
async fn a_session_goes_on_with_what_it_knew() {
    let journal = Journal::in_memory().unwrap();
    let before = bench(&journal, &[Answer::Session]);
    let session = before.session(Mode::Ask).await;
    session.begin_turn(&request("write it down"));
    for (target, ends) in [
        ("local__kit__read", "completed"),
        ("local__kit__write", "completed"),
        ("local__kit__break", "failed"),
        ("ext__web__look", "completed"),
    ] {
        let report = call(&session, target, json!({})).await;
        assert_eq!(report.observation.status(), ends, "{target}");
    }
    let (id, visible) = (session.id().clone(), session.visible());
    drop(session);

    let after = bench(&journal, &[Answer::Once]);
    let market = after.market();
    let past = market.past(&id).await.unwrap();
    assert_eq!((past.agent.as_str(), past.turn), ("tester", 2));
    assert!(past.taint.is_full(), "{:?}", past.taint);
    let called: Vec<&str> = past.heard.called.iter().map(|it| it.name()).collect();
    assert_eq!(called, ["look", "read", "write"]);
    let failures: Vec<_> = past.heard.failures.values().copied().collect();
    assert_eq!(failures, [1]);
    let ended = past.calls.values().filter(|it| it.ended.is_some()).count();
    assert_eq!(ended, 4);

    let session = market.resume_session(after.spec(Mode::Ask), &id);
    let session = session.await.unwrap();
    assert_eq!(session.id(), &id);
    let ids = |set: &ambit_core::visible::VisibleSet| {
        set.entries()
            .iter()
            .map(|it| it.id.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        ids(&session.visible()),
        ids(&visible),
        "its last turn holds"
    );
    // What was allowed is asked about anew: it may have been taken back.
    for (target, code) in [
        ("local__kit__write", None),
        ("ext__web__send", Some("approval_pending")),
    ] {
        let report = call(&session, target, json!({})).await;
        let found = report.observation.code().map(|it| it.as_str());
        assert_eq!(found, code, "{target}");
    }
    let turn = session
        .next_turn(&request("look"), ToolFormat::OpenAi)
        .await;
    assert_eq!(turn.turn, 4, "two, one again, and this");
    let recorded = events(&market, &session).await;
    let reader = journal.reader().unwrap();
    let report = replay(&recorded, |digest| reader.object(digest).unwrap());
    assert_eq!((report.differences, report.unverifiable), (vec![], vec![]));
    // Once more, and what was shown is what was shown.
    let again = market.past(&id).await.unwrap();
    assert_eq!(again.turn, 4);
}

#[tokio::test]
async fn bounds_are_those_of_now() {
    let journal = Journal::in_memory().unwrap();
    let session = bench(&journal, &[]).session(Mode::Auto).await;
    let id = session.id().clone();
    drop(session);
    let after = bench(&journal, &[]);
    let market = after.market();
    let session = market.resume_session(after.spec(Mode::ReadOnly), &id);
    let session = session.await.unwrap();
    let report = call(&session, "local__kit__write", json!({})).await;
    assert_eq!(report.observation.status(), "denied");
}

#[tokio::test]
async fn a_turn_narrows_the_mode_and_never_widens_it() {
    for (own, asked, holds) in [
        (Mode::Auto, None, Mode::Auto),
        (Mode::Auto, Some(Mode::ReadOnly), Mode::ReadOnly),
        (Mode::Auto, Some(Mode::Ask), Mode::Ask),
        (Mode::Ask, Some(Mode::Auto), Mode::Ask),
        (Mode::ReadOnly, Some(Mode::Auto), Mode::ReadOnly),
    ] {
        let journal = Journal::in_memory().unwrap();
        let session = bench(&journal, &[]).session(own).await;
        let request = TurnRequest {
            mode: asked,
            ..TurnRequest::default()
        };
        let turn = session.next_turn(&request, ToolFormat::Mcp).await;
        assert_eq!(turn.mode, holds, "{own:?} {asked:?}");
        let report = call(&session, "local__kit__write", json!({})).await;
        let expected = match holds {
            Mode::ReadOnly => Some("not_visible"),
            Mode::Ask => Some("approval_pending"),
            Mode::Auto => None,
        };
        let found = report.observation.code().map(|it| it.as_str());
        assert_eq!(found, expected, "{own:?} {asked:?}");
        // And it holds for that turn only.
        let next = session
            .next_turn(&TurnRequest::default(), ToolFormat::Mcp)
            .await;
        assert_eq!(next.mode, own);
    }
}

#[tokio::test]
async fn not_every_session_can_go_on() {
    let journal = Journal::in_memory().unwrap();
    let bench = bench(&journal, &[]);
    let market = bench.market();
    let session = bench.session_on(&market, Mode::Ask).await;
    let id = session.id().clone();
    let resume = async |spec| market.resume_session(spec, &id).await.err();
    let other = SessionSpec {
        agent: "other".to_owned(),
        ..bench.spec(Mode::Ask)
    };
    let refused = resume(other).await;
    assert!(matches!(refused, Some(ResumeError::OtherAgent { .. })));
    session.end().await.unwrap();
    let refused = resume(bench.spec(Mode::Ask)).await;
    assert!(matches!(refused, Some(ResumeError::Ended(_))));
    let nobody = "nobody".parse().unwrap();
    let unknown = market.resume_session(bench.spec(Mode::Ask), &nobody).await;
    assert!(matches!(unknown.err(), Some(ResumeError::Unknown(_))));
}
