//! Every recorded decision comes out the same when recomputed, and a changed record does not.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_core::digest::Digest;
use ambit_core::effects::Effect;
use ambit_core::event::EventBody;
use ambit_core::permission::{AllowReason, Answer, Mode, PermissionDecision};
use ambit_runtime::journal::Event;
use ambit_runtime::replay::{ReplayReport, replay};
use ambit_testkit::{
    Answers, Behaviour, Bench, FixtureResolver, call, events, fixture_tool, rules,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A session as the journal holds it.
#[derive(Clone)]
struct Recorded {
    events: Vec<Event>,
    objects: BTreeMap<Digest, String>,
}

impl Recorded {
    fn replay(&self) -> ReplayReport {
        replay(&self.events, |digest| self.objects.get(digest).cloned())
    }
}

const TOOLS: &str = "
    local__kit__read   reads
    local__kit__write  writes
    ext__kit__send     reads egress";

/// Each line is a turn, each word a call of that tool; `!` before it gives wrong arguments.
async fn record(bench: &Bench, mode: Mode, turns: &[Vec<String>]) -> Recorded {
    let market = bench.market();
    let session = bench.session_on(&market, mode).await;
    for (index, calls) in turns.iter().enumerate() {
        if index > 0 {
            session.begin_turn(&Default::default());
        }
        for word in calls {
            let (target, arguments) = match word.strip_prefix('!') {
                Some(target) => (target, json!({"n": "one"})),
                None => (word.as_str(), json!({"n": 1})),
            };
            call(&session, target, arguments).await;
        }
    }
    let events = events(&market, &session).await;
    let reader = market.journal().reader().unwrap();
    let named = events.iter().flat_map(|it| match &it.body {
        EventBody::TurnStarted {
            catalog, granted, ..
        } => vec![*catalog, *granted],
        EventBody::ToolValidation { definition, .. } => vec![*definition],
        _ => Vec::new(),
    });
    let objects = named
        .filter_map(|it| Some((it, reader.object(&it).unwrap()?)))
        .collect();
    Recorded { events, objects }
}

/// Tools that want an integer `n`.
fn kit(lines: &str) -> Arc<FixtureResolver> {
    let tools = lines.lines().filter(|it| !it.trim().is_empty());
    let tools = tools.map(|line| {
        let mut tool = fixture_tool(line);
        tool.input_schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        (tool, Behaviour::Echo)
    });
    Arc::new(FixtureResolver::new("kit", tools.collect()))
}

fn words(lines: &[&str]) -> Vec<Vec<String>> {
    let turn = |it: &&str| it.split_whitespace().map(str::to_owned).collect();
    lines.iter().map(turn).collect()
}

async fn session() -> Recorded {
    let kit = kit(TOOLS);
    let bench = Bench::default()
        .with(kit.clone(), json!({}))
        .asking(Arc::new(Answers::new([
            Answer::Once,
            Answer::Deny,
            Answer::Session,
        ])));
    let turns = words(&[
        "kit__read local__kit__write kit__absent !kit__read",
        "",
        "kit__write kit__write kit__write ext__kit__send ext__kit__send kit__read",
    ]);
    let recorded = record(&bench, Mode::Ask, &turns).await;
    let executed = kit.executed();
    assert!(executed >= 4, "{executed}");
    assert_eq!(recorded.replay(), recorded.replay());
    assert_eq!(kit.executed(), executed, "replay executes nothing");
    recorded
}

#[tokio::test]
async fn a_session_replays_as_it_was() {
    let report = session().await.replay();
    assert_eq!((report.turns, report.calls), (3, 10));
    assert_eq!(report.differences, []);
    assert_eq!(report.unverifiable, []);
    assert!(report.reproduced > 20, "{}", report.reproduced);
}

/// What a tampered record shows up as.
#[derive(Debug, PartialEq)]
enum Shows {
    Difference,
    Unverifiable,
}

/// Changes the first event of a type that `change` accepts, and expects the replay to speak up
/// about the first event of type `at` from there on.
#[track_caller]
fn check(recorded: &Recorded, shows: Shows, at: &str, change: impl Fn(&mut EventBody) -> bool) {
    let clean = recorded.replay();
    let mut tampered = recorded.clone();
    let changed = tampered
        .events
        .iter_mut()
        .position(|it| change(&mut it.body))
        .unwrap();
    let expected = tampered.events[changed..]
        .iter()
        .find(|it| it.body.type_name() == at)
        .unwrap()
        .seq;
    let report = tampered.replay();
    let (found, before) = match shows {
        Shows::Difference => (report.differences, clean.differences),
        Shows::Unverifiable => (report.unverifiable, clean.unverifiable),
    };
    let new = found.iter().find(|it| !before.contains(it)).unwrap();
    assert_eq!(new.seq, expected, "{found:?}");
}

#[tokio::test]
async fn a_changed_record_does_not_replay() {
    use EventBody as E;
    use Shows::{Difference, Unverifiable};
    let it = session().await;
    check(&it, Difference, "tool.permission", |body| match body {
        E::ToolPermission { decision, .. } => {
            let allow = AllowReason::Mode;
            *decision = PermissionDecision::Allow { reason: allow };
            true
        }
        _ => false,
    });
    check(&it, Difference, "tool.permission", |body| match body {
        E::ToolPermission {
            input,
            decision: PermissionDecision::Ask { .. },
            ..
        } => {
            Arc::make_mut(input).mode = Mode::Auto;
            true
        }
        _ => false,
    });
    check(&it, Difference, "capability.diff", |body| match body {
        E::CapabilityDiff { visible, .. } => {
            *visible = Digest::ZERO;
            true
        }
        _ => false,
    });
    check(&it, Difference, "capability.diff", |body| match body {
        E::TurnStarted { input, .. } => {
            input.mode = Mode::ReadOnly;
            true
        }
        _ => false,
    });
    check(&it, Difference, "capability.diff", |body| match body {
        E::TurnStarted { input, .. } => {
            input.excludes.insert("local__kit__read".parse().unwrap());
            true
        }
        _ => false,
    });
    check(&it, Difference, "tool.intent", |body| match body {
        E::ToolIntent { id, .. } => {
            *id = Some("local__kit__write".parse().unwrap());
            true
        }
        _ => false,
    });
    check(&it, Difference, "tool.validation", |body| match body {
        E::ToolValidation { problems, .. } if !problems.is_empty() => {
            problems.clear();
            true
        }
        _ => false,
    });
    check(&it, Unverifiable, "tool.validation", |body| match body {
        E::ToolIntent { arguments, .. } => {
            arguments["n"] = 2.into();
            true
        }
        _ => false,
    });
    // Arguments and digest changed together, to something the schema does not take.
    check(&it, Difference, "tool.validation", |body| match body {
        E::ToolIntent {
            arguments, digest, ..
        } => {
            arguments["n"] = "two".into();
            *digest = Digest::of_json(arguments);
            true
        }
        _ => false,
    });
    check(&it, Unverifiable, "turn.started", |body| match body {
        E::TurnStarted { catalog, .. } => {
            *catalog = Digest::ZERO;
            true
        }
        _ => false,
    });
    check(&it, Unverifiable, "turn.started", |body| match body {
        E::TurnStarted { policy, .. } => {
            *policy += 1;
            true
        }
        _ => false,
    });
}

/// An object that is not what its digest says proves nothing.
#[tokio::test]
async fn changed_objects_are_not_believed() {
    let recorded = session().await;
    let clean = recorded.replay();
    for digest in recorded.objects.keys() {
        let mut tampered = recorded.clone();
        let mut object: Value = serde_json::from_str(&tampered.objects[digest]).unwrap();
        let list = match &mut object {
            Value::Array(granted) => Some(granted),
            catalog => catalog.get_mut("entries").and_then(Value::as_array_mut),
        };
        match list {
            Some(list) => {
                list.pop();
            }
            None => object["inputSchema"] = json!({}),
        }
        tampered.objects.insert(*digest, object.to_string());
        let report = tampered.replay();
        assert_eq!(report.differences, [], "{object}");
        assert!(
            report.unverifiable.len() > clean.unverifiable.len(),
            "{object}"
        );
    }
}

/// Turns that begin while calls are made: each call belongs to one turn, whose record precedes it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_and_turns_may_cross() {
    let bench = Bench::default().with(kit(TOOLS), json!({}));
    let market = bench.market();
    let session = Arc::new(bench.session_on(&market, Mode::Ask).await);
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..8 {
        let (session, market) = (Arc::clone(&session), Arc::clone(&market));
        tasks.spawn(async move {
            for turn in 0..40 {
                if n % 2 == 0 {
                    market.offer(
                        "local:more",
                        vec![fixture_tool(&format!("local__more__t{turn} reads"))],
                    );
                    session.begin_turn(&Default::default());
                } else {
                    call(&session, "kit__read", json!({"n": 1})).await;
                }
            }
        });
    }
    tasks.join_all().await;
    let events = events(&market, &session).await;
    let reader = market.journal().reader().unwrap();
    let report = replay(&events, |digest| reader.object(digest).unwrap());
    assert_eq!((report.turns, report.calls), (161, 160));
    assert_eq!((report.differences, report.unverifiable), (vec![], vec![]));
}

fn tool() -> impl Strategy<Value = String> {
    let effects = prop::sample::subsequence(Effect::ALL.to_vec(), 0..=Effect::ALL.len());
    (any::<bool>(), effects).prop_map(|(local, effects)| {
        let source = if local { "local" } else { "ext" };
        let effects: Vec<_> = effects.into_iter().map(Effect::as_str).collect();
        format!("{source} {}", effects.join(" "))
    })
}

fn rule() -> impl Strategy<Value = String> {
    let verdict = prop::sample::select(vec!["allow", "ask", "deny"]);
    let mut subjects: Vec<_> = Effect::ALL
        .iter()
        .map(|it| it.as_str().to_owned())
        .collect();
    subjects.extend((0..4).map(|n| format!("local__kit__t{n}")));
    (verdict, prop::sample::select(subjects)).prop_map(|(verdict, it)| format!("{verdict} {it}"))
}

fn answer() -> impl Strategy<Value = Answer> {
    use Answer::{Always, Deny, Once, Session};
    prop::sample::select(vec![Once, Session, Always, Deny])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever the catalog, mode, rules, answers and calls: what was recorded replays the same.
    #[test]
    fn what_is_recorded_replays(
        tools in prop::collection::vec(tool(), 1..5),
        mode in prop::sample::select(Mode::ALL.to_vec()),
        rule_lines in prop::collection::vec(rule(), 0..4),
        answers in prop::collection::vec(answer(), 0..4),
        turns in prop::collection::vec(
            prop::collection::vec((any::<bool>(), 0usize..5), 0..5), 1..4),
    ) {
        let lines: Vec<_> = tools.iter().enumerate().map(|(n, it)| {
            let (source, effects) = it.split_once(' ').unwrap();
            format!("{source}__kit__t{n} {effects}")
        }).collect();
        let kit = kit(&lines.join("\n"));
        let turns: Vec<Vec<String>> = turns.iter().map(|calls| calls.iter().map(|(fits, n)| {
            let id = lines.get(*n).and_then(|it| it.split_whitespace().next()).unwrap_or("kit__none");
            format!("{}{id}", if *fits { "" } else { "!" })
        }).collect()).collect();
        let bench = Bench::default()
            .with(kit.clone(), json!({}))
            .ruled(rules(&rule_lines.join(",")))
            .asking(Arc::new(Answers::new(answers)));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let recorded = runtime.block_on(record(&bench, mode, &turns));
        let executed = kit.executed();
        let report = recorded.replay();
        prop_assert_eq!(&report.differences, &[]);
        prop_assert!(
            report.unverifiable.iter().all(|it| it.what.starts_with("the definition")),
            "{:?}", report.unverifiable
        );
        prop_assert_eq!(report.turns, turns.len());
        prop_assert_eq!(report.calls, turns.iter().map(Vec::len).sum::<usize>());
        prop_assert_eq!(kit.executed(), executed);
    }
}
