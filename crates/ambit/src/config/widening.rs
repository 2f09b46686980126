//! What one agent would have that another has not. An agent that edits agents may hand on what it
//! has and no more; whatever else it writes waits for a person.
//!
//! As with [`compare`](super::compare): where it cannot be told whether something is more, it is.

use std::collections::BTreeSet;

use ambit_core::permission::{Mode, Subject};
use serde_json::{Map, Value};
use thiserror::Error;

use super::file::Agent;
use super::merged::Config;
use super::rules::RuleLists;

/// One thing an agent would have that another has not.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WideningReason {
    /// A capability.
    #[error("`{key}` is a capability the caller has not")]
    Capability {
        /// Its key.
        key: String,
    },
    /// All tools of a capability of which the other has some.
    #[error("`{key}` comes with all its tools, of which the caller has some")]
    AllTools {
        /// The capability's key.
        key: String,
    },
    /// A tool.
    #[error("`{key}` comes with the tool `{tool}`, which the caller has not")]
    Tool {
        /// The capability's key.
        key: String,
        /// The tool.
        tool: String,
    },
    /// A config that may mean more.
    #[error("`{key}` is configured otherwise than the caller's")]
    Config {
        /// The capability's key.
        key: String,
    },
    /// A freer mode.
    #[error("mode `{}` is freer than the caller's `{}`", proposed.as_str(), caller.as_str())]
    Mode {
        /// The other's.
        caller: Mode,
        /// The one that is freer.
        proposed: Mode,
    },
    /// Something runs unasked.
    #[error("`{0}` is allowed without asking, which it is not for the caller")]
    Allows(Subject),
    /// A rule to ask, where it may outweigh one that forbids.
    #[error("a rule to ask about `{0}` may outweigh one that forbids")]
    Asks(Subject),
    /// Something is asked about for the other only.
    #[error("`{0}` is not asked about, which it is for the caller")]
    DoesNotAsk(Subject),
    /// Something is forbidden for the other only.
    #[error("`{0}` is not forbidden, which it is for the caller")]
    DoesNotDeny(Subject),
    /// Clients need no token for it.
    #[error("clients can use it without a token, which they cannot the caller")]
    Unguarded,
    /// A variable or a secret is filled in.
    #[error("`{member}` has a variable or a secret filled in")]
    FillsIn {
        /// The member of its entry.
        member: String,
    },
}

/// Who may use an agent over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Whoever can reach it.
    Open,
    /// Whoever has a token.
    Token,
}

/// All an agent may do.
#[derive(Clone, Debug)]
pub struct Bound<'a> {
    agent: &'a Agent,
    mode: Mode,
    rules: RuleLists,
    guard: Guard,
}

impl<'a> Bound<'a> {
    /// Of an agent of this configuration.
    pub fn of(config: &Config, agent: &'a Agent, guard: Guard) -> Self {
        Bound {
            agent,
            mode: config.mode_of(agent),
            rules: config.permissions.and(&agent.permissions),
            guard,
        }
    }
}

/// What `proposed` may do that `caller` may not. Nothing: it may do the same or less.
pub fn widening(caller: &Bound<'_>, proposed: &Bound<'_>) -> Vec<WideningReason> {
    let mut found = Vec::new();
    let held = &caller.agent.capabilities.0;
    for (key, config) in &proposed.agent.capabilities.0 {
        match held.get(key) {
            None => found.push(WideningReason::Capability { key: key.clone() }),
            Some(held) => capability(key, held, config, &mut found),
        }
    }
    if proposed.mode > caller.mode {
        found.push(WideningReason::Mode {
            caller: caller.mode,
            proposed: proposed.mode,
        });
    }
    rules(&caller.rules, &proposed.rules, &mut found);
    if (caller.guard, proposed.guard) == (Guard::Token, Guard::Open) {
        found.push(WideningReason::Unguarded);
    }
    found
}

fn capability(
    key: &str,
    held: &Map<String, Value>,
    proposed: &Map<String, Value>,
    found: &mut Vec<WideningReason>,
) {
    let key = || key.to_owned();
    let rest = |config: &Map<String, Value>| {
        let mut rest = config.clone();
        rest.remove("tools");
        rest
    };
    if rest(held) != rest(proposed) {
        found.push(WideningReason::Config { key: key() });
    }
    let tools = |config: &Map<String, Value>| -> Option<BTreeSet<String>> {
        let tools = config.get("tools")?.as_array().into_iter().flatten();
        Some(
            tools
                .map(|it| it.as_str().map_or(it.to_string(), str::to_owned))
                .collect(),
        )
    };
    match (tools(held), tools(proposed)) {
        (None, _) => {}
        (Some(_), None) => found.push(WideningReason::AllTools { key: key() }),
        (Some(held), Some(proposed)) => {
            let more = proposed.difference(&held);
            found.extend(more.map(|tool| WideningReason::Tool {
                key: key(),
                tool: tool.clone(),
            }));
        }
    }
}

fn rules(caller: &RuleLists, proposed: &RuleLists, found: &mut Vec<WideningReason>) {
    let more = |than: &BTreeSet<Subject>, those: &BTreeSet<Subject>| -> Vec<Subject> {
        those.difference(than).cloned().collect()
    };
    let allows = more(&caller.allow, &proposed.allow).into_iter();
    found.extend(allows.map(WideningReason::Allows));
    // Asking is stricter than allowing, but a more specific rule outweighs a denial.
    if !caller.deny.is_empty() {
        let asks = more(&caller.ask, &proposed.ask).into_iter();
        found.extend(asks.map(WideningReason::Asks));
    }
    let unasked = more(&proposed.ask, &caller.ask).into_iter();
    found.extend(unasked.map(WideningReason::DoesNotAsk));
    let undenied = more(&proposed.deny, &caller.deny).into_iter();
    found.extend(undenied.map(WideningReason::DoesNotDeny));
}

/// Whose more it is, and what.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("agent `{agent}`{}: {reason}", tense.words())]
pub struct Widening {
    /// The agent that is changed.
    pub agent: String,
    /// Before the edit or after it.
    pub tense: Tense,
    /// What it has and the caller has not.
    pub reason: WideningReason,
}

/// When an agent has more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tense {
    /// Already, and it is not the caller's to change.
    Before,
    /// By the edit.
    After,
}

impl Tense {
    fn words(self) -> &'static str {
        match self {
            Tense::Before => " as it is",
            Tense::After => "",
        }
    }
}

/// Why an edit by `caller` has to wait for a person: every agent it changes, makes or takes away
/// has to be within the caller's own bound, before and after.
pub fn widened_by(
    caller: &str,
    before: &Config,
    after: &Config,
    guard: &dyn Fn(&str) -> Guard,
) -> Vec<Widening> {
    // Whoever is not there has nothing to hand on.
    let nothing = Agent::default();
    let held = before.agents.get(caller).unwrap_or(&nothing);
    let held = Bound::of(before, held, guard(caller));
    let names: BTreeSet<&String> = before.agents.keys().chain(after.agents.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        let (old, new) = (before.agents.get(name), after.agents.get(name));
        if old == new {
            continue;
        }
        let judge = |tense, config: &Config, agent: Option<&Agent>| -> Vec<Widening> {
            let bound = agent.map(|it| Bound::of(config, it, guard(name)));
            let reasons = bound.map(|it| widening(&held, &it)).unwrap_or_default();
            let more = reasons.into_iter().map(|reason| Widening {
                agent: name.clone(),
                tense,
                reason,
            });
            more.collect()
        };
        let more = judge(Tense::After, after, new);
        found.extend(match more.is_empty() {
            true => judge(Tense::Before, before, old),
            false => more,
        });
    }
    found
}
