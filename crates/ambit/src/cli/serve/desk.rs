//! What waits for a person, for whoever asks over HTTP: the same store `ambit approvals` has.

use std::sync::Arc;

use ambit_core::permission::Answer;
use ambit_gateway::http::{ApprovalDesk, DeskError, WaitingApproval};
use serde_json::Value;

use crate::trust::{PendingRequest, TrustError, TrustStore};

/// The trust store, as far as it is about approvals.
pub(crate) struct Desk(pub(crate) Arc<TrustStore>);

impl ApprovalDesk for Desk {
    fn waiting(&self) -> Result<Vec<WaitingApproval>, DeskError> {
        let pending = self.0.pending().map_err(failed)?;
        Ok(pending.into_iter().map(waiting).collect())
    }

    fn answer(&self, number: i64, answer: Answer) -> Result<(WaitingApproval, Answer), DeskError> {
        let (decided, answer) = self.0.decide(number, answer).map_err(failed)?;
        Ok((waiting(decided), answer))
    }
}

fn waiting(it: PendingRequest) -> WaitingApproval {
    WaitingApproval {
        number: it.n,
        agent: it.request.agent,
        session: it.request.session,
        id: it.request.capability,
        arguments: serde_json::from_str(&it.request.arguments).unwrap_or(Value::Null),
        why: it.request.why,
        at: it.at.to_string(),
    }
}

fn failed(error: TrustError) -> DeskError {
    match error {
        TrustError::NoSuchRequest(number) => DeskError::NoSuchRequest(number),
        error => DeskError::Failed(error.to_string()),
    }
}
