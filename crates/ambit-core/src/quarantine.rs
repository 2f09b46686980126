//! Capabilities that are held back: their provider says something about them that no person has
//! accepted. They are known, and nobody sees or calls them until somebody does.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a capability is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuarantineReason {
    /// It is defined otherwise than it was accepted.
    Changed,
    /// It was not there when its provider was first seen, and new ones have to be accepted.
    New,
}

impl QuarantineReason {
    /// The word used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            QuarantineReason::Changed => "changed",
            QuarantineReason::New => "new",
        }
    }

    /// From the word.
    pub fn parse(text: &str) -> Option<Self> {
        let all = [QuarantineReason::Changed, QuarantineReason::New];
        all.into_iter().find(|it| it.as_str() == text)
    }
}

impl fmt::Display for QuarantineReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            QuarantineReason::Changed => "it is defined otherwise than it was accepted",
            QuarantineReason::New => "it is new, and nobody has accepted it",
        })
    }
}

/// A capability that is held back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantine {
    /// Why.
    pub reason: QuarantineReason,
    /// What is different now, line by line, for a person.
    pub diff: String,
}
