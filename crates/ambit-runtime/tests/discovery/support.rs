//! Two servers, a pack and a skill, and sessions over them read back as lines.

use std::sync::Arc;

use ambit_core::catalog::SourceSnapshot;
use ambit_core::id::CapabilityId;
use ambit_core::permission::Mode;
use ambit_core::visible::{HiddenReason, Signal, VisibleSet};
use ambit_runtime::discovery::TurnRequest;
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::session::Session;
use ambit_testkit::{Behaviour, Bench, FixtureResolver, call};
use serde_json::json;

const ISSUES: &str = "
    mcp__gh__get_issue     reads open-world
    mcp__gh__search_issues reads open-world
    mcp__gh__close_issue   writes open-world";
const BUILDS: &str = "
    mcp__ci__job_log     reads
    mcp__ci__cancel_job  writes";
const NOTES: &str = "
    local__notes__read_note   reads
    local__notes__write_note  writes";
const SKILLS: &str = "skill__review reads";

/// A bench and what was executed on it.
pub(crate) struct World {
    pub(crate) bench: Bench,
    packs: Vec<Arc<FixtureResolver>>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::doing(&Behaviour::Echo)
    }

    /// All tools do the same.
    pub(crate) fn doing(behaviour: &Behaviour) -> Self {
        let packs = [
            ("gh", ISSUES),
            ("ci", BUILDS),
            ("notes", NOTES),
            ("skills", SKILLS),
        ];
        let packs =
            packs.map(|(key, lines)| Arc::new(FixtureResolver::lines(key, lines, behaviour)));
        World {
            bench: packs.iter().fold(Bench::default(), |bench, pack| {
                bench.with(pack.clone(), json!({}))
            }),
            packs: packs.into(),
        }
    }

    pub(crate) fn executed(&self) -> usize {
        self.packs.iter().map(|it| it.executed()).sum()
    }
}

pub(crate) fn id(text: &str) -> CapabilityId {
    text.parse().unwrap()
}

/// A turn with a task.
pub(crate) fn turn(session: &Session, goal: &str) -> Arc<VisibleSet> {
    session.begin_turn(&TurnRequest {
        goal: goal.to_owned(),
        ..TurnRequest::default()
    })
}

/// The names of what is visible, without the runtime's own.
pub(crate) fn names(visible: &VisibleSet) -> String {
    let own = |it: &&str| !it.starts_with("local__ambit__");
    let ids = visible.entries().iter().map(|it| it.id.as_str());
    ids.filter(own).collect::<Vec<_>>().join(" ")
}

pub(crate) fn why_hidden(visible: &VisibleSet, name: &str) -> Option<HiddenReason> {
    visible.hidden_reason(&id(name)).cloned()
}

/// The signals that speak for an entry.
pub(crate) fn signals(visible: &VisibleSet, name: &str) -> Vec<Signal> {
    let entry = visible.entries().iter().find(|it| it.id.as_str() == name);
    let reasons = entry.map(|it| it.reasons.as_slice()).unwrap_or_default();
    reasons.iter().map(|it| it.signal).collect()
}

/// What a search answers: ids, or nothing.
pub(crate) async fn search(session: &Session, tool: &str, query: &str) -> Vec<String> {
    let observation = call(session, tool, json!({"query": query, "limit": 20}))
        .await
        .observation;
    let completed = match observation {
        ambit_core::observation::Observation::Completed(it) => it,
        other => panic!("{other:?}"),
    };
    let found = completed.output.structured.unwrap();
    let found = found["candidates"].as_array().unwrap().iter();
    found
        .map(|it| it["id"].as_str().unwrap().to_owned())
        .collect()
}

/// `completed`, or the code.
pub(crate) async fn ends(session: &Session, target: &str) -> &'static str {
    let observation = call(session, target, json!({})).await.observation;
    observation.code().map_or("completed", |it| it.as_str())
}

/// A source that stops serving, or serves again.
pub(crate) fn source(market: &CapabilityMarketplace, name: &str, unavailable: Option<&str>) {
    let catalog = market.catalog();
    let descriptors = catalog
        .iter()
        .filter(|it| it.source == name)
        .cloned()
        .collect();
    market.push([SourceSnapshot {
        source: name.to_owned(),
        descriptors,
        unavailable: unavailable.map(str::to_owned),
        quarantined: Default::default(),
    }]);
}

/// A session on a marketplace of its own, its first turn begun without a task.
pub(crate) async fn open(world: &World, mode: Mode) -> (Arc<CapabilityMarketplace>, Session) {
    let market = world.bench.market();
    let session = world.bench.session_on(&market, mode).await;
    (market, session)
}
