//! What came of a run.

use ambit_core::event::EventBody;
use ambit_core::run::RunEnd;
use ambit_runtime::journal::SessionId;

use super::limits::recorded;
use crate::error::EngineError;
use crate::usage::Usage;

/// How many characters of what was asked are its title.
const TITLE: usize = 72;

/// What came of a run.
#[derive(Debug)]
pub struct RunReport {
    /// The session it can go on in.
    pub session: SessionId,
    /// What it was about, in a few words.
    pub title: String,
    /// Why it ended.
    pub ended: RunEnd,
    /// What the model said last.
    pub answer: String,
    /// Why the model could not be asked, where that ended it.
    pub error: Option<EngineError>,
    /// Turns of the model.
    pub turns: u32,
    /// Calls.
    pub calls: u32,
    /// What the model cost, sub-agents included.
    pub usage: Usage,
    /// What its requests cost by Ambit's own count.
    pub exposure: Exposure,
}

/// What all requests of a run had in them, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exposure {
    /// Tools, skills and the rest of what was visible.
    pub shown: u64,
    /// What that had been with everything that is granted in every request.
    pub whole: u64,
    /// Everything: system prompts, tools and conversation.
    pub requested: u64,
    /// Of that, what the request before began with: what a provider can have cached.
    pub prefix: u64,
}

impl RunReport {
    pub(super) fn event(&self) -> EventBody {
        EventBody::RunFinished {
            title: self.title.clone(),
            ended: self.ended,
            turns: self.turns,
            calls: self.calls,
            usage: recorded(&self.usage),
        }
    }
}

/// The first line of what was asked, cut to size.
pub(super) fn title(goal: &str) -> String {
    let line = goal.lines().map(str::trim).find(|it| !it.is_empty());
    let line = line.unwrap_or_default();
    if line.chars().count() <= TITLE {
        return line.to_owned();
    }
    line.chars().take(TITLE - 1).chain(['…']).collect()
}
