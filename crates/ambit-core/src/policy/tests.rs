//! Selection as a table, and the properties it must never lose.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::catalog::SourceSnapshot;
use crate::diff::VisibleDiff;
use crate::fixture::descriptor;
use crate::id::CapabilityId;
use crate::manifest::ChannelFeature;
use crate::permission::{Mode, Rule, Rules, Verdict};
use crate::quarantine::{Quarantine, QuarantineReason};
use crate::turn::{Asked, Relevance, Shown};
use crate::visible::{Layer, Signal, VisibleReason};
use crate::weights::Weights;

const CATALOG: &str = "
    local__ambit__tool_search  reads
    local__files__edit_file    writes
    local__files__read_file    reads
    mcp__ci__cancel            writes open-world
    mcp__ci__job_log           reads
    mcp__gh__get_issue         reads
    skill__review              reads
    skill__frontend            reads  paths=src/**/*.tsx";

fn catalog_of(lines: &[&str], down: Option<&str>) -> CatalogSnapshot {
    let mut catalog = CatalogSnapshot::default();
    let descriptors: Vec<_> = lines
        .iter()
        .map(|line| {
            let (line, glob) = line.split_once("paths=").unwrap_or((line, ""));
            let mut it = descriptor(line);
            it.hints
                .paths
                .extend((!glob.is_empty()).then(|| glob.trim().to_owned()));
            it
        })
        .collect();
    let sources: std::collections::BTreeSet<String> =
        descriptors.iter().map(|it| it.source.clone()).collect();
    for source in sources {
        let unavailable = (down == Some(source.as_str())).then(|| "exited".to_owned());
        let descriptors = descriptors
            .iter()
            .filter(|it| it.source == source)
            .cloned()
            .map(Arc::new)
            .collect();
        catalog = catalog
            .with_source(SourceSnapshot {
                source,
                descriptors,
                unavailable,
                quarantined: Default::default(),
            })
            .0;
    }
    catalog
}

fn lines() -> Vec<&'static str> {
    CATALOG.lines().filter(|it| !it.trim().is_empty()).collect()
}

fn all(catalog: &CatalogSnapshot) -> Granted {
    catalog.iter().map(|it| it.id.clone()).collect()
}

fn id(text: &str) -> CapabilityId {
    text.parse().unwrap()
}

fn asked(asked: Asked, hits: &[(&str, u32)]) -> Relevance {
    Relevance {
        asked,
        text: String::new(),
        hits: hits
            .iter()
            .map(|(text, score)| (id(text), *score))
            .collect(),
    }
}

/// A turn with a task nothing external fits.
fn directed() -> TurnInput {
    TurnInput {
        relevance: vec![asked(Asked::Goal, &[])],
        ..Default::default()
    }
}

#[track_caller]
fn check(catalog: &CatalogSnapshot, turn: &TurnInput, expected: &str) -> VisibleSet {
    let visible = select(catalog, &all(catalog), turn);
    let names: Vec<_> = visible.entries().iter().map(|it| it.id.as_str()).collect();
    assert_eq!(
        names.join(" "),
        expected.split_whitespace().collect::<Vec<_>>().join(" ")
    );
    assert_eq!(
        visible.entries().len() + visible.hidden().len(),
        catalog.len(),
        "everything has an answer"
    );
    visible
}

#[test]
fn without_a_direction_all_that_may_be_is_visible() {
    let catalog = catalog_of(&lines(), None);
    let reads = "local__ambit__tool_search local__files__read_file mcp__ci__job_log mcp__gh__get_issue skill__frontend skill__review";
    check(
        &catalog,
        &TurnInput {
            mode: Mode::ReadOnly,
            ..Default::default()
        },
        reads,
    );
    check(
        &catalog_of(&lines(), Some("mcp:ci")),
        &TurnInput::default(),
        "local__ambit__tool_search local__files__edit_file local__files__read_file mcp__gh__get_issue skill__frontend skill__review",
    );
}

#[test]
fn with_a_direction_only_what_something_speaks_for() {
    let catalog = catalog_of(&lines(), None);
    let base =
        "local__ambit__tool_search local__files__edit_file local__files__read_file skill__review";
    check(&catalog, &directed(), base);
    let mut turn = directed();
    turn.relevance.push(asked(
        Asked::Evidence,
        &[("mcp__gh__get_issue", 50), ("mcp__ci__job_log", 10)],
    ));
    let visible = check(
        &catalog,
        &turn,
        "local__ambit__tool_search mcp__gh__get_issue mcp__ci__job_log local__files__edit_file local__files__read_file skill__review",
    );
    let issue = &visible.entries()[1];
    assert_eq!(
        issue.reasons,
        [VisibleReason {
            signal: Signal::Evidence,
            weight: 60
        }]
    );
    assert_eq!(
        visible.entries()[2].reasons[0].weight,
        12,
        "in proportion to the best hit"
    );

    turn.touched.insert("src/a/b.tsx".into());
    let visible = select(&catalog, &all(&catalog), &turn);
    assert!(visible.find("skill__frontend").is_some());
}

#[test]
fn what_was_visible_stays_in_its_place() {
    let catalog = catalog_of(&lines(), None);
    let mut turn = directed();
    turn.previous = [
        "mcp__gh__get_issue",
        "skill__review",
        "local__ambit__tool_search",
    ]
    .map(|it| Shown {
        id: id(it),
        layer: Layer::Full,
    })
    .to_vec();
    turn.candidates.insert(id("mcp__ci__job_log"));
    check(
        &catalog,
        &turn,
        "mcp__gh__get_issue skill__review local__ambit__tool_search mcp__ci__job_log local__files__edit_file local__files__read_file",
    );
}

#[test]
fn what_was_read_in_full_stays_in_full_beside_something_stronger() {
    let catalog = catalog_of(&lines(), None);
    let shown = |it: &str| Shown {
        id: id(it),
        layer: Layer::Full,
    };
    // Room for two in full, the injection among them, and the lines of the rest.
    let mut turn = TurnInput {
        budget: Some(240),
        previous: vec![
            shown("local__ambit__tool_search"),
            shown("local__files__read_file"),
        ],
        ..directed()
    };
    let full = |turn: &TurnInput| -> Vec<String> {
        let visible = select(&catalog, &all(&catalog), turn);
        let entries = visible
            .entries()
            .iter()
            .filter(|it| it.layer == Layer::Full);
        entries.map(|it| it.id.name().to_owned()).collect()
    };
    turn.relevance = vec![asked(Asked::Goal, &[("mcp__gh__get_issue", 9)])];
    assert_eq!(
        full(&turn),
        ["tool_search", "read_file"],
        "a better hit waits"
    );
    turn.candidates.insert(id("mcp__gh__get_issue"));
    assert_eq!(
        full(&turn),
        ["tool_search", "get_issue"],
        "what was asked for does not"
    );
}

#[test]
fn failures_count_from_the_third_on() {
    let catalog = catalog_of(&lines(), None);
    for (failures, hidden) in [(2, None), (3, Some(HiddenReason::Failing { failures: 3 }))] {
        let mut turn = directed();
        turn.failures
            .insert(id("local__files__read_file"), failures);
        let visible = select(&catalog, &all(&catalog), &turn);
        assert_eq!(
            visible.hidden_reason(&id("local__files__read_file")),
            hidden.as_ref()
        );
    }
}

#[test]
fn reasons_to_hide() {
    let mut with_channel = descriptor("local__media__send reads");
    with_channel.needs.insert(ChannelFeature::SendFiles);
    let catalog = catalog_of(&lines(), None);
    let (catalog, _) = catalog.with_source(SourceSnapshot {
        source: "local:media".into(),
        descriptors: vec![with_channel.into()],
        unavailable: None,
        quarantined: Default::default(),
    });
    let held = Quarantine {
        reason: QuarantineReason::Changed,
        diff: String::new(),
    };
    let (catalog, _) = catalog.with_source(SourceSnapshot {
        source: "mcp:db".into(),
        descriptors: vec![descriptor("mcp__db__query reads").into()],
        unavailable: Some("held comes first".into()),
        quarantined: [(id("mcp__db__query"), held)].into(),
    });
    let mut turn = directed();
    turn.excludes.insert(id("skill__review"));
    turn.mode = Mode::ReadOnly;
    turn.rules = Rules::new([Rule {
        verdict: Verdict::Deny,
        subject: "mcp__gh__get_issue".parse().unwrap(),
    }]);
    turn.limit = Some(2);
    let mut granted: Vec<CapabilityId> = catalog.iter().map(|it| it.id.clone()).collect();
    granted.retain(|it| it.as_str() != "mcp__ci__job_log");
    let visible = select(&catalog, &granted.into_iter().collect(), &turn);
    for (id_text, word) in [
        ("local__media__send", "channelCannot"),
        ("skill__review", "excluded"),
        ("mcp__db__query", "quarantined"),
        ("mcp__ci__cancel", "modeForbids"),
        ("mcp__ci__job_log", "notGranted"),
        ("mcp__gh__get_issue", "ruleForbids"),
        ("skill__frontend", "notRelevant"),
    ] {
        assert_eq!(
            visible
                .hidden_reason(&id(id_text))
                .map(HiddenReason::as_str),
            Some(word),
            "{id_text}"
        );
    }
}

#[test]
fn a_small_budget_gives_thinner_layers_then_fewer_entries() {
    let catalog = catalog_of(&lines(), None);
    for (budget, layers) in [
        (0, ""),
        (10, "index"),
        (130, "full index index"),
        (145, "full card index"),
    ] {
        let turn = TurnInput {
            budget: Some(budget),
            limit: Some(3),
            ..directed()
        };
        let visible = select(&catalog, &all(&catalog), &turn);
        let found: Vec<_> = visible
            .entries()
            .iter()
            .map(|it| it.layer.as_str())
            .collect();
        assert_eq!(found.join(" "), layers, "{budget}");
    }
    let pinned = TurnInput {
        pins: [id("mcp__gh__get_issue")].into(),
        limit: Some(2),
        ..directed()
    };
    check(
        &catalog,
        &pinned,
        "local__ambit__tool_search mcp__gh__get_issue",
    );
    assert!(Layer::Index < Layer::Full);
}

/// Nothing, the most, and what lies between.
fn weights() -> impl Strategy<Value = Weights> {
    let weight = || prop_oneof![Just(0), Just(10_000), 0..200_i32];
    (
        (weight(), weight(), weight(), weight(), weight()),
        (weight(), weight(), weight(), weight(), weight()),
    )
        .prop_map(
            |(
                (goal, evidence, candidate, touched, project),
                (called, loaded, stays, base, failure),
            )| {
                Weights {
                    goal,
                    evidence,
                    candidate,
                    touched,
                    project,
                    called,
                    loaded,
                    stays,
                    base,
                    failure,
                }
            },
        )
}

/// Small worlds: which lines exist, which are granted, what speaks for what.
fn world() -> impl Strategy<Value = (Vec<usize>, Vec<bool>, TurnInput)> {
    let ids = || prop::collection::vec(0..lines().len(), 0..4);
    let turn = (
        (
            0..3_usize,
            prop::option::of(0..900_u32),
            prop::option::of(0..8_u32),
        ),
        (ids(), ids(), ids(), ids()),
        prop::collection::vec(
            (0..lines().len(), prop_oneof![1..100_u32, Just(u32::MAX)]),
            0..5,
        ),
        prop::collection::vec(
            (0..lines().len(), prop_oneof![0..6_u32, Just(u32::MAX)]),
            0..3,
        ),
        prop::option::of(Just(Asked::Goal)),
        prop_oneof![Just(Weights::default()), weights()],
    )
        .prop_map(
            |(
                (mode, budget, limit),
                (previous, candidates, pins, excludes),
                hits,
                failures,
                goal,
                weights,
            )| {
                let name = |n: &usize| id(lines()[*n].split_whitespace().next().unwrap());
                let layers = [Layer::Index, Layer::Card, Layer::Full];
                let shown = |n: &usize| Shown {
                    id: name(n),
                    layer: layers[*n % 3],
                };
                let mut previous: Vec<_> = previous.iter().map(shown).collect();
                previous.dedup();
                let hits: Vec<_> = hits.iter().map(|(n, score)| (name(n), *score)).collect();
                TurnInput {
                    mode: Mode::ALL[mode],
                    budget,
                    limit,
                    previous,
                    candidates: candidates.iter().map(name).collect(),
                    pins: pins.iter().map(name).collect(),
                    excludes: excludes.iter().map(name).collect(),
                    failures: failures
                        .iter()
                        .map(|(n, times)| (name(n), *times))
                        .collect(),
                    relevance: goal
                        .map(|asked| Relevance {
                            asked,
                            text: String::new(),
                            hits,
                        })
                        .into_iter()
                        .collect(),
                    weights,
                    ..Default::default()
                }
            },
        );
    let order = Just((0..lines().len()).collect::<Vec<_>>()).prop_shuffle();
    (
        order,
        prop::collection::vec(any::<bool>(), lines().len()),
        turn,
    )
}

fn build(order: &[usize], grants: &[bool]) -> (CatalogSnapshot, Granted) {
    let shuffled: Vec<_> = order.iter().map(|n| lines()[*n]).collect();
    let catalog = catalog_of(&shuffled, None);
    let granted = grants
        .iter()
        .zip(lines())
        .filter(|(yes, _)| **yes)
        .map(|(_, line)| id(line.split_whitespace().next().unwrap()));
    (catalog, granted.collect())
}

proptest! {
    #[test]
    fn visible_is_granted_and_allowed_and_within_bounds((order, grants, turn) in world()) {
        let (catalog, granted) = build(&order, &grants);
        let visible = select(&catalog, &granted, &turn);
        for entry in visible.entries() {
            let capability = catalog.get(&entry.id).unwrap();
            prop_assert!(granted.contains(&entry.id));
            prop_assert!(turn.mode.shows(capability));
            prop_assert!(!entry.reasons.is_empty());
            let against = |it: &VisibleReason| it.weight < 0;
            prop_assert!(entry.reasons.iter().filter(|it| against(it)).all(|it| it.signal == Signal::Failing));
        }
        prop_assert!(visible.tokens() <= turn.budget.unwrap_or(u32::MAX));
        prop_assert!(visible.entries().len() <= turn.limit.unwrap_or(u32::MAX) as usize);
    }

    #[test]
    fn input_order_never_matters((order, grants, turn) in world()) {
        let (catalog, granted) = build(&order, &grants);
        let sorted: Vec<usize> = (0..order.len()).collect();
        let (same, _) = build(&sorted, &grants);
        prop_assert_eq!(select(&catalog, &granted, &turn), select(&same, &granted, &turn));
    }

    #[test]
    fn selection_is_idempotent((order, grants, turn) in world()) {
        let (catalog, granted) = build(&order, &grants);
        let first = select(&catalog, &granted, &turn);
        let again = TurnInput { previous: first.entries().iter().map(Shown::from).collect(), ..turn };
        let second = select(&catalog, &granted, &again);
        let shown = |set: &VisibleSet| -> Vec<_> { set.entries().iter().map(|it| (it.id.clone(), it.layer)).collect() };
        prop_assert_eq!(shown(&first), shown(&second));
    }

    #[test]
    fn forbidding_never_lets_anything_in((order, grants, turn) in world(), forbidden in 0..8_usize) {
        let (catalog, granted) = build(&order, &grants);
        let before = select(&catalog, &granted, &turn);
        let subject = lines()[forbidden].split_whitespace().next().unwrap().parse().unwrap();
        let stricter = TurnInput { rules: Rules::new([Rule { verdict: Verdict::Deny, subject }]), ..turn };
        for entry in select(&catalog, &granted, &stricter).entries() {
            prop_assert!(before.find(entry.id.as_str()).is_some());
        }
    }

    #[test]
    fn a_diff_applied_gives_the_other_set((order, grants, turn) in world(), (_, others, other) in world()) {
        let (catalog, granted) = build(&order, &grants);
        let (_, more) = build(&order, &others);
        let (a, b) = (select(&catalog, &granted, &turn), select(&catalog, &more, &other));
        let diff = VisibleDiff::between(&a, &b);
        let after = diff.apply(a.entries());
        prop_assert_eq!(after.as_slice(), b.entries());
        prop_assert!(VisibleDiff::between(&a, &a).is_empty());
    }
}
