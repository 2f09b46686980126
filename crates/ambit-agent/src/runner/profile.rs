//! What the runner is told about agents. It wires nothing: whoever knows configurations and
//! models hands it both.

use std::collections::BTreeSet;
use std::sync::Arc;

use ambit_runtime::session::SessionSpec;

use super::limits::RunLimits;
use crate::engine::Engine;

/// Everything to run one agent with.
#[derive(Clone)]
pub struct AgentProfile {
    /// How its session is opened.
    pub spec: SessionSpec,
    /// Its model.
    pub engine: Arc<dyn Engine>,
    /// What it was told to be, block by block.
    pub instructions: Vec<String>,
    /// What kind of project it works in: `rust`, `node`.
    pub project: BTreeSet<String>,
    /// How far it may go.
    pub limits: RunLimits,
}

/// Knows the agents there are.
pub trait Agents: Send + Sync {
    /// Their names, and what each is for.
    fn names(&self) -> Vec<(String, Option<String>)>;

    /// How to run one. The error is for the model that asked for it.
    fn profile(&self, name: &str) -> Result<AgentProfile, String>;
}

/// Knows no other agents.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAgents;

impl Agents for NoAgents {
    fn names(&self) -> Vec<(String, Option<String>)> {
        Vec::new()
    }

    fn profile(&self, name: &str) -> Result<AgentProfile, String> {
        Err(format!("there is no agent `{name}`"))
    }
}
