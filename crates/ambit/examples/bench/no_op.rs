//! Capabilities that do nothing, and sessions that call them over a journal on the disk: what is
//! left to measure is Ambit.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use ambit_core::observation::{Failure, Observation, Output};
use ambit_runtime::executor::{CapabilityExecutor, StartedCall};
use ambit_runtime::journal::Journal;
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use ambit_runtime::session::Session;
use ambit_testkit::{Bench, call, fixture_tool};
use async_trait::async_trait;
use serde_json::{Value, json};

pub(crate) const READ: &str = "ext__bench__read";
pub(crate) const WRITE: &str = "ext__bench__write";

/// All that a call of these capabilities does.
pub(crate) fn answer() -> Output {
    Output::text("ok")
}

struct NoOp;

#[async_trait]
impl CapabilityResolver for NoOp {
    fn key(&self) -> &str {
        "bench"
    }

    fn summary(&self) -> &str {
        "Does nothing."
    }

    fn offer(&self) -> Offer {
        Offer::Declared(vec![
            fixture_tool("ext__bench__read reads"),
            fixture_tool("ext__bench__write writes"),
        ])
    }

    fn config_schema(&self) -> Value {
        json!({"type": "object", "additionalProperties": false})
    }

    async fn resolve(&self, _: &Value, _: &ResolverContext) -> Result<Resolution, ResolveError> {
        Ok(Resolution::Ready(Arc::new(NoOp)))
    }
}

#[async_trait]
impl CapabilityExecutor for NoOp {
    async fn execute(&self, _: StartedCall) -> Result<Output, Failure> {
        Ok(answer())
    }
}

/// A marketplace of these capabilities.
pub(crate) fn market(journal: &Path) -> Result<Bench, Box<dyn Error>> {
    let (journal, _) = Journal::open(journal)?;
    Ok(Bench::default()
        .with(Arc::new(NoOp), json!({}))
        .journal(journal))
}

/// One call, which is to succeed: a refusal would be quick, and no measure.
pub(crate) async fn complete(session: &Session, target: &str) -> Result<(), String> {
    match call(session, target, json!({"path": "notes/today.md"}))
        .await
        .observation
    {
        Observation::Completed(_) => Ok(()),
        other => Err(format!("`{target}` did not complete: {other:?}")),
    }
}
