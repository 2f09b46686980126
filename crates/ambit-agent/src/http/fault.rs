//! Why one try failed, and whether another one can help.

use std::time::Duration;

use crate::error::EngineError;

/// Why a try brought no turn.
#[derive(Debug)]
pub(crate) enum Fault {
    /// There was no connection, or it broke.
    Connection(String),
    /// Nothing came for too long.
    Silence(Duration),
    /// The provider is busy or broken right now.
    Busy {
        /// What it said.
        message: String,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// The provider does not want this request: another try would end the same way.
    Refusal(Refusal),
    /// What came is not what the API says.
    Garbled(String),
    /// What came is more than is taken.
    TooLarge {
        /// What.
        what: &'static str,
        /// The bound.
        limit: usize,
    },
}

/// A provider's error, in its own words.
#[derive(Debug, Default)]
pub(crate) struct Refusal {
    /// The status, or what it would be.
    pub(crate) status: u16,
    /// The provider's word for it, such as `overloaded_error`.
    pub(crate) kind: String,
    /// What it said.
    pub(crate) message: String,
    /// How long it wants to be left alone.
    pub(crate) retry_after: Option<Duration>,
}

/// Words of providers for "the conversation is too long".
const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "prompt is too long",
    "maximum context length",
    "exceeds the available context size",
    "request_too_large",
];
/// Words for "not before somebody has paid": no pause helps.
const NO_CREDIT: &[&str] = &["insufficient_quota", "billing", "credit balance"];
/// Words for "later", where they come without a status.
const BUSY: &[&str] = &[
    "overloaded_error",
    "api_error",
    "rate_limit_error",
    "timeout_error",
    "server_error",
    "rate_limit_exceeded",
];

impl Refusal {
    fn says(&self, words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        words
            .iter()
            .any(|word| self.kind == *word || message.contains(word))
    }

    /// Whether to try again, or to give up, and as what.
    pub(crate) fn judged(self) -> Fault {
        let busy = matches!(self.status, 408 | 409 | 425 | 429 | 500..)
            || (self.status == 0 && BUSY.contains(&self.kind.as_str()));
        if busy && !self.says(NO_CREDIT) {
            let message = match (self.status, self.message.is_empty()) {
                (0, _) => self.message,
                (status, true) => format!("status {status}"),
                (status, false) => format!("{} ({status})", self.message),
            };
            return Fault::Busy {
                message,
                retry_after: self.retry_after,
            };
        }
        Fault::Refusal(self)
    }

    /// As an error.
    pub(crate) fn into_error(self, url: String, model: &str) -> EngineError {
        let is_too_long = self.says(TOO_LONG);
        let Refusal {
            status,
            kind,
            message,
            ..
        } = self;
        let message = match message.is_empty() {
            true if kind.is_empty() => "it did not say why".to_owned(),
            true => kind,
            false => message,
        };
        match status {
            401 | 403 => EngineError::Key {
                url,
                status,
                message,
            },
            _ if is_too_long => EngineError::TooLong {
                model: model.to_owned(),
                message,
            },
            _ => EngineError::Refused {
                url,
                status,
                message,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: u16, kind: &str, message: &str, expected: &str) {
        let refusal = Refusal {
            status,
            kind: kind.to_owned(),
            message: message.to_owned(),
            retry_after: None,
        };
        let judged = match refusal.judged() {
            Fault::Busy { message, .. } => format!("busy: {message}"),
            Fault::Refusal(it) => it.into_error("u".to_owned(), "m").to_string(),
            other => format!("{other:?}"),
        };
        assert_eq!(judged, expected);
    }

    #[test]
    fn what_passes_is_tried_again() {
        check(
            429,
            "rate_limit_error",
            "slow down",
            "busy: slow down (429)",
        );
        check(
            529,
            "overloaded_error",
            "Overloaded",
            "busy: Overloaded (529)",
        );
        check(503, "", "", "busy: status 503");
        check(0, "overloaded_error", "Overloaded", "busy: Overloaded");
    }

    #[test]
    fn what_does_not_is_said() {
        check(401, "", "no", "`u` does not accept the key (401): no");
        check(
            400,
            "invalid_request_error",
            "",
            "`u` refused the request (400): invalid_request_error",
        );
        check(
            429,
            "insufficient_quota",
            "pay first",
            "`u` refused the request (429): pay first",
        );
        check(
            400,
            "invalid_request_error",
            "prompt is too long: 210000 tokens > 200000 maximum",
            "the conversation is too long for `m`: prompt is too long: 210000 tokens > 200000 maximum",
        );
        check(
            404,
            "",
            "",
            "`u` refused the request (404): it did not say why",
        );
    }
}
