//! What a run tells while it happens, for whoever shows it.

use std::time::Duration;

use ambit_core::intent::CallId;
use ambit_core::lineage::Lineage;
use ambit_core::observation::Observation;
use ambit_runtime::conversation::Notice;
use ambit_runtime::session::Session;
use ambit_runtime::turn::TurnReport;
use serde_json::Value;

use super::report::RunReport;
use crate::engine::{ModelNews, ModelTurn};

/// Hears a run as it happens.
pub trait RunListener: Send + Sync {
    /// One piece of news, in order, of the agent at the end of a chain. Must not block.
    fn hear(&self, who: &Lineage, news: RunNews<'_>);
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unheard;

impl RunListener for Unheard {
    fn hear(&self, _: &Lineage, _: RunNews<'_>) {}
}

/// Something that happened in a run.
#[derive(Clone, Copy)]
pub enum RunNews<'a> {
    /// Its session is open.
    Opened(&'a Session),
    /// A turn began: what is visible, and what that changed.
    Turn(&'a TurnReport),
    /// The model speaks.
    Model(ModelNews<'a>),
    /// The model finished its turn.
    Responded(&'a ModelTurn),
    /// A call begins its way.
    Calling {
        /// Its name in the journal.
        call: &'a CallId,
        /// The tool, by its wire name.
        name: &'a str,
        /// What with.
        arguments: &'a Value,
    },
    /// A running call says how far it is.
    Noticed {
        /// Which.
        call: &'a CallId,
        /// What it says.
        notice: &'a Notice,
    },
    /// A call ended.
    Called {
        /// Which.
        call: &'a CallId,
        /// The tool, by its wire name.
        name: &'a str,
        /// How.
        observation: &'a Observation,
        /// How long it took.
        duration: Duration,
    },
    /// Old results were replaced by references.
    Compacted {
        /// What the conversation cost, in tokens.
        from: u64,
        /// What it costs now.
        to: u64,
    },
    /// It is over.
    Finished(&'a RunReport),
}
