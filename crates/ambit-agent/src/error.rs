//! Why there is no turn, and what to do about it.

use std::time::Duration;

use thiserror::Error;

use crate::scripted::ScriptError;

/// Why a model gave no turn.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The caller wanted it to end.
    #[error("the turn was cancelled")]
    Cancelled,
    /// The provider could not be reached, or the connection broke, as often as it was tried.
    #[error("`{url}` cannot be reached: {reason}")]
    Unreachable {
        /// Where it should have been.
        url: String,
        /// What happened.
        reason: String,
    },
    /// The provider does not accept the key.
    #[error("`{url}` does not accept the key ({status}): {message}")]
    Key {
        /// Where.
        url: String,
        /// The status of the answer.
        status: u16,
        /// What it said.
        message: String,
    },
    /// The provider does not accept the request.
    #[error("`{url}` refused the request ({status}): {message}")]
    Refused {
        /// Where.
        url: String,
        /// The status of the answer.
        status: u16,
        /// What it said.
        message: String,
    },
    /// The conversation does not fit into the model's window.
    #[error("the conversation is too long for `{model}`: {message}")]
    TooLong {
        /// The model.
        model: String,
        /// What the provider said.
        message: String,
    },
    /// The provider is busy or broken, as often as it was tried.
    #[error("`{url}` is not able to answer ({}): {message}", counted(*tries))]
    Overloaded {
        /// Where.
        url: String,
        /// How often it was tried.
        tries: u32,
        /// What it said last.
        message: String,
        /// How long it asks to be left alone, where that is longer than is waited for.
        retry_after: Option<Duration>,
    },
    /// Nothing came for too long.
    #[error("`{url}` has said nothing for {} s", patience.as_secs())]
    Silent {
        /// Where.
        url: String,
        /// How long was waited.
        patience: Duration,
    },
    /// What came is not what the provider's API says.
    #[error("`{url}` does not speak the API of `{engine}`: {reason}")]
    Garbled {
        /// Where.
        url: String,
        /// Which engine asked.
        engine: String,
        /// What was wrong.
        reason: String,
    },
    /// What came is larger than is taken.
    #[error("{what} is larger than {limit}")]
    TooLarge {
        /// What.
        what: String,
        /// The bound.
        limit: u64,
    },
    /// An engine cannot be made of its configuration.
    #[error("{0}")]
    Config(String),
    /// A script does not go on.
    #[error(transparent)]
    Script(#[from] ScriptError),
}

fn counted(tries: u32) -> String {
    match tries {
        1 => "1 try".to_owned(),
        tries => format!("{tries} tries"),
    }
}

impl EngineError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            EngineError::Cancelled => return None,
            EngineError::Script(error) => return error.hint().map(str::to_owned),
            EngineError::Unreachable { .. } => {
                "check `baseUrl` and the network; a local model has to be running"
            }
            EngineError::Key { .. } => {
                "set `key` of this model, for example to `${secret:NAME}` after `ambit secrets set NAME`"
            }
            EngineError::Refused { status: 404, .. } => "check `model` and `baseUrl`",
            EngineError::Refused { .. } => "check `model` and what it supports",
            EngineError::TooLong { .. } => {
                "set `window` of this model to what it really has, so that old results are compacted in time"
            }
            EngineError::Overloaded {
                retry_after: Some(pause),
                ..
            } => return Some(format!("try again in {} s", pause.as_secs())),
            EngineError::Overloaded { .. } | EngineError::Silent { .. } => "try again later",
            EngineError::Garbled { .. } => {
                "check `provider` and `baseUrl`: the address may belong to another API"
            }
            EngineError::TooLarge { .. } => "ask for less at once",
            EngineError::Config(_) => "see `ambit schema` for what a model may say",
        };
        Some(hint.to_owned())
    }
}
