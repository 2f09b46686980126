//! The only place where a permitted call becomes a started one: by recording its start.

use ambit_core::id::CapabilityId;
use serde_json::Value;

/// A call whose start is on record. It cannot be cloned, made elsewhere or used twice, so
/// nothing executes around the gates or unrecorded.
#[derive(Debug)]
pub struct StartedCall {
    id: CapabilityId,
    arguments: Value,
}

impl StartedCall {
    /// Which capability.
    pub fn id(&self) -> &CapabilityId {
        &self.id
    }

    /// The arguments, checked against the input schema.
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// The arguments, taken out.
    pub fn into_arguments(self) -> Value {
        self.arguments
    }
}
