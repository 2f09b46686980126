//! What a provider with a protocol of its own can do beside running calls: complete what somebody
//! types, say when a resource changed, answer requests of its protocol's extensions.
//!
//! A front gets to it only through a session and a capability that is visible there, so a grant
//! bounds this as it bounds calls.

use ambit_core::observation::ErrorAnswer;
use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::broadcast;

use crate::skill::SkillEntry;

/// Something a provider says unasked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderNews {
    /// What it offers is not what it was.
    Changed,
    /// A resource that is watched has another content.
    ResourceUpdated(String),
}

/// What a provider can do beside running calls.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Its key.
    fn name(&self) -> &str;

    /// Sends one request of its protocol and waits for the answer.
    async fn request(&self, method: &str, params: Value) -> Result<Value, ErrorAnswer>;

    /// From now on, changes of a resource are news.
    async fn watch(&self, uri: &str) -> Result<(), ErrorAnswer>;

    /// No longer.
    async fn unwatch(&self, uri: &str) -> Result<(), ErrorAnswer>;

    /// Log lines of this gravity and above are wanted, from the next connection on if there is
    /// none now.
    async fn log_from(&self, level: &str);

    /// The skills it has, as far as it lists them.
    async fn skills(&self) -> Result<Vec<SkillEntry>, ErrorAnswer> {
        Ok(Vec::new())
    }

    /// The skill whose `SKILL.md` is at an address, listed or not.
    async fn skill(&self, _uri: &str) -> Result<Option<SkillEntry>, ErrorAnswer> {
        Ok(None)
    }

    /// What is directly in a folder of one of its skills, if it has such a folder.
    async fn folder(&self, _uri: &str) -> Result<Option<Vec<Value>>, ErrorAnswer> {
        Ok(None)
    }

    /// What it says from now on.
    fn news(&self) -> broadcast::Receiver<ProviderNews>;
}
