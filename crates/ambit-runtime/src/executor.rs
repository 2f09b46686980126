//! The port every provider implements: it consumes a [`StartedCall`] and nothing else.

use std::sync::Arc;

use ambit_core::observation::{Failure, Output};
use async_trait::async_trait;

use crate::filling::SecretFiller;
use crate::provider::Provider;
pub use crate::start::StartedCall;

/// Runs calls of one provider.
///
/// The contract: `execute` is called once per recorded start. The driver drops the future when
/// the deadline passes or the caller cancels; whatever was begun must end with it (kill the
/// process group, close the connection). Errors are [`Failure`]s in words the model can act on.
/// Results may be of any size that fits in memory; the pipeline cuts them.
#[async_trait]
pub trait CapabilityExecutor: Send + Sync {
    /// Performs the call.
    async fn execute(&self, call: StartedCall) -> Result<Output, Failure>;

    /// Where it hands out placeholders of secrets: what they stand for.
    fn filler(&self) -> Option<Arc<dyn SecretFiller>> {
        None
    }

    /// What it can do beside that, if it can.
    fn provider(&self) -> Option<Arc<dyn Provider>> {
        None
    }
}
