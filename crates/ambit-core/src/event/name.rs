//! What an event is called, and which call it belongs to.

use super::EventBody;
use crate::intent::CallId;

impl EventBody {
    /// All there are of [`EventBody::type_name`].
    pub const TYPES: [&'static str; 27] = [
        "session.started",
        "session.resumed",
        "session.ended",
        "catalog.changed",
        "capability.quarantined",
        "turn.started",
        "capability.diff",
        "search.performed",
        "capability.loaded",
        "tool.intent",
        "capability.refused",
        "tool.validation",
        "tool.permission",
        "approval.requested",
        "approval.decided",
        "hook.decided",
        "tool.started",
        "tool.observation",
        "message.user",
        "model.requested",
        "model.responded",
        "model.failed",
        "message.results",
        "context.compacted",
        "run.finished",
        "delegation.started",
        "delegation.finished",
    ];

    /// The `type` field.
    pub fn type_name(&self) -> &'static str {
        match self {
            EventBody::SessionStarted { .. } => "session.started",
            EventBody::SessionResumed { .. } => "session.resumed",
            EventBody::SessionEnded { .. } => "session.ended",
            EventBody::CatalogChanged { .. } => "catalog.changed",
            EventBody::CapabilityQuarantined { .. } => "capability.quarantined",
            EventBody::TurnStarted { .. } => "turn.started",
            EventBody::CapabilityDiff { .. } => "capability.diff",
            EventBody::SearchPerformed { .. } => "search.performed",
            EventBody::CapabilityLoaded { .. } => "capability.loaded",
            EventBody::ToolIntent { .. } => "tool.intent",
            EventBody::CapabilityRefused { .. } => "capability.refused",
            EventBody::ToolValidation { .. } => "tool.validation",
            EventBody::ToolPermission { .. } => "tool.permission",
            EventBody::ApprovalRequested { .. } => "approval.requested",
            EventBody::ApprovalDecided { .. } => "approval.decided",
            EventBody::HookDecided { .. } => "hook.decided",
            EventBody::ToolStarted { .. } => "tool.started",
            EventBody::ToolObservation(_) => "tool.observation",
            EventBody::MessageUser { .. } => "message.user",
            EventBody::ModelRequested { .. } => "model.requested",
            EventBody::ModelResponded { .. } => "model.responded",
            EventBody::ModelFailed { .. } => "model.failed",
            EventBody::MessageResults { .. } => "message.results",
            EventBody::ContextCompacted { .. } => "context.compacted",
            EventBody::RunFinished { .. } => "run.finished",
            EventBody::DelegationStarted { .. } => "delegation.started",
            EventBody::DelegationFinished { .. } => "delegation.finished",
        }
    }

    /// The call it belongs to: what correlates the events of one call.
    pub fn call(&self) -> Option<&CallId> {
        match self {
            EventBody::SearchPerformed { call, .. }
            | EventBody::CapabilityLoaded { call, .. }
            | EventBody::ToolIntent { call, .. }
            | EventBody::CapabilityRefused { call, .. }
            | EventBody::ToolValidation { call, .. }
            | EventBody::ToolPermission { call, .. }
            | EventBody::ApprovalRequested { call, .. }
            | EventBody::ApprovalDecided { call, .. }
            | EventBody::HookDecided { call, .. }
            | EventBody::DelegationStarted { call, .. }
            | EventBody::DelegationFinished { call, .. }
            | EventBody::ToolStarted { call, .. } => Some(call),
            EventBody::ToolObservation(record) => Some(&record.call),
            _ => None,
        }
    }
}
