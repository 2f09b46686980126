//! The answer about one call, always with its reason.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::descriptor::CapabilityDescriptor;
use crate::digest::Digest;
use crate::effects::Effect;
use crate::id::CapabilityId;
use crate::permission::mode::{Mode, is_external};
use crate::permission::rule::{Rules, Verdict};

/// A person's yes to one capability as it was defined then, for a session or for good.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StandingApproval {
    /// Which capability.
    pub id: CapabilityId,
    /// Its definition when the person said yes; another definition is another question.
    pub definition: Digest,
}

/// Facts of a session that make sending data out a person's decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Taint {
    /// Private data has been read.
    pub read_private: bool,
    /// Content from outside has been seen.
    pub saw_untrusted: bool,
}

impl Taint {
    /// What a completed call adds.
    #[must_use]
    pub fn after(self, capability: &CapabilityDescriptor) -> Taint {
        let external = is_external(&capability.id);
        Taint {
            read_private: self.read_private || (!external && capability.effects.has(Effect::Reads)),
            saw_untrusted: self.saw_untrusted || external,
        }
    }

    /// Whether both facts hold.
    pub fn is_full(self) -> bool {
        self.read_private && self.saw_untrusted
    }
}

/// Who asks a person about a change while the mode is `ask`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Asker {
    /// Ambit does.
    #[default]
    Ambit,
    /// The client has asked its user about this very tool before it called.
    Client,
}

impl Asker {
    fn is_ambit(&self) -> bool {
        *self == Asker::Ambit
    }
}

/// What permission depends on, besides the call itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionInput {
    /// Who asks.
    #[serde(default)]
    pub agent: String,
    /// How freely the agent may act.
    pub mode: Mode,
    /// The rules that hold.
    #[serde(default)]
    pub rules: Rules,
    /// What a person has said yes to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standing: Vec<StandingApproval>,
    /// What the session has seen.
    #[serde(default)]
    pub taint: Taint,
    /// Who asks about changes.
    #[serde(default, skip_serializing_if = "Asker::is_ambit")]
    pub asker: Asker,
}

impl PermissionInput {
    /// What an approval is bound to besides the call: another agent or another policy is another
    /// question.
    pub fn version(&self) -> Digest {
        Digest::of(&(&self.agent, self.mode, &self.rules)).unwrap_or(Digest::ZERO)
    }
}

/// The same with its version, worked out once: many calls are judged by one policy.
#[derive(Clone, Debug)]
pub struct PermissionTerms {
    input: Arc<PermissionInput>,
    version: Digest,
}

impl PermissionTerms {
    /// What permission depends on.
    pub fn input(&self) -> &Arc<PermissionInput> {
        &self.input
    }

    /// What an approval is bound to besides the call.
    pub fn version(&self) -> Digest {
        self.version
    }
}

impl From<PermissionInput> for PermissionTerms {
    fn from(input: PermissionInput) -> Self {
        PermissionTerms {
            version: input.version(),
            input: Arc::new(input),
        }
    }
}

/// Why a call needs no person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "camelCase")]
pub enum AllowReason {
    /// It changes nothing.
    ReadsOnly,
    /// The mode asks for nothing.
    Mode,
    /// A rule allows it.
    Rule {
        /// Which.
        rule: String,
    },
    /// A person said yes to all such calls.
    StandingApproval,
    /// The client has asked its user.
    Client,
    /// A person said yes to this call.
    Approval {
        /// For how long.
        answer: Answer,
    },
}

/// Why a person has to be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "because", rename_all = "camelCase")]
pub enum AskReason {
    /// It changes something, and the mode is `ask`.
    Changes,
    /// It can carry data out of this machine, and the mode is `ask`.
    SendsOut,
    /// A rule wants it.
    Rule {
        /// Which.
        rule: String,
    },
    /// Private data was read and outside content was seen; this could carry one to the other.
    Taint,
    /// It is somebody else's, and nobody has accepted it as it is now.
    NotAccepted,
}

impl fmt::Display for AskReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AskReason::Changes => f.write_str("it changes something and the mode is `ask`"),
            AskReason::SendsOut => f.write_str("it can send data out and the mode is `ask`"),
            AskReason::Rule { rule } => write!(f, "the rule `{rule}` wants a person to decide"),
            AskReason::NotAccepted => f.write_str("it is somebody else's and has not been accepted as it is now"),
            AskReason::Taint => f.write_str(
                "this session has read private data and seen outside content, and the call can send data out",
            ),
        }
    }
}

/// A person's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// Yes, to exactly this call.
    Once,
    /// Yes, to this capability until the session ends.
    Session,
    /// Yes, to this capability as it is defined now.
    Always,
    /// No.
    Deny,
}

/// What the rules say about one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "lowercase")]
pub enum PermissionDecision {
    /// It may run.
    Allow {
        /// Why.
        reason: AllowReason,
    },
    /// A person decides.
    Ask {
        /// Why.
        reason: AskReason,
    },
    /// It may not run.
    Deny {
        /// The rule that says so.
        rule: String,
    },
}

/// Whether arguments can leave this machine with a call: whatever reaches outside carries them.
fn can_send_out(capability: &CapabilityDescriptor) -> bool {
    capability.effects.has(Effect::Egress) || capability.effects.has(Effect::OpenWorld)
}

/// Decides about a visible capability. Total, and every answer has its reason.
pub fn decide(capability: &CapabilityDescriptor, input: &PermissionInput) -> PermissionDecision {
    let rule = input.rules.deciding(capability);
    if let Some(rule) = rule.filter(|it| it.verdict == Verdict::Deny) {
        return PermissionDecision::Deny {
            rule: rule.to_string(),
        };
    }
    // Before everything that could say yes: this question is for a person whatever was said before.
    if input.taint.is_full() && can_send_out(capability) {
        return PermissionDecision::Ask {
            reason: AskReason::Taint,
        };
    }
    let standing = || {
        let yes = StandingApproval {
            id: capability.id.clone(),
            definition: capability.digest,
        };
        input.standing.contains(&yes)
    };
    let allow = |reason| PermissionDecision::Allow { reason };
    // Like the taint, a question no mode and no effect answers; only somebody who saw it can.
    if capability.acceptance.is_needed() && !standing() {
        return PermissionDecision::Ask {
            reason: AskReason::NotAccepted,
        };
    }
    match rule {
        Some(rule) if rule.verdict == Verdict::Allow => allow(AllowReason::Rule {
            rule: rule.to_string(),
        }),
        Some(_) if standing() => allow(AllowReason::StandingApproval),
        Some(rule) => PermissionDecision::Ask {
            reason: AskReason::Rule {
                rule: rule.to_string(),
            },
        },
        None if !capability.effects.is_effectful() => allow(AllowReason::ReadsOnly),
        None if input.mode == Mode::Auto => allow(AllowReason::Mode),
        None if standing() => allow(AllowReason::StandingApproval),
        // Only the question every change raises: what a rule, the taint or a definition nobody has
        // accepted asks about, the client knows nothing of.
        None if capability.effects.changes() && input.asker == Asker::Client => {
            allow(AllowReason::Client)
        }
        None if capability.effects.changes() => PermissionDecision::Ask {
            reason: AskReason::Changes,
        },
        None => PermissionDecision::Ask {
            reason: AskReason::SendsOut,
        },
    }
}
