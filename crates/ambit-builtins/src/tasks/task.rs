//! What a task is: one thing to be done, with everything that belongs to it and is saved with it.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::state::State;

/// Who a task belongs to, and who did something to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Party {
    /// The person.
    User,
    /// An agent, by its name in the configuration.
    Agent(String),
}

const AGENT: &str = "agent:";

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Party::User => f.write_str("user"),
            Party::Agent(name) => write!(f, "{AGENT}{name}"),
        }
    }
}

impl FromStr for Party {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix(AGENT)) {
            ("user", _) => Ok(Party::User),
            (_, Some(name)) if !name.is_empty() => Ok(Party::Agent(name.to_owned())),
            _ => Err(format!("`{text}` is neither `user` nor `agent:NAME`")),
        }
    }
}

/// How far a step is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StepState {
    #[default]
    Todo,
    Doing,
    Done,
    Skipped,
}

impl StepState {
    pub(super) const WORDS: [&str; 4] = ["todo", "doing", "done", "skipped"];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            StepState::Todo => "todo",
            StepState::Doing => "doing",
            StepState::Done => "done",
            StepState::Skipped => "skipped",
        }
    }

    /// Whether it still stands in the way of completing its task.
    pub(super) fn is_unfinished(self) -> bool {
        matches!(self, StepState::Todo | StepState::Doing)
    }
}

/// One step of a task. No two of a task say the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) text: String,
    #[serde(default)]
    pub(super) state: StepState,
}

/// Something a task is about: a file, an address. Its name is its identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Resource {
    pub(super) resource: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) note: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) id: String,
    /// The task it is a part of.
    pub(super) parent: Option<String>,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) owner: Party,
    pub(super) state: State,
    pub(super) steps: Vec<Step>,
    pub(super) resources: Vec<Resource>,
    /// What came of it, or why it was cancelled.
    pub(super) outcome: Option<String>,
    pub(super) created_by: Party,
    pub(super) created: Timestamp,
    pub(super) changed: Timestamp,
    /// Counts its changes. Every number has its entry in the history.
    pub(super) version: i64,
}

impl Task {
    pub(super) fn unfinished_steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|it| it.state.is_unfinished())
    }
}

/// One entry of a task's history.
pub(super) struct Change {
    pub(super) version: i64,
    pub(super) at: Timestamp,
    pub(super) who: Party,
    pub(super) what: Vec<String>,
}
