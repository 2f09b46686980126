//! `history`: earlier conversations of an agent, from the journal and from imported transcripts.

mod imported;
mod index;
mod message;
#[cfg(test)]
mod tests;
mod threads;
mod tools;
mod transcript;

use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::Builtins;
use crate::declare::object;
use crate::pack::Pack;
pub use imported::{Added, TranscriptSummary, Transcripts};
pub(crate) use index::PART;
use threads::Threads;
pub use transcript::{Skipped, Transcript, TranscriptError};

const KEY: &str = "history";
const SUMMARY: &str = "Search and read earlier conversations.";

static PACK: Pack<Threads> = Pack {
    key: KEY,
    summary: SUMMARY,
    tools: tools::TOOLS,
};

/// Makes `history` grantable.
#[derive(Clone)]
pub struct HistoryResolver(pub Builtins);

const NO_JOURNAL: &str = "nothing is recorded here: history is read from the journal";

#[async_trait]
impl CapabilityResolver for HistoryResolver {
    fn key(&self) -> &str {
        KEY
    }

    fn summary(&self) -> &str {
        SUMMARY
    }

    fn offer(&self) -> Offer {
        PACK.offer()
    }

    fn unavailable(&self) -> Option<String> {
        self.0.journal.is_none().then(|| NO_JOURNAL.to_owned())
    }

    fn config_schema(&self) -> Value {
        object(&[], json!({}))
    }

    async fn resolve(
        &self,
        _config: &Value,
        context: &ResolverContext,
    ) -> Result<Resolution, ResolveError> {
        if self.0.journal.is_none() {
            return Ok(Resolution::Nothing {
                reason: NO_JOURNAL.to_owned(),
            });
        }
        Ok(Resolution::Ready(PACK.executor(Threads {
            store: self.0.store.clone(),
            journal: self.0.journal.clone(),
            agent: context.agent.clone(),
            workspace: context.workspace.clone(),
            current: context.thread.clone(),
            pace: Default::default(),
        })))
    }
}
