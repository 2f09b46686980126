//! The port through which a person is asked.

use std::sync::Arc;

use ambit_core::digest::Digest;
use ambit_core::effects::Effects;
use ambit_core::id::CapabilityId;
use ambit_core::permission::{Answer, AskReason, StandingApproval};
use async_trait::async_trait;
use serde_json::Value;

use crate::conversation::Caller;

/// What a person is asked about. Everything they see is what will run.
#[derive(Clone, Debug)]
pub struct ApprovalRequest {
    /// For whom.
    pub agent: String,
    /// Who asked that agent, the first who asked first.
    pub asked_by: Vec<String>,
    /// In which session.
    pub session: String,
    /// Which capability.
    pub id: CapabilityId,
    /// Its definition; a standing answer holds for no other.
    pub definition: Digest,
    /// Its title.
    pub title: String,
    /// What it does to the world.
    pub effects: Effects,
    /// The exact arguments, known secrets taken out.
    pub arguments: Value,
    /// The same, fit to be written down.
    pub written_arguments: Value,
    /// Why a person is asked.
    pub reason: AskReason,
    /// What the answer is bound to.
    pub digest: Digest,
    /// Who asked for the call, and may be the one to be asked.
    pub caller: Arc<dyn Caller>,
}

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalReply {
    /// A person answered, now or before, about exactly this call.
    Answered(Answer),
    /// Nobody can be asked here; `how` says how to get an answer all the same.
    NobodyToAsk {
        /// What the caller can do.
        how: String,
    },
}

/// Asks a person, through whatever the channel offers.
///
/// The contract: `ask` may take as long as it likes; the driver gives up on it at the limit, and
/// that is a no. An implementation stores `Always` answers itself and gives them back from
/// `standing`. It may store `Session` answers, too, and give them again when asked: a session that
/// goes on in another process asks anew.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Asks about one call.
    async fn ask(&self, request: &ApprovalRequest) -> ApprovalReply;

    /// What a person has said yes to for good.
    fn standing(&self, agent: &str) -> Vec<StandingApproval>;
}

/// Says yes to everything it is asked, once each: somebody said so when starting the run.
pub struct SaysYes;

#[async_trait]
impl Approver for SaysYes {
    async fn ask(&self, _: &ApprovalRequest) -> ApprovalReply {
        ApprovalReply::Answered(Answer::Once)
    }

    fn standing(&self, _: &str) -> Vec<StandingApproval> {
        Vec::new()
    }
}

/// Has nobody to ask.
pub struct NobodyThere;

#[async_trait]
impl Approver for NobodyThere {
    async fn ask(&self, _: &ApprovalRequest) -> ApprovalReply {
        ApprovalReply::NobodyToAsk {
            how: "allow it by a rule, or run where a person can answer".to_owned(),
        }
    }

    fn standing(&self, _: &str) -> Vec<StandingApproval> {
        Vec::new()
    }
}
