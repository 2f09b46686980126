//! The decision table of the pipeline: every state and every fact.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::catalog::{CatalogSnapshot, SourceSnapshot};
use crate::descriptor::{CapabilityDescriptor, TokenCosts};
use crate::digest::Digest;
use crate::fixture::manifest;
use crate::gate::ApprovalDecision;
use crate::intent::{CallId, ToolIntent};
use crate::loaded::LoadedCapability;
use crate::observation::{Output, ResultRef};
use crate::permission::{Answer, Mode, PermissionInput};
use crate::policy::select;
use crate::redact::Redactor;
use crate::turn::TurnInput;
use crate::visible::VisibleSet;

struct World {
    capability: Arc<LoadedCapability>,
    visible: VisibleSet,
    permission: PermissionInput,
    limits: CallLimits,
    redactor: Redactor,
}

impl World {
    /// One capability, granted, in a mode. It wants `{"n": integer}` and promises `{"ok": boolean}`.
    fn new(line: &str, mode: Mode) -> Self {
        let mut manifest = manifest(line);
        manifest.input_schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        manifest.output_schema = Some(json!({"type": "object", "required": ["ok"]}));
        let descriptor = CapabilityDescriptor::new(&manifest, "local:x", TokenCosts::default());
        let source = SourceSnapshot {
            source: "local:x".into(),
            descriptors: vec![Arc::new(descriptor.clone())],
            unavailable: None,
            quarantined: Default::default(),
        };
        let (catalog, _) = CatalogSnapshot::default().with_source(source);
        let granted = [descriptor.id.clone()].into_iter().collect();
        World {
            visible: select(
                &catalog,
                &granted,
                &TurnInput {
                    mode,
                    ..Default::default()
                },
            ),
            capability: Arc::new(
                LoadedCapability::new(descriptor.into(), manifest.into()).unwrap(),
            ),
            permission: PermissionInput {
                mode,
                ..Default::default()
            },
            limits: CallLimits {
                result_bytes: 64,
                ..Default::default()
            },
            redactor: Redactor::new(["the-known-secret"]),
        }
    }

    fn policy(&self) -> CallPolicy<'_> {
        CallPolicy {
            limits: &self.limits,
            redactor: &self.redactor,
        }
    }

    fn begin(&self, target: &str, arguments: Value) -> Step {
        let intent = ToolIntent {
            call: CallId("c1".into()),
            target: target.into(),
            via: None,
            arguments,
        };
        begin(
            intent,
            1,
            &self.visible,
            Some(Arc::clone(&self.capability)),
            &self.permission.clone().into(),
            &self.policy(),
        )
    }

    fn advance(&self, state: CallState, fact: Fact) -> Step {
        advance(state, fact, &self.policy())
    }

    /// A fresh call, brought to a state.
    fn at(&self, state: &str) -> CallState {
        let mut step = self.begin("local__x__w", json!({}));
        while step.state.name() != state {
            let fact = match &step.state {
                CallState::Asking(pending) => approval(pending.digest(), Answer::Once),
                CallState::BeforeHooks(_) | CallState::AfterHooks(..) => {
                    Fact::HooksPassed { notes: vec![] }
                }
                CallState::Starting(_) => Fact::StartRecorded,
                CallState::Executing(_) if state == "storing" => executed(&"x".repeat(200)),
                CallState::Executing(_) => executed("fine"),
                CallState::Storing(..) => Fact::ResultStored(ResultRef("r1".into())),
                CallState::Done => panic!("passed {state}"),
            };
            step = self.advance(step.state, fact);
        }
        step.state
    }
}

fn approval(call: Digest, answer: Answer) -> Fact {
    Fact::Approval(ApprovalDecision { call, answer })
}

fn executed(text: &str) -> Fact {
    let output = Output::text(text).with_structured(json!({"ok": true}));
    Fact::Executed {
        result: Ok(output),
        elapsed: std::time::Duration::from_millis(7),
    }
}

/// Where a step leads, in one word: the next state, or how the call ended.
fn outcome(step: &Step) -> String {
    match &step.effect {
        Some(Effect::Observe(observation)) => match observation.code() {
            Some(code) => format!("{}:{}", observation.status(), code.as_str()),
            None => observation.status().to_owned(),
        },
        Some(_) => step.state.name().to_owned(),
        None => "nothing".to_owned(),
    }
}

type MakeFact = fn(Digest) -> Fact;

fn facts() -> Vec<(&'static str, MakeFact)> {
    vec![
        ("approved", |digest| approval(digest, Answer::Once)),
        ("denied", |digest| approval(digest, Answer::Deny)),
        ("approved-other", |_| approval(Digest::ZERO, Answer::Always)),
        ("nobody", |_| Fact::NobodyToAsk {
            how: "run `ambit approvals`".into(),
        }),
        ("no-answer", |_| Fact::ApprovalTimedOut),
        ("hooks-passed", |_| Fact::HooksPassed {
            notes: vec!["seen".into()],
        }),
        ("hook-refused", |_| {
            Fact::HookRefused(Denial::new(Code::HookRefused, "no"))
        }),
        ("recorded", |_| Fact::StartRecorded),
        ("record-failed", |_| Fact::RecordFailed {
            why: "disk full".into(),
        }),
        ("executed", |_| executed("fine")),
        ("executed-large", |_| executed(&"x".repeat(200))),
        ("executed-unfit", |_| Fact::Executed {
            result: Ok(Output::text("x")),
            elapsed: Default::default(),
        }),
        ("executed-failed", |_| Fact::Executed {
            result: Err(Failure::provider("boom")),
            elapsed: Default::default(),
        }),
        ("deadline", |_| Fact::DeadlineExceeded {
            limit: Duration::from_secs(1),
            elapsed: Duration::from_secs(3),
        }),
        ("cancelled", |_| Fact::Cancelled),
        ("stored", |_| Fact::ResultStored(ResultRef("r1".into()))),
        ("store-failed", |_| Fact::StoreFailed {
            why: "disk full".into(),
        }),
    ]
}

/// Every state × fact pair that means something; all others are `failed:internal`, and nothing
/// happens after the end.
const TABLE: &str = "
asking        approved         before-hooks
asking        denied           denied:approval_denied
asking        approved-other   denied:approval_mismatch
asking        nobody           denied:approval_pending
asking        no-answer        denied:approval_timed_out
before-hooks  hooks-passed     starting
before-hooks  hook-refused     denied:hook_refused
starting      recorded         executing
starting      record-failed    denied:journal_unavailable
executing     executed         after-hooks
executing     executed-large   after-hooks
executing     executed-unfit   failed:output_invalid
executing     executed-failed  failed:provider_failed
executing     deadline         failed:deadline_exceeded
after-hooks   hooks-passed     completed
after-hooks   hook-refused     denied:hook_refused
storing       stored           completed
storing       store-failed     denied:journal_unavailable
";

#[test]
fn every_state_and_fact_has_its_outcome() {
    let world = World::new("local__x__w writes", Mode::Ask);
    let mut pairs = 0;
    for state in [
        "asking",
        "before-hooks",
        "starting",
        "executing",
        "after-hooks",
        "storing",
        "done",
    ] {
        for (name, fact) in facts() {
            let start = world.at(state);
            let digest = match &start {
                CallState::Asking(pending) => pending.digest(),
                _ => Digest::ZERO,
            };
            let step = world.advance(start, fact(digest));
            let listed = TABLE.lines().find_map(|line| {
                let mut words = line.split_whitespace();
                (words.next() == Some(state) && words.next() == Some(name))
                    .then(|| words.next().unwrap())
            });
            let expected = match (state, name) {
                ("done", _) => "nothing",
                (_, "cancelled") => "failed:cancelled",
                _ => listed.unwrap_or("failed:internal"),
            };
            assert_eq!(outcome(&step), expected, "{state} × {name}");
            let ended = matches!(step.effect, Some(Effect::Observe(_)));
            let recorded = step
                .events
                .iter()
                .any(|it| matches!(it, EventBody::ToolObservation(_)));
            assert_eq!(
                ended, recorded,
                "an end and only an end is observed: {state} × {name}"
            );
            pairs += 1;
        }
    }
    assert_eq!(pairs, 7 * 17);
}

#[track_caller]
fn begins(line: &str, mode: Mode, target: &str, arguments: Value, expected: &str) {
    assert_eq!(
        outcome(&World::new(line, mode).begin(target, arguments)),
        expected,
        "{line} {mode:?} {target}"
    );
}

#[test]
fn both_gates_are_asked_in_order() {
    begins(
        "local__x__r reads",
        Mode::Ask,
        "local__x__r",
        json!({"n": 1}),
        "before-hooks",
    );
    begins(
        "local__x__r reads",
        Mode::Ask,
        "x__r",
        json!({}),
        "before-hooks",
    );
    begins(
        "local__x__w writes",
        Mode::Ask,
        "local__x__w",
        json!({}),
        "asking",
    );
    begins(
        "local__x__w writes",
        Mode::Auto,
        "local__x__w",
        json!({}),
        "before-hooks",
    );
    begins(
        "local__x__w writes",
        Mode::Ask,
        "local__x__w",
        json!({"n": "no"}),
        "denied:input_invalid",
    );
    begins(
        "local__x__w writes",
        Mode::Ask,
        "local__x__w",
        json!([1]),
        "denied:input_invalid",
    );
}

#[test]
fn what_is_hidden_looks_like_what_does_not_exist() {
    let hidden = World::new("local__x__w writes", Mode::ReadOnly);
    let answers: Vec<_> = [
        ("local__x__w", json!({"n": "bad"})),
        ("local__x__w", json!({})),
        ("local__x__none", json!({})),
        ("none", json!({})),
    ]
    .into_iter()
    .map(|(target, arguments)| {
        let step = hidden.begin(target, arguments);
        let Some(Effect::Observe(Observation::Denied(denial))) = &step.effect else {
            panic!("{step:?}")
        };
        (denial.code, denial.reason.replace(target, "T"))
    })
    .collect();
    assert!(answers.iter().all(|it| *it == answers[0]), "{answers:?}");
    // The journal knows better than the caller.
    let step = hidden.begin("local__x__w", json!({}));
    assert!(matches!(
        &step.events[1],
        EventBody::CapabilityRefused { why: Some(_), .. }
    ));
}

#[test]
fn secrets_reach_neither_caller_nor_journal() {
    let world = World::new("local__x__r reads", Mode::Ask);
    let mut step = world.begin(
        "x__r",
        json!({"n": 1, "password": "p1", "note": "the-known-secret"}),
    );
    let mut text = format!("{:?}", step.events);
    for fact in [
        Fact::HooksPassed { notes: vec![] },
        Fact::StartRecorded,
        executed("got the-known-secret here"),
        Fact::HooksPassed { notes: vec![] },
    ] {
        step = world.advance(step.state, fact);
        text.push_str(&format!("{:?}", step.events));
    }
    let Some(Effect::Observe(Observation::Completed(completed))) = &step.effect else {
        panic!()
    };
    assert_eq!(
        completed.output.content[0].as_text(),
        Some("got [redacted] here")
    );
    assert!(
        !text.contains("the-known-secret") && !text.contains("p1"),
        "{text}"
    );
}

#[test]
fn large_results_are_cut_with_a_reference_and_structure_is_not_torn() {
    let world = World::new("local__x__w writes", Mode::Auto);
    let step = world.advance(
        world.at("storing"),
        Fact::ResultStored(ResultRef("r1".into())),
    );
    let Some(Effect::Observe(Observation::Completed(completed))) = step.effect else {
        panic!()
    };
    assert_eq!(completed.result_ref, Some(ResultRef("r1".into())));
    assert_eq!(completed.output.structured, None);
    assert_eq!(completed.output.content[0].as_text().unwrap().len(), 64);
    assert!(
        completed.output.content[1]
            .as_text()
            .unwrap()
            .contains("r1")
    );
}

#[test]
fn an_approval_is_bound_to_the_exact_call() {
    let world = World::new("local__x__w writes", Mode::Ask);
    let digest = |arguments| match world.begin("x__w", arguments).state {
        CallState::Asking(pending) => pending.digest(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        digest(json!({"n": 1, "a": 2})),
        digest(json!({"a": 2, "n": 1}))
    );
    assert_ne!(digest(json!({"n": 1})), digest(json!({"n": 2})));
    let mut other = World::new("local__x__w writes", Mode::Ask);
    other.permission.rules = crate::permission::Rules::new([crate::permission::Rule {
        verdict: crate::permission::Verdict::Ask,
        subject: "writes".parse().unwrap(),
    }]);
    let CallState::Asking(pending) = other.begin("x__w", json!({"n": 1})).state else {
        panic!()
    };
    assert_ne!(
        pending.digest(),
        digest(json!({"n": 1})),
        "another policy is another question"
    );
}
