//! How a capability key becomes something that can be called.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use ambit_core::descriptor::CapabilityDescriptor;
use ambit_core::grant::ResolverDescriptor;
use ambit_core::id::CapabilityId;
use ambit_core::manifest::CapabilityManifest;
use ambit_core::quarantine::Quarantine;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::delegate::Delegate;
use crate::executor::CapabilityExecutor;

/// Where and for whom a capability is resolved. It says nothing about the channel: what an
/// agent holds must not depend on how it is spoken to.
#[derive(Clone, Debug)]
pub struct ResolverContext {
    /// The agent's name.
    pub agent: String,
    /// The agents it works for, the first who asked first: it may do no more than any of them.
    pub asked_by: Vec<String>,
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

/// A file on its way to the person.
#[derive(Clone, Debug)]
pub struct OutgoingFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it held when it was judged: what is sent is this, whatever becomes of the file.
    pub content: Vec<u8>,
    /// A sentence to show with it.
    pub caption: Option<String>,
}

/// Hands a file to the person, or says why not. It may wait: it is not called on an async thread.
pub type SendFile = Arc<dyn Fn(OutgoingFile) -> Result<(), String> + Send + Sync>;

/// How soon a person should see something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Urgency {
    /// Whenever.
    Low,
    /// The next time they look.
    #[default]
    Normal,
    /// At once.
    High,
}

impl Urgency {
    /// The words used in JSON.
    pub const WORDS: [&str; 3] = ["low", "normal", "high"];

    /// The word used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Urgency::Low => "low",
            Urgency::Normal => "normal",
            Urgency::High => "high",
        }
    }
}

/// A message from a run that nobody watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The agent it is from.
    pub agent: String,
    /// The session it was sent in.
    pub session: String,
    /// What it says, without secrets.
    pub message: String,
    /// How soon it should be seen.
    pub urgency: Urgency,
}

/// Brings a message to the person, or keeps it for them, or says why neither. It may wait: it is
/// not called on an async thread.
pub type Notify = Arc<dyn Fn(Notice) -> Result<(), String> + Send + Sync>;

/// What the embedding program can do for a capability. A resolver that needs one that is not
/// there resolves to nothing, with that reason.
#[derive(Clone, Default)]
pub struct Callbacks {
    /// Hands a file to the person.
    pub send_file: Option<SendFile>,
    /// Tells the person something from a run in the background.
    pub notify: Option<Notify>,
    /// Runs other agents.
    pub delegate: Option<Arc<dyn Delegate>>,
}

impl std::fmt::Debug for Callbacks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Callbacks")
            .field("send_file", &self.send_file.is_some())
            .field("notify", &self.notify.is_some())
            .field("delegate", &self.delegate.is_some())
            .finish()
    }
}

/// What resolving a granted capability gave.
pub enum Resolution {
    /// It can be called.
    Ready(Arc<dyn CapabilityExecutor>),
    /// Some of it can be called: its config narrows it.
    Only {
        /// Runs them.
        executor: Arc<dyn CapabilityExecutor>,
        /// What is left of what was granted.
        ids: BTreeSet<CapabilityId>,
    },
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

/// What a capability key can bring, known without starting anything.
pub enum Offer {
    /// Declared by code that is part of this process.
    Declared(Vec<CapabilityManifest>),
    /// Seen the last time its provider ran. Definitions are found by digest in the cache.
    Seen {
        /// The source they are filed under: `mcp:github`.
        source: String,
        /// The light entries, all of that source.
        descriptors: Vec<Arc<CapabilityDescriptor>>,
        /// Why it cannot serve at the moment.
        unavailable: Option<String>,
        /// What of it is held back until a person has accepted it.
        quarantined: BTreeMap<CapabilityId, Quarantine>,
    },
}

/// Makes one capability key grantable. Registering it is all that is needed.
///
/// `offer` and `config_schema` are asked for without starting anything; `resolve` is called
/// only for an agent that was granted the key, with a config that fits the schema and never
/// holds the reserved `tools`.
#[async_trait]
pub trait CapabilityResolver: Send + Sync {
    /// The key.
    fn key(&self) -> &str;

    /// What it is for, in one sentence.
    fn summary(&self) -> &str;

    /// Everything it can bring, without starting anything.
    fn offer(&self) -> Offer;

    /// Why what it declares cannot serve anybody now, whatever an agent's config says.
    fn unavailable(&self) -> Option<String> {
        None
    }

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
    let named = |id: &CapabilityId| (id.name().to_owned(), id.clone());
    let (tools, unseen): (BTreeMap<_, _>, _) = match resolver.offer() {
        Offer::Declared(manifests) => (manifests.iter().map(|it| named(&it.id)).collect(), None),
        Offer::Seen {
            descriptors,
            unavailable,
            ..
        } => {
            let unseen = unavailable.filter(|_| descriptors.is_empty());
            (descriptors.iter().map(|it| named(&it.id)).collect(), unseen)
        }
    };
    ResolverDescriptor {
        key: resolver.key().to_owned(),
        summary: resolver.summary().to_owned(),
        tools,
        config_schema: resolver.config_schema(),
        unseen,
    }
}
