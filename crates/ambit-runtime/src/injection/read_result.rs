//! `read_result`: pages through a result that was too large to hand over.

use std::sync::Arc;

use ambit_core::manifest::CapabilityManifest;
use ambit_core::observation::{Content, Failure, Output};
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::executor::{CapabilityExecutor, StartedCall};
use crate::injection::{READ_RESULT, declare};
use crate::results::{PAGE, ResultError, ResultStore};
use crate::session::SessionScope;

/// Room for the line that says where the next page starts.
const PAGE_NOTE: usize = 100;

pub(super) fn manifest() -> Option<CapabilityManifest> {
    declare(
        READ_RESULT,
        "Read a stored result",
        "Reads on in a result that was too large to return whole. Give the `ref` from the cut result; the answer says where the next page starts.",
        json!({
            "ref": {"type": "string", "maxLength": 64, "description": "The reference of the stored result, such as `r-3kd9…`."},
            "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "The byte to start at."},
            "limit": {"type": "integer", "minimum": 4, "maximum": PAGE, "default": 32768, "description": "Most bytes to return."}
        }),
        &["ref"],
    )
}

#[derive(Clone)]
pub(super) struct ReadResult {
    agent: String,
    results: ResultStore,
    /// A page that did not fit would be cut and stored in its turn, and nobody would ever come to
    /// the end.
    most: usize,
}

impl ReadResult {
    pub(super) fn new(scope: &Arc<SessionScope>) -> Self {
        ReadResult {
            agent: scope.agent.clone(),
            results: scope.market.results().clone(),
            most: scope.market.limits().result_bytes.saturating_sub(PAGE_NOTE),
        }
    }
}

#[async_trait]
impl CapabilityExecutor for ReadResult {
    async fn execute(&self, call: StartedCall) -> Result<Output, Failure> {
        let arguments = call.into_arguments();
        let reference = arguments
            .get("ref")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let offset = arguments.get("offset").and_then(Value::as_u64).unwrap_or(0);
        let limit = arguments
            .get("limit")
            .and_then(Value::as_u64)
            .and_then(|it| usize::try_from(it).ok())
            .unwrap_or(PAGE / 2)
            .min(self.most);
        let this = self.clone();
        let page = tokio::task::spawn_blocking(move || {
            this.results.read(&this.agent, &reference, offset, limit)
        })
        .await
        .map_err(|error| Failure::provider(error.to_string()))?;
        match page {
            Ok(page) => {
                let mut output = Output::text(page.text);
                let more = match page.next {
                    Some(next) => format!(
                        "[{} bytes in all; the next page starts at offset {next}]",
                        page.total
                    ),
                    None => format!("[{} bytes in all; this was the last page]", page.total),
                };
                output.content.push(Content::text(more));
                Ok(output)
            }
            Err(error @ ResultError::Unknown(_)) => Err(Failure::refused(error.to_string())),
            Err(error) => Err(Failure::provider(error.to_string())),
        }
    }
}
