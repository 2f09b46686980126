//! How a capability key becomes something that can be called.

use std::path::PathBuf;
use std::sync::Arc;

use ambit_core::grant::ResolverDescriptor;
use ambit_core::manifest::CapabilityManifest;
use async_trait::async_trait;
use serde_json::Value;
use thiserror::Error;

use crate::executor::CapabilityExecutor;

/// Where and for whom a capability is resolved. It says nothing about the channel: what an
/// agent holds must not depend on how it is spoken to.
#[derive(Clone, Debug)]
pub struct ResolverContext {
    /// The agent's name.
    pub agent: String,
    /// Where this agent keeps what is its own.
    pub agent_dir: PathBuf,
    /// The folder the agent works in.
    pub workspace: PathBuf,
    /// The conversation, when there is one.
    pub thread: Option<String>,
    /// Files and folders no capability may write: configs, skill roots, the state directory.
    pub control_paths: Vec<PathBuf>,
    /// What the embedding program can do for a capability.
    pub callbacks: Callbacks,
}

/// What the embedding program can do for a capability. A resolver that needs one that is not
/// there resolves to nothing, with that reason.
#[derive(Clone, Default)]
pub struct Callbacks {
    /// Hands a file to the person.
    pub send_file: Option<Arc<dyn Fn(PathBuf) -> Result<(), String> + Send + Sync>>,
}

impl std::fmt::Debug for Callbacks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Callbacks")
            .field("send_file", &self.send_file.is_some())
            .finish()
    }
}

/// What resolving a granted capability gave.
pub enum Resolution {
    /// It can be called.
    Ready(Arc<dyn CapabilityExecutor>),
    /// It cannot, and why: a dependency is missing. The agent goes on without it.
    Nothing {
        /// Why.
        reason: String,
    },
}

/// A granted capability that should have resolved and did not.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("capability `{key}` cannot be resolved: {message}")]
pub struct ResolveError {
    /// The key.
    pub key: String,
    /// What went wrong.
    pub message: String,
}

/// Makes one capability key grantable. Registering it is all that is needed.
///
/// `manifests` and `config_schema` are asked for without starting anything; `resolve` is called
/// only for an agent that was granted the key, with a config that fits the schema and never
/// holds the reserved `tools`.
#[async_trait]
pub trait CapabilityResolver: Send + Sync {
    /// The key.
    fn key(&self) -> &str;

    /// What it is for, in one sentence.
    fn summary(&self) -> &str;

    /// Everything it can bring, declared.
    fn manifests(&self) -> Vec<CapabilityManifest>;

    /// JSON Schema of its config.
    fn config_schema(&self) -> Value;

    /// Makes it callable for one agent.
    async fn resolve(
        &self,
        config: &Value,
        context: &ResolverContext,
    ) -> Result<Resolution, ResolveError>;
}

/// The light description of a resolver.
pub fn describe(resolver: &dyn CapabilityResolver) -> ResolverDescriptor {
    ResolverDescriptor {
        key: resolver.key().to_owned(),
        summary: resolver.summary().to_owned(),
        tools: resolver
            .manifests()
            .into_iter()
            .map(|it| (it.id.name().to_owned(), it.id))
            .collect(),
        config_schema: resolver.config_schema(),
    }
}
