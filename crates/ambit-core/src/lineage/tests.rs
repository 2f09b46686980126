//! Chains as a table, and the property they are there for: a sub-agent can never call what
//! whoever asked it cannot.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::catalog::{CatalogSnapshot, SourceSnapshot};
use crate::descriptor::CapabilityDescriptor;
use crate::fixture::descriptor;
use crate::granted::Granted;
use crate::permission::{
    Bound, Mode, PermissionDecision, PermissionInput, Rule, Rules, StandingApproval, Subject,
    Taint, Verdict, decide,
};
use crate::policy::select;
use crate::turn::TurnInput;

#[track_caller]
fn check(chain: &[&str], next: &str, expected: &str) {
    let lineage = Lineage(chain.iter().map(|it| (*it).to_owned()).collect());
    let said = match lineage.with(next) {
        Ok(it) => it.to_string(),
        Err(why) => why.to_string(),
    };
    assert_eq!(said, expected);
}

#[test]
fn chains_are_short_and_have_no_circles() {
    check(&["a"], "b", "a → b");
    check(&["a", "b", "c"], "d", "a → b → c → d");
    check(&["a"], "a", "an agent cannot ask itself; do it yourself");
    check(
        &["a", "b", "c"],
        "a",
        "it waits for an answer already (a → b → c); ask another",
    );
    check(
        &["a", "b", "c", "d"],
        "e",
        "no more than 3 agents may stand behind the first (a → b → c → d); do it yourself",
    );
    let forked = Lineage::of("a").forked().and_then(|it| it.forked());
    assert_eq!(forked.unwrap().to_string(), "a → a → a");
}

const LINES: [&str; 8] = [
    "local__files__read_file reads fs:read",
    "local__files__write_file reads writes fs:write",
    "local__shell__run writes destructive open-world egress proc:exec",
    "mcp__gh__get_issue reads open-world",
    "mcp__gh__merge writes destructive open-world",
    "mcp__gh__comment writes open-world egress mcp:gh",
    "mcp__mail__send writes destructive egress open-world",
    "skill__review reads",
];

const SUBJECTS: [&str; 9] = [
    "reads",
    "writes",
    "destructive",
    "egress",
    "fs:write",
    "mcp:gh",
    "mcp__gh__comment",
    "local__shell__run",
    "mcp__mail__send",
];

/// One agent of a chain: what its own config and its own person say.
#[derive(Clone, Debug)]
struct Agent {
    granted: Vec<usize>,
    mode: Mode,
    rules: Vec<(Verdict, usize)>,
    standing: Vec<usize>,
}

fn agent() -> impl Strategy<Value = Agent> {
    let verdict = prop::sample::select(vec![Verdict::Allow, Verdict::Ask, Verdict::Deny]);
    (
        prop::collection::vec(0..LINES.len(), 0..8),
        prop::sample::select(Mode::ALL.to_vec()),
        prop::collection::vec((verdict, 0..SUBJECTS.len()), 0..4),
        prop::collection::vec(0..LINES.len(), 0..3),
    )
        .prop_map(|(granted, mode, rules, standing)| Agent {
            granted,
            mode,
            rules,
            standing,
        })
}

struct World {
    entries: Vec<Arc<CapabilityDescriptor>>,
    catalog: CatalogSnapshot,
}

impl World {
    fn new() -> Self {
        let entries: Vec<_> = LINES.iter().map(|it| Arc::new(descriptor(it))).collect();
        let mut catalog = CatalogSnapshot::default();
        let sources: std::collections::BTreeSet<_> =
            entries.iter().map(|it| it.source.clone()).collect();
        for source in sources {
            let own = entries.iter().filter(|it| it.source == source).cloned();
            let snapshot = SourceSnapshot {
                source: source.clone(),
                descriptors: own.collect(),
                unavailable: None,
                quarantined: Default::default(),
            };
            catalog = catalog.with_source(snapshot).0;
        }
        World { entries, catalog }
    }

    fn bound(&self, agent: &Agent) -> Bound {
        let rule = |(verdict, at): &(Verdict, usize)| Rule {
            verdict: *verdict,
            subject: SUBJECTS[*at].parse::<Subject>().unwrap(),
        };
        let standing = |at: &usize| StandingApproval {
            id: self.entries[*at].id.clone(),
            definition: self.entries[*at].digest,
        };
        Bound {
            agent: "a".to_owned(),
            mode: agent.mode,
            rules: Rules::new(agent.rules.iter().map(rule)),
            standing: agent.standing.iter().map(standing).collect(),
        }
    }

    /// What an agent at the end of a chain may do with each capability: nothing where it is not
    /// even visible.
    fn answers(&self, chain: &[Agent], taint: Taint) -> Vec<Option<PermissionDecision>> {
        let (last, above) = chain.split_last().unwrap();
        let granted: Granted = self
            .entries
            .iter()
            .enumerate()
            .filter(|(at, _)| chain.iter().all(|it| it.granted.contains(at)))
            .map(|(_, it)| it.id.clone())
            .collect();
        let own = self.bound(last);
        let within: Vec<Bound> = above.iter().map(|it| self.bound(it)).collect();
        let turn = TurnInput {
            mode: own.mode,
            rules: own.rules.clone(),
            within: within.clone(),
            ..TurnInput::default()
        };
        let permission = PermissionInput {
            mode: own.mode,
            rules: own.rules,
            standing: own.standing,
            taint,
            within,
            ..PermissionInput::default()
        };
        let visible = select(&self.catalog, &granted, &turn);
        let entries = self.entries.iter();
        entries
            .map(|it| {
                let is_visible = visible.entries().iter().any(|entry| entry.id == it.id);
                is_visible.then(|| decide(it, &permission))
            })
            .collect()
    }
}

/// How much stands in the way.
fn strictness(answer: &Option<PermissionDecision>) -> u8 {
    match answer {
        Some(PermissionDecision::Allow { .. }) => 0,
        Some(PermissionDecision::Ask { .. }) => 1,
        Some(PermissionDecision::Deny { .. }) | None => 2,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100_000))]

    #[test]
    fn nobody_down_the_chain_may_do_more(
        chain in prop::collection::vec(agent(), 2..=DEEPEST + 1),
        read_private in any::<bool>(),
        saw_untrusted in any::<bool>(),
    ) {
        thread_local!(static WORLD: World = World::new());
        let taint = Taint { read_private, saw_untrusted };
        WORLD.with(|world| {
            let mut above = world.answers(&chain[..1], taint);
            for length in 2..=chain.len() {
                let below = world.answers(&chain[..length], taint);
                for (parent, child) in above.iter().zip(&below) {
                    prop_assert!(
                        strictness(child) >= strictness(parent),
                        "{parent:?}, and behind it {child:?}"
                    );
                }
                above = below;
            }
            Ok(())
        })?;
    }
}
