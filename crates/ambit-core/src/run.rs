//! What the journal says of a run: an agent at work with a model.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::intent::CallId;

/// Why a run ended. Whichever it is, its session can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RunEnd {
    /// The model is done.
    Answered,
    /// The model or its provider declined to answer.
    Declined,
    /// It had as many turns as it may have.
    TurnLimit,
    /// It has used up what it may cost.
    Budget,
    /// Somebody stopped it.
    Interrupted,
    /// The model could not be asked.
    Failed,
}

impl RunEnd {
    /// The word used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            RunEnd::Answered => "answered",
            RunEnd::Declined => "declined",
            RunEnd::TurnLimit => "turnLimit",
            RunEnd::Budget => "budget",
            RunEnd::Interrupted => "interrupted",
            RunEnd::Failed => "failed",
        }
    }
}

impl fmt::Display for RunEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RunEnd::Answered => "done",
            RunEnd::Declined => "the model declined",
            RunEnd::TurnLimit => "it had as many turns as it may have",
            RunEnd::Budget => "its budget is used up",
            RunEnd::Interrupted => "it was stopped",
            RunEnd::Failed => "the model could not be asked",
        })
    }
}

/// What a request to a model is made of, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestTokens {
    /// The system prompt.
    pub system: u64,
    /// The tools.
    pub tools: u64,
    /// The conversation.
    pub messages: u64,
    /// How much of it the request before began with, word for word: what a provider can have cached.
    #[serde(default)]
    pub prefix: u64,
}

impl RequestTokens {
    /// All of it.
    pub fn total(&self) -> u64 {
        self.system + self.tools + self.messages
    }
}

/// What a model wants to call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentRecord {
    /// The call's name in the journal.
    pub call: CallId,
    /// The call's name in the conversation.
    pub id: String,
    /// The tool, by its wire name.
    pub name: String,
}

/// Tokens of a model, as its provider counts them. The three kinds of input do not overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelUsage {
    /// Input at the full price.
    pub input: u64,
    /// Input read from the provider's cache.
    pub cached_input: u64,
    /// Input written to the provider's cache.
    pub cache_write: u64,
    /// Output, thinking included.
    pub output: u64,
    /// What that costs, where prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}
