//! Who asked whom. An agent may ask another for help, and that one another again; this says how
//! far that goes. What each of them may do is bounded by [`crate::permission::Bound`]s.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How many agents may stand behind the first: enough for a specialist's specialist, and few
/// enough that a person who is asked can still see who wants what.
pub const DEEPEST: usize = 3;

/// A chain of agents, the one a person asked first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lineage(Vec<String>);

/// Why an agent may not be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UndelegatedReason {
    /// It is the one that asks.
    Itself,
    /// It waits in the chain already.
    InChain {
        /// Everybody in it.
        chain: Lineage,
    },
    /// The chain is as long as it may be.
    TooDeep {
        /// Everybody in it.
        chain: Lineage,
    },
}

impl Lineage {
    /// Of an agent nobody else asked.
    pub fn of(agent: impl Into<String>) -> Self {
        Lineage(vec![agent.into()])
    }

    /// With another at its end, if that may be.
    pub fn with(&self, agent: &str) -> Result<Lineage, UndelegatedReason> {
        if self.last() == agent {
            return Err(UndelegatedReason::Itself);
        }
        if self.0.iter().any(|it| it == agent) {
            let chain = self.clone();
            return Err(UndelegatedReason::InChain { chain });
        }
        self.deeper(agent)
    }

    /// With the last one once more, for a part of its work that it does apart.
    pub fn forked(&self) -> Result<Lineage, UndelegatedReason> {
        self.deeper(self.last())
    }

    fn deeper(&self, agent: &str) -> Result<Lineage, UndelegatedReason> {
        if self.0.len() > DEEPEST {
            let chain = self.clone();
            return Err(UndelegatedReason::TooDeep { chain });
        }
        let mut chain = self.0.clone();
        chain.push(agent.to_owned());
        Ok(Lineage(chain))
    }

    /// Everybody in it, the first who asked first.
    pub fn agents(&self) -> &[String] {
        &self.0
    }

    /// The one that works now.
    pub fn last(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }
}

impl fmt::Display for Lineage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" → "))
    }
}

impl fmt::Display for UndelegatedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UndelegatedReason::Itself => f.write_str("an agent cannot ask itself; do it yourself"),
            UndelegatedReason::InChain { chain } => {
                write!(f, "it waits for an answer already ({chain}); ask another")
            }
            UndelegatedReason::TooDeep { chain } => write!(
                f,
                "no more than {DEEPEST} agents may stand behind the first ({chain}); do it yourself"
            ),
        }
    }
}

#[cfg(test)]
mod tests;
