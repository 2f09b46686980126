//! Pinned definitions. What a server says of a tool when it is first seen is accepted with the
//! server; from then on, what no person has accepted is held back: a tool that says something
//! else than it did, and one that was not there, where new ones have to be asked about.
//!
//! The judgement is here; where it is remembered is behind [`PinStore`].

mod definition;
mod diff;
mod judge;
mod memory;

use std::collections::{BTreeMap, BTreeSet};

use ambit_core::digest::Digest;
use ambit_core::id::CapabilityId;
use ambit_core::quarantine::Quarantine;
use thiserror::Error;

pub use definition::Definition;
pub(crate) use judge::judge;
pub use memory::MemoryPins;

/// Every accepted definition of a server's tools. One that was accepted stays accepted: going
/// back to it is no news.
pub type Accepted = BTreeMap<CapabilityId, BTreeSet<Digest>>;

/// A definition that is held back.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// Whose.
    pub id: CapabilityId,
    /// What the server says now.
    pub definition: Definition,
    /// Why it is held back, and what is different.
    pub quarantine: Quarantine,
}

/// What a listing means for a server's pins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// Accepted as they are, from now on.
    pub pinned: Vec<(CapabilityId, Definition)>,
    /// All that is held back. What was and is not among these is held back no more.
    pub held: Vec<Held>,
}

/// Pins cannot be read or kept. Whatever depends on them fails: nothing counts as accepted only
/// because nobody can say.
#[derive(Debug, Error)]
#[error("what was accepted cannot be told: {0}")]
pub struct PinError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Where pins are kept, server by server.
pub trait PinStore: Send + Sync {
    /// What was accepted of a server; nothing, if it was never seen.
    fn accepted(&self, server: &str) -> Result<Option<Accepted>, PinError>;

    /// The definition of a capability that was accepted last.
    fn last_accepted(&self, id: &CapabilityId) -> Result<Option<Definition>, PinError>;

    /// What is held back of a server.
    fn held(&self, server: &str) -> Result<BTreeMap<CapabilityId, Quarantine>, PinError>;

    /// Remembers what a listing meant, all of it or nothing. A pin that another process made
    /// meanwhile stays.
    fn record(&self, server: &str, judged: &Judged) -> Result<(), PinError>;
}
