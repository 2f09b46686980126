//! The second gate. A [`PermittedCall`] is made in one function of this file, `admit`, and only
//! by an answer the rules or a person gave about exactly this call.

use std::sync::Arc;

use serde_json::Value;

use crate::code::Code;
use crate::digest::Digest;
use crate::id::CapabilityId;
use crate::intent::{CallId, ValidatedIntent};
use crate::loaded::LoadedCapability;
use crate::observation::Denial;
use crate::permission::{
    AllowReason, Answer, AskReason, PermissionDecision, PermissionTerms, decide,
};

/// A call that may run. Not yet recorded, so not yet executable.
#[derive(Debug)]
pub struct PermittedCall {
    validated: ValidatedIntent,
    digest: Digest,
    reason: AllowReason,
}

impl PermittedCall {
    /// Which call.
    pub fn call(&self) -> &CallId {
        &self.validated.intent().call
    }

    /// Of what.
    pub fn capability(&self) -> &Arc<LoadedCapability> {
        self.validated.capability()
    }

    /// Which capability.
    pub fn id(&self) -> &CapabilityId {
        &self.capability().descriptor().id
    }

    /// With what.
    pub fn arguments(&self) -> &Value {
        &self.validated.intent().arguments
    }

    /// The digest approvals are bound to.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Why it may run.
    pub fn reason(&self) -> &AllowReason {
        &self.reason
    }

    /// The parts an executor needs; the proof is spent.
    pub fn into_parts(self) -> (CapabilityId, Value) {
        let id = self.id().clone();
        (id, self.validated.into_parts().0.arguments)
    }
}

/// A call that waits for a person.
#[derive(Debug)]
pub struct PendingCall {
    validated: ValidatedIntent,
    digest: Digest,
    reason: AskReason,
}

/// A person's answer, bound to the call it was asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalDecision {
    /// The digest of the call.
    pub call: Digest,
    /// The answer.
    pub answer: Answer,
}

/// What the gate says.
#[derive(Debug)]
pub enum Gate {
    /// It may run.
    Permitted(PermittedCall),
    /// A person decides.
    Ask(PendingCall),
    /// It may not run.
    Denied(Denial),
}

/// Asks the rules about a call.
pub fn permit(validated: ValidatedIntent, terms: &PermissionTerms) -> (PermissionDecision, Gate) {
    let digest = validated.digest(terms.version());
    let decision = decide(validated.capability().descriptor(), terms.input());
    let gate = match &decision {
        PermissionDecision::Allow { reason } => {
            Gate::Permitted(admit(validated, digest, reason.clone()))
        }
        PermissionDecision::Ask { reason } => Gate::Ask(PendingCall {
            validated,
            digest,
            reason: reason.clone(),
        }),
        PermissionDecision::Deny { rule } => Gate::Denied(Denial::new(
            Code::PermissionDenied,
            format!("the rule `{rule}` forbids this call"),
        )),
    };
    (decision, gate)
}

impl PendingCall {
    /// Which call.
    pub fn call(&self) -> &CallId {
        &self.validated.intent().call
    }

    /// What an answer must be bound to.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Why a person is asked.
    pub fn reason(&self) -> &AskReason {
        &self.reason
    }

    /// What is asked about.
    pub fn validated(&self) -> &ValidatedIntent {
        &self.validated
    }

    /// Spends a person's answer on this call. An answer to another call is a no.
    pub fn decide(self, decision: &ApprovalDecision) -> Result<PermittedCall, Denial> {
        if decision.call != self.digest {
            return Err(Denial::new(
                Code::ApprovalMismatch,
                "the approval was given for another call; ask again",
            ));
        }
        match decision.answer {
            Answer::Deny => Err(Denial::new(
                Code::ApprovalDenied,
                "a person said no to this call",
            )),
            answer => Ok(admit(
                self.validated,
                self.digest,
                AllowReason::Approval { answer },
            )),
        }
    }
}

/// The one place a permitted call comes from.
fn admit(validated: ValidatedIntent, digest: Digest, reason: AllowReason) -> PermittedCall {
    PermittedCall {
        validated,
        digest,
        reason,
    }
}
