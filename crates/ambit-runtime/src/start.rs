//! The only place where a permitted call becomes a started one: by recording its start.

use std::fmt;

use ambit_core::digest::Digest;
use ambit_core::event::EventBody;
use ambit_core::gate::PermittedCall;
use ambit_core::id::CapabilityId;
use ambit_core::intent::CallId;
use serde_json::Value;

use crate::conversation::Conversation;
use crate::journal::{Cause, Durability, Journal, JournalError, NewEvent, Receipt, SessionId};

/// A call whose start is on record. It cannot be cloned, made elsewhere or used twice, so
/// nothing executes around the gates or unrecorded.
pub struct StartedCall {
    call: CallId,
    id: CapabilityId,
    content: Option<Digest>,
    arguments: Value,
    conversation: Conversation,
}

impl StartedCall {
    /// Which call.
    pub fn call(&self) -> &CallId {
        &self.call
    }

    /// Which capability.
    pub fn id(&self) -> &CapabilityId {
        &self.id
    }

    /// What was behind the definition that was judged, where that can change by itself.
    pub fn content(&self) -> Option<Digest> {
        self.content
    }

    /// The arguments, checked against the input schema.
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// The way back to whoever asked for it.
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    pub(crate) fn arguments_mut(&mut self) -> &mut Value {
        &mut self.arguments
    }

    /// The arguments, taken out.
    pub fn into_arguments(self) -> Value {
        self.arguments
    }
}

/// Without the arguments: secrets may have been filled in.
impl fmt::Debug for StartedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartedCall")
            .field("call", &self.call)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// Records the start of a call, after everything that led to it, and makes it executable. For a
/// call with effects the record is synced first; a read is recorded behind it.
pub(crate) async fn record_start(
    journal: &Journal,
    session: &SessionId,
    permitted: PermittedCall,
    mut before: Vec<NewEvent>,
    cause: Option<Cause>,
    objects: Vec<(Digest, String)>,
    conversation: Conversation,
) -> Result<(StartedCall, Receipt), JournalError> {
    let effects = permitted.capability().descriptor().effects;
    let body = EventBody::ToolStarted {
        call: permitted.call().clone(),
        id: permitted.id().clone(),
        digest: permitted.digest(),
        effects,
    };
    before.push(NewEvent { body, cause });
    let durability = if effects.is_effectful() {
        Durability::Synced
    } else {
        Durability::Behind
    };
    let receipt = journal.append(session, before, objects, durability);
    if effects.is_effectful() {
        receipt.written().await?;
    }
    let call = permitted.call().clone();
    let content = permitted.capability().manifest().content;
    let (id, arguments) = permitted.into_parts();
    Ok((
        StartedCall {
            call,
            id,
            content,
            arguments,
            conversation,
        },
        receipt,
    ))
}
