//! A trigger as it is kept, and its runs.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;

use super::plan::Missed;
use super::schedule::Schedule;

/// Something that starts an agent without anybody asking it.
#[derive(Clone, Debug)]
pub struct Trigger {
    /// Its name.
    pub id: String,
    /// The agent that made it, that may change it and that is started.
    pub owner: String,
    /// When.
    pub schedule: Schedule,
    /// What the agent is told.
    pub prompt: String,
    /// What to do about due times nobody was there for.
    pub missed: Missed,
    /// Whether it rests.
    pub paused: bool,
    /// Where spans of time are counted from.
    pub anchor: Timestamp,
    /// Up to when its due times have been dealt with.
    pub last: Timestamp,
    /// What the watched files looked like.
    pub(super) seen: Option<String>,
    /// The digest of a webhook's token.
    pub(super) secret: Option<String>,
    /// When it was made.
    pub created: Timestamp,
}

/// Why a run was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunReason {
    /// Its time had come.
    Due,
    /// Files changed.
    Change,
    /// Somebody asked over HTTP.
    Webhook,
    /// Its owner asked.
    Asked,
}

impl RunReason {
    /// The word used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            RunReason::Due => "due",
            RunReason::Change => "change",
            RunReason::Webhook => "webhook",
            RunReason::Asked => "asked",
        }
    }
}

impl FromStr for RunReason {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [
            RunReason::Due,
            RunReason::Change,
            RunReason::Webhook,
            RunReason::Asked,
        ];
        let found = all.into_iter().find(|it| it.as_str() == text);
        found.ok_or_else(|| format!("`{text}` is no reason for a run"))
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Somebody asked for it; it has not begun.
    Requested,
    /// It has begun.
    Running,
    /// It ended well.
    Done,
    /// It did not.
    Failed,
    /// It had begun when Ambit ended. It is not started again.
    Interrupted,
}

impl RunState {
    /// The word used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            RunState::Requested => "requested",
            RunState::Running => "running",
            RunState::Done => "done",
            RunState::Failed => "failed",
            RunState::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for RunState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [
            RunState::Requested,
            RunState::Running,
            RunState::Done,
            RunState::Failed,
            RunState::Interrupted,
        ];
        let found = all.into_iter().find(|it| it.as_str() == text);
        found.ok_or_else(|| format!("`{text}` is no state of a run"))
    }
}

/// One run of a trigger.
#[derive(Clone, Debug)]
pub struct Run {
    /// Whose.
    pub trigger: String,
    /// For which due time. No two runs of a trigger are for the same.
    pub due: Timestamp,
    /// Why.
    pub reason: RunReason,
    /// How far it is.
    pub state: RunState,
    /// How many missed due times it stands for.
    pub missed: u32,
    /// When it began.
    pub begun: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// What it said at its end.
    pub said: Option<String>,
}

/// A run that is to be started now. Nobody else will start it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueRun {
    /// Whose.
    pub trigger: String,
    /// For which due time.
    pub due: Timestamp,
    /// Why.
    pub reason: RunReason,
    /// How many missed due times it stands for.
    pub missed: u32,
    /// The agent to start.
    pub agent: String,
    /// What to tell it.
    pub prompt: String,
    /// What a webhook was sent. Somebody else's words.
    pub payload: Option<String>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// Well, and what it said.
    Done(String),
    /// Not, and why.
    Failed(String),
}
