//! One stable code for each way a call can end other than well. The same word serves the
//! model, the operator and programs.

use serde::{Deserialize, Serialize};

/// Why a call was refused or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// Not in this turn's visible set, or not there at all: the two look the same.
    NotVisible,
    /// The arguments do not fit the input schema.
    InputInvalid,
    /// The arguments are larger or deeper than accepted.
    InputTooLarge,
    /// A rule says no.
    PermissionDenied,
    /// A person said no.
    ApprovalDenied,
    /// A person has to say yes, and nobody could be asked here.
    ApprovalPending,
    /// A person was asked and did not answer in time.
    ApprovalTimedOut,
    /// The approval was given for another call.
    ApprovalMismatch,
    /// A hook said no.
    HookRefused,
    /// A hook broke, hung or answered nonsense; that counts as no.
    HookFailed,
    /// The start could not be recorded, so nothing ran.
    JournalUnavailable,
    /// It ran longer than allowed.
    DeadlineExceeded,
    /// Whoever asked called it off.
    Cancelled,
    /// The result does not fit the output schema.
    OutputInvalid,
    /// The provider answered with an error.
    ProviderFailed,
    /// The provider could not be reached.
    ProviderUnreachable,
    /// The provider lets nobody in before a person has logged in to it.
    LoginRequired,
    /// The capability itself refused the arguments: a path outside its bounds, say.
    Refused,
    /// It began, and how it ended is not known: it may have run.
    OutcomeUnknown,
    /// A bug in Ambit.
    Internal,
}

impl Code {
    /// All of them.
    pub const ALL: [Code; 20] = [
        Code::NotVisible,
        Code::InputInvalid,
        Code::InputTooLarge,
        Code::PermissionDenied,
        Code::ApprovalDenied,
        Code::ApprovalPending,
        Code::ApprovalTimedOut,
        Code::ApprovalMismatch,
        Code::HookRefused,
        Code::HookFailed,
        Code::JournalUnavailable,
        Code::DeadlineExceeded,
        Code::Cancelled,
        Code::OutputInvalid,
        Code::ProviderFailed,
        Code::ProviderUnreachable,
        Code::LoginRequired,
        Code::Refused,
        Code::OutcomeUnknown,
        Code::Internal,
    ];

    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::NotVisible => "not_visible",
            Code::InputInvalid => "input_invalid",
            Code::InputTooLarge => "input_too_large",
            Code::PermissionDenied => "permission_denied",
            Code::ApprovalDenied => "approval_denied",
            Code::ApprovalPending => "approval_pending",
            Code::ApprovalTimedOut => "approval_timed_out",
            Code::ApprovalMismatch => "approval_mismatch",
            Code::HookRefused => "hook_refused",
            Code::HookFailed => "hook_failed",
            Code::JournalUnavailable => "journal_unavailable",
            Code::DeadlineExceeded => "deadline_exceeded",
            Code::Cancelled => "cancelled",
            Code::OutputInvalid => "output_invalid",
            Code::ProviderFailed => "provider_failed",
            Code::ProviderUnreachable => "provider_unreachable",
            Code::LoginRequired => "login_required",
            Code::Refused => "refused",
            Code::OutcomeUnknown => "outcome_unknown",
            Code::Internal => "internal",
        }
    }

    /// What it says, for the reference.
    pub fn meaning(self) -> &'static str {
        match self {
            Code::NotVisible => {
                "Not in this turn's visible set, or not there at all: the two look the same."
            }
            Code::InputInvalid => "The arguments do not fit the input schema.",
            Code::InputTooLarge => "The arguments are larger or deeper than accepted.",
            Code::PermissionDenied => "A rule says no.",
            Code::ApprovalDenied => "A person said no.",
            Code::ApprovalPending => "A person has to say yes, and nobody could be asked here.",
            Code::ApprovalTimedOut => "A person was asked and did not answer in time.",
            Code::ApprovalMismatch => "The approval was given for another call.",
            Code::HookRefused => "A hook said no.",
            Code::HookFailed => "A hook broke, hung or answered nonsense; that counts as no.",
            Code::JournalUnavailable => "The start could not be recorded, so nothing ran.",
            Code::DeadlineExceeded => "It ran longer than allowed.",
            Code::Cancelled => "Whoever asked called it off.",
            Code::OutputInvalid => "The result does not fit the output schema.",
            Code::ProviderFailed => "The provider answered with an error.",
            Code::ProviderUnreachable => "The provider could not be reached.",
            Code::LoginRequired => {
                "The provider lets nobody in before a person has logged in to it."
            }
            Code::Refused => {
                "The capability itself refused the arguments: a path outside its bounds, say."
            }
            Code::OutcomeUnknown => "It began, and how it ended is not known: it may have run.",
            Code::Internal => "A bug in Ambit.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_and_the_json_agree() {
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}
