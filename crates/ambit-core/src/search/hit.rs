//! What a search answers: an id, an integer score, and why.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::field::{Field, FieldSet};
use crate::id::CapabilityId;

/// How well a document answers a request. An integer, so that order is total and the same
/// on every machine; comparable only within one search.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Score(pub u32);

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// What was found.
    pub id: CapabilityId,
    /// How well it answers.
    pub score: Score,
    /// What brought it here, heaviest first; the weights add up to the score.
    pub why: Vec<MatchReason>,
}

/// One thing that brought a document into the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum MatchReason {
    /// The request is its name, or names it among other words.
    ExactName {
        /// What it added.
        weight: u32,
    },
    /// A word of the request is in these fields.
    Word {
        /// The word as asked.
        word: Arc<str>,
        /// Where it was found.
        fields: FieldSet,
        /// What it added.
        weight: u32,
    },
    /// A word of the request that nothing has is nearly a word of its name.
    NearMiss {
        /// The word as asked.
        word: Arc<str>,
        /// The word of the name it was taken for.
        taken_for: Arc<str>,
        /// What it added.
        weight: u32,
    },
    /// Words that stand side by side in the request stand side by side here.
    Phrase {
        /// What it added.
        weight: u32,
    },
    /// One clause of the request speaks of it in particular.
    Clause {
        /// What it added.
        weight: u32,
    },
    /// It belongs to the server the request named.
    Server {
        /// What it added.
        weight: u32,
    },
    /// The whole request means something like it.
    Meaning {
        /// What it added.
        weight: u32,
    },
}

impl MatchReason {
    /// What the reason added to the score.
    pub fn weight(&self) -> u32 {
        match self {
            MatchReason::ExactName { weight }
            | MatchReason::Word { weight, .. }
            | MatchReason::NearMiss { weight, .. }
            | MatchReason::Phrase { weight }
            | MatchReason::Clause { weight }
            | MatchReason::Server { weight }
            | MatchReason::Meaning { weight } => *weight,
        }
    }
}

impl fmt::Display for MatchReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MatchReason::ExactName { .. } => f.write_str("exact name"),
            MatchReason::Word {
                word,
                fields,
                weight,
            } => write!(f, "`{word}` in {fields} +{weight}"),
            MatchReason::NearMiss {
                word,
                taken_for,
                weight,
            } => write!(f, "`{word}` taken for `{taken_for}` in name +{weight}"),
            MatchReason::Clause { weight } => write!(f, "best clause +{weight}"),
            MatchReason::Phrase { weight } => write!(f, "words side by side +{weight}"),
            MatchReason::Server { weight } => write!(f, "server asked for +{weight}"),
            MatchReason::Meaning { weight } => write!(f, "meaning +{weight}"),
        }
    }
}

impl fmt::Display for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, field) in self.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{field}")?;
        }
        Ok(())
    }
}

impl Serialize for FieldSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Field::as_str))
    }
}
