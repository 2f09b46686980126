//! Tools the runtime wires from the execution context, never listed in an agent's config. They
//! travel the same pipeline as everything else.

use std::collections::BTreeSet;
use std::sync::Arc;

use ambit_core::effects::{Effects, Risk};
use ambit_core::id::{CapabilityId, IdError, Source};
use ambit_core::manifest::CapabilityManifest;
use ambit_core::observation::{Failure, Output};
use ambit_core::wire::INJECTION_OWNER;
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::executor::{CapabilityExecutor, StartedCall};
use crate::results::{PAGE, ResultError, ResultStore};

/// The source all injections belong to.
pub const INJECTION_SOURCE: &str = "local:ambit";

/// Room for the line that says where the next page starts.
const PAGE_NOTE: usize = 100;

/// One injected tool.
pub struct Injection {
    /// What it is.
    pub manifest: CapabilityManifest,
    /// Runs it.
    pub executor: Arc<dyn CapabilityExecutor>,
}

/// What the runtime can wire for a session.
pub struct InjectionContext {
    /// The agent.
    pub agent: String,
    /// Whole results that were too large to hand over.
    pub results: ResultStore,
    /// How many bytes of a result the caller is given. A page that did not fit would be cut and
    /// stored in its turn, and nobody would ever come to the end.
    pub result_bytes: usize,
}

/// The injections of a session.
pub fn resolve_injections(context: &InjectionContext) -> Vec<Injection> {
    let read_result = ReadResult {
        agent: context.agent.clone(),
        results: context.results.clone(),
        most: context.result_bytes.saturating_sub(PAGE_NOTE),
    };
    manifests()
        .into_iter()
        .map(|manifest| Injection {
            manifest,
            executor: Arc::new(read_result.clone()),
        })
        .collect()
}

/// What injections look like, before any session.
pub fn manifests() -> Vec<CapabilityManifest> {
    read_result_manifest().into_iter().collect()
}

/// A read-only injection.
fn declare(
    name: &str,
    title: &str,
    description: &str,
    input_schema: Value,
) -> Result<CapabilityManifest, IdError> {
    Ok(CapabilityManifest {
        id: CapabilityId::tool(Source::Local, INJECTION_OWNER, name)?,
        title: title.to_owned(),
        description: description.to_owned(),
        input_schema,
        output_schema: None,
        effects: Effects::READS,
        risk: Risk::Low,
        permissions: BTreeSet::new(),
        tags: BTreeSet::new(),
        version: semver::Version::new(1, 0, 0),
        needs: BTreeSet::new(),
        pack_summary: String::new(),
        search_text: String::new(),
    })
}

fn read_result_manifest() -> Option<CapabilityManifest> {
    declare(
        "read_result",
        "Read a stored result",
        "Reads on in a result that was too large to return whole. Give the `ref` from the cut result; the answer says where the next page starts.",
        json!({
            "type": "object",
            "properties": {
                "ref": {"type": "string", "maxLength": 64, "description": "The reference of the stored result, such as `r-3kd9…`."},
                "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "The byte to start at."},
                "limit": {"type": "integer", "minimum": 4, "maximum": PAGE, "default": 32768, "description": "Most bytes to return."}
            },
            "required": ["ref"],
            "additionalProperties": false
        }),
    )
    .ok()
}

#[derive(Clone)]
struct ReadResult {
    agent: String,
    results: ResultStore,
    most: usize,
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
                output
                    .content
                    .push(ambit_core::observation::Content::text(more));
                Ok(output)
            }
            Err(error @ ResultError::Unknown(_)) => Err(Failure::refused(error.to_string())),
            Err(error) => Err(Failure::provider(error.to_string())),
        }
    }
}
