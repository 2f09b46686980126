//! `describe_tool`: the whole definition of a tool that can be called but is not listed. What may
//! not be called is not described either, and looks the same as what does not exist.

use std::sync::Arc;

use ambit_core::id::Kind;
use ambit_core::manifest::CapabilityManifest;
use ambit_core::observation::{Failure, Output};
use ambit_core::projection::{ToolFormat, tool};
use ambit_core::wire::is_injection;
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::executor::{CapabilityExecutor, StartedCall};
use crate::injection::{DESCRIBE_TOOL, declare};
use crate::session::SessionScope;

pub(super) fn manifest() -> Option<CapabilityManifest> {
    declare(
        DESCRIBE_TOOL,
        "Describe a tool",
        "Says what a tool does and which arguments it takes, before it is called with call_tool.",
        json!({"name": {"type": "string", "minLength": 1, "maxLength": 256, "description": "The tool's name, as tool_search gives it."}}),
        &["name"],
    )
}

pub(super) struct Describe {
    scope: Arc<SessionScope>,
}

impl Describe {
    pub(super) fn new(scope: &Arc<SessionScope>) -> Self {
        Describe {
            scope: Arc::clone(scope),
        }
    }

    fn definition(&self, name: &str) -> Option<Value> {
        let turn = self.scope.turn();
        let id = turn
            .visible
            .find(name)
            .filter(|id| id.kind() == Kind::Tool && !is_injection(id))?;
        let capability = self.scope.market.load(id).filter(|it| turn.judged(it))?;
        let name = turn.visible.names().name_of(id)?;
        Some(tool(capability.manifest(), name, ToolFormat::Mcp))
    }
}

#[async_trait]
impl CapabilityExecutor for Describe {
    async fn execute(&self, call: StartedCall) -> Result<Output, Failure> {
        let arguments = call.arguments();
        let name = arguments
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let definition = self.definition(name).ok_or_else(|| {
            Failure::refused(format!(
                "no tool `{name}` can be called; tool_search finds those that can"
            ))
        })?;
        Ok(Output::text(definition.to_string()).with_structured(definition))
    }
}
