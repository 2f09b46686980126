//! What a call leaves in the journal, in which order and because of what; and what happens to
//! calls when the journal fails.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;
use std::sync::Arc;

use ambit_core::code::Code;
use ambit_core::event::EventBody;
use ambit_core::observation::Output;
use ambit_core::permission::{Answer, Mode};
use ambit_runtime::journal::{Event, EventFilter, Journal};
use ambit_runtime::replay::replay;
use ambit_testkit::{Answers, Behaviour, Bench, FixtureResolver, call, events, fixture_tool};
use expect_test::{Expect, expect};
use serde_json::json;

const TOOLS: &str = "
    local__kit__read   reads
    local__kit__write  writes";

fn kit() -> Arc<FixtureResolver> {
    Arc::new(FixtureResolver::lines("kit", TOOLS, &Behaviour::Echo))
}

/// One line per event: its number, its type, and the number of what caused it.
fn lines(events: &[Event]) -> String {
    let line = |it: &Event| {
        let cause = it.cause.map(|it| format!(" <- {it}")).unwrap_or_default();
        format!("{} {}{cause}\n", it.seq, it.body.type_name())
    };
    events.iter().map(line).collect()
}

/// The events of a session in which these calls were made, a person saying yes once.
async fn check(targets: &[&str], expected: Expect) {
    let bench = Bench::default()
        .with(kit(), json!({}))
        .asking(Arc::new(Answers::new([Answer::Once])));
    let market = bench.market();
    let session = bench.session_on(&market, Mode::Ask).await;
    let mut reports = Vec::new();
    for target in targets {
        reports.push(call(&session, target, json!({})).await);
    }
    let events = events(&market, &session).await;
    expected.assert_eq(&lines(&events));
    for report in reports {
        let (first, last) = &report.recorded;
        let (from, to) = (first.range().unwrap().0, last.range().unwrap().1);
        for event in &events {
            let own = (from..=to).contains(&event.seq);
            let call = event.correlation.as_deref() == Some(report.call.0.as_str());
            assert_eq!(own, call, "the report says where its events are: {event:?}");
        }
    }
}

#[tokio::test]
async fn events_come_in_order_and_each_from_the_one_before() {
    check(
        &["kit__read"],
        expect![[r#"
        1 session.started
        2 turn.started
        3 capability.diff
        4 tool.intent
        5 tool.validation <- 4
        6 tool.permission <- 5
        7 tool.started <- 6
        8 tool.observation <- 7
    "#]],
    )
    .await;
    check(
        &["kit__write"],
        expect![[r#"
        1 session.started
        2 turn.started
        3 capability.diff
        4 tool.intent
        5 tool.validation <- 4
        6 tool.permission <- 5
        7 approval.requested <- 6
        8 approval.decided <- 7
        9 tool.started <- 8
        10 tool.observation <- 9
    "#]],
    )
    .await;
    check(
        &["kit__nothing"],
        expect![[r#"
        1 session.started
        2 turn.started
        3 capability.diff
        4 tool.intent
        5 capability.refused <- 4
        6 tool.observation <- 5
    "#]],
    )
    .await;
    check(
        &["kit__write", "kit__write"],
        expect![[r#"
        1 session.started
        2 turn.started
        3 capability.diff
        4 tool.intent
        5 tool.validation <- 4
        6 tool.permission <- 5
        7 approval.requested <- 6
        8 approval.decided <- 7
        9 tool.started <- 8
        10 tool.observation <- 9
        11 tool.intent
        12 tool.validation <- 11
        13 tool.permission <- 12
        14 approval.requested <- 13
        15 approval.decided <- 14
        16 tool.observation <- 15
    "#]],
    )
    .await;
}

/// Before anything happens to the world it is on disk that it was about to.
#[tokio::test]
async fn an_effect_finds_its_own_start_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let (journal, _) = Journal::open(&path).unwrap();
    let file = path.clone();
    let looks = Behaviour::does(move |arguments| {
        let reader = Journal::open_read_only(&file).unwrap();
        let last = reader
            .events(&EventFilter::default())
            .unwrap()
            .pop()
            .unwrap();
        let EventBody::ToolStarted { id, call, .. } = last.body else {
            panic!("{last:?}")
        };
        assert_eq!(id.as_str(), "local__kit__write");
        assert_eq!(reader.verify().unwrap().unfinished.len(), 1);
        Ok(Output::text(format!("{} {arguments}", call.0)))
    });
    let kit = FixtureResolver::new(
        "kit",
        vec![(fixture_tool("local__kit__write writes"), looks)],
    );
    let bench = Bench::default()
        .with(Arc::new(kit), json!({}))
        .journal(journal);
    let session = bench.session(Mode::Auto).await;
    for n in 0..3 {
        let report = call(&session, "kit__write", json!({ "n": n })).await;
        let shown = format!("{:?}", report.observation);
        assert!(shown.contains(&report.call.0), "{shown}");
        // The end is written before the caller is told.
        assert!(report.recorded.1.range().is_some());
    }
}

fn execute(path: &Path, sql: &str) {
    rusqlite::Connection::open(path)
        .unwrap()
        .execute_batch(sql)
        .unwrap();
}

/// No record, no effect. A read changes nothing, so it goes on; its receipts say that it is not
/// on record.
#[tokio::test]
async fn a_journal_that_fails_stops_effects() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let (journal, _) = Journal::open(&path).unwrap();
    let kit = kit();
    let bench = Bench::default()
        .with(kit.clone(), json!({}))
        .journal(journal.clone());
    let market = bench.market();
    let session = bench.session_on(&market, Mode::Auto).await;
    journal.flush().await.unwrap();

    execute(&path, "ALTER TABLE events RENAME TO away");
    for _ in 0..2 {
        let write = call(&session, "kit__write", json!({})).await;
        assert_eq!(write.observation.code(), Some(Code::JournalUnavailable));
        assert!(write.observation.reason().unwrap().contains("nothing ran"));
    }
    assert_eq!(kit.executed(), 0);
    session.begin_turn(&Default::default());
    let read = call(&session, "kit__read", json!({})).await;
    assert_eq!(read.observation.code(), None);
    assert!(read.recorded.0.written().await.is_err());
    assert!(read.recorded.1.written().await.is_err());
    assert!(journal.flush().await.is_err());

    // Once it works again so does everything, and what could not be stored is stored now.
    execute(&path, "ALTER TABLE away RENAME TO events");
    session.begin_turn(&Default::default());
    for tool in ["kit__write", "kit__read"] {
        let report = call(&session, tool, json!({})).await;
        assert_eq!(report.observation.code(), None, "{tool}");
    }
    let events = events(&market, &session).await;
    let reader = journal.reader().unwrap();
    let report = replay(&events, |digest| reader.object(digest).unwrap());
    assert_eq!((report.differences, report.unverifiable), (vec![], vec![]));
    assert_eq!(reader.verify().unwrap().damage, None);
}

/// The next turn sees a new catalog; what changed is on record with the turn that saw it.
#[tokio::test]
async fn a_turn_records_what_changed_since_the_last() {
    let bench = Bench::default().with(kit(), json!({}));
    let market = bench.market();
    let session = bench.session_on(&market, Mode::Ask).await;
    session.begin_turn(&Default::default());
    market.offer("local:kit", vec![fixture_tool("local__kit__read reads")]);
    market.offer("local:new", vec![fixture_tool("local__new__thing reads")]);
    session.begin_turn(&Default::default());
    let events = events(&market, &session).await;
    expect![[r#"
        1 session.started
        2 turn.started
        3 capability.diff
        4 turn.started
        5 capability.diff
        6 catalog.changed
        7 catalog.changed
        8 turn.started
        9 capability.diff
    "#]]
    .assert_eq(&lines(&events));
    let EventBody::CapabilityDiff { diff, .. } = &events.last().unwrap().body else {
        panic!()
    };
    assert!(diff.added.is_empty(), "`new` was not granted");
    assert_eq!(diff.removed[0].id.as_str(), "local__kit__write");
}
