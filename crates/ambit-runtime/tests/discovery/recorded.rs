//! A long session recomputed from its journal: every turn's set, byte for byte.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_core::observation::Failure;
use ambit_core::permission::Mode;
use ambit_core::visible::VisibleSet;
use ambit_runtime::discovery::TurnRequest;
use ambit_runtime::replay::{replay, turns};
use ambit_testkit::{Behaviour, Bench, FixtureResolver, call, events, fixture_tool};
use serde_json::json;

use crate::support::{id, source};

fn bench() -> Bench {
    let pack = |key: &str, lines: &str, behaviour| {
        Arc::new(FixtureResolver::lines(key, lines, &behaviour))
    };
    Bench::default()
        .with(
            pack(
                "gh",
                "mcp__gh__get_issue reads\nmcp__gh__close_issue writes",
                Behaviour::says("job 7 failed, see its log"),
            ),
            json!({}),
        )
        .with(
            pack(
                "ci",
                "mcp__ci__job_log reads",
                Behaviour::Fails(Failure::provider("no")),
            ),
            json!({}),
        )
        .with(
            pack(
                "skills",
                "skill__review reads\nskill__deploy reads",
                Behaviour::says("How to review."),
            ),
            json!({}),
        )
        .with(
            pack("notes", "local__notes__read_note reads", Behaviour::Echo),
            json!({}),
        )
}

#[tokio::test]
async fn twenty_turns_replay_byte_for_byte() {
    let bench = bench();
    let market = bench.market();
    let mut spec = bench.spec(Mode::Auto);
    spec.discovery.budget = Some(900);
    spec.discovery.pins = [id("local__notes__read_note")].into();
    let session = market.open_session(spec).await.unwrap();
    let goals = [
        "fix the issue",
        "",
        "review the change",
        "deploy",
        "why did the job fail",
    ];
    let mut live: BTreeMap<u32, Arc<VisibleSet>> = BTreeMap::new();
    for n in 1..=20_u32 {
        let request = TurnRequest {
            goal: goals[n as usize % goals.len()].to_owned(),
            touched: (n % 3 == 0)
                .then(|| "src/main.rs".to_owned())
                .into_iter()
                .collect(),
            evidence: (n % 4 == 0)
                .then(|| "job log".to_owned())
                .into_iter()
                .collect(),
            budget: (n % 7 == 0).then_some(150),
            ..TurnRequest::default()
        };
        live.insert(n, session.begin_turn(&request));
        match n % 5 {
            0 => drop(call(&session, "tool_search", json!({"query": "close the issue"})).await),
            1 => drop(call(&session, "gh__get_issue", json!({})).await),
            2 => drop(call(&session, "load_skill", json!({"name": "review"})).await),
            3 => drop(call(&session, "ci__job_log", json!({})).await),
            _ => drop(call(&session, "nothing", json!({})).await),
        }
        match n {
            6 => source(&market, "mcp:gh", Some("exited")),
            9 => source(&market, "mcp:gh", None),
            12 => market.offer("mcp:gh", vec![fixture_tool("mcp__gh__get_issue reads")]),
            15 => market.offer("mcp:new", vec![fixture_tool("mcp__new__thing reads")]),
            _ => {}
        }
    }
    let recorded = events(&market, &session).await;
    let reader = market.journal().reader().unwrap();
    let object = |digest: &_| reader.object(digest).unwrap();
    let report = replay(&recorded, object);
    assert_eq!((report.turns, report.calls), (20, 20));
    assert_eq!(report.differences, []);
    assert_eq!(report.unverifiable, []);

    let again = turns(&recorded, object);
    let bytes = |sets: &BTreeMap<u32, Arc<VisibleSet>>| -> Vec<String> {
        sets.values()
            .map(|it| serde_json::to_string(it.entries()).unwrap())
            .collect()
    };
    assert_eq!(bytes(&live), bytes(&again));
    for (number, set) in &live {
        assert_eq!(set.hidden(), again[number].hidden(), "turn {number}");
    }
    assert!(
        bytes(&live).windows(2).any(|it| it[0] != it[1]),
        "something changed on the way"
    );
}
