//! The answer about one call, always with its reason.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::descriptor::CapabilityDescriptor;
use crate::digest::Digest;
use crate::effects::{Effect, Effects};
use crate::id::CapabilityId;
use crate::manifest::Acceptance;
use crate::permission::bound::Bound;
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
        self.after_call(&capability.id, capability.effects)
    }

    /// The same, from what is on record of the call.
    #[must_use]
    pub fn after_call(self, id: &CapabilityId, effects: Effects) -> Taint {
        let external = is_external(id);
        Taint {
            read_private: self.read_private || (!external && effects.has(Effect::Reads)),
            saw_untrusted: self.saw_untrusted || external,
        }
    }

    /// What two sessions have seen together.
    #[must_use]
    pub fn and(self, other: Taint) -> Taint {
        Taint {
            read_private: self.read_private || other.read_private,
            saw_untrusted: self.saw_untrusted || other.saw_untrusted,
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
    /// Those that asked this agent, who may do no less than it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<Bound>,
}

impl PermissionInput {
    /// What an approval is bound to besides the call: another agent or another policy is another
    /// question.
    pub fn version(&self) -> Digest {
        let own = (&self.agent, self.mode, &self.rules);
        let digest = if self.within.is_empty() {
            Digest::of(&own)
        } else {
            let above = self.within.iter();
            let above: Vec<_> = above.map(|it| (&it.agent, it.mode, &it.rules)).collect();
            Digest::of(&(own, above))
        };
        digest.unwrap_or(Digest::ZERO)
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
    /// It changes what the agent is: a person looks at every call.
    EveryCall,
    /// It changes what the agent is, and outside content was seen that would last by it.
    LastingTaint,
}

impl AskReason {
    /// An answer as far as it can reach here. Where every call is looked at, a yes is to this one.
    pub fn bounded(&self, answer: Answer) -> Answer {
        match (self, answer) {
            (AskReason::EveryCall | AskReason::LastingTaint, Answer::Session | Answer::Always) => {
                Answer::Once
            }
            (_, answer) => answer,
        }
    }

    /// Whether a yes can hold for later calls, too.
    pub fn can_stand(&self) -> bool {
        self.bounded(Answer::Always) == Answer::Always
    }
}

impl fmt::Display for AskReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AskReason::Changes => f.write_str("it changes something and the mode is `ask`"),
            AskReason::SendsOut => f.write_str("it can send data out and the mode is `ask`"),
            AskReason::Rule { rule } => write!(f, "the rule `{rule}` wants a person to decide"),
            AskReason::NotAccepted => f.write_str("it is somebody else's and has not been accepted as it is now"),
            AskReason::EveryCall => {
                f.write_str("it changes what the agent is, and every such call is asked about")
            }
            AskReason::LastingTaint => f.write_str(
                "it changes what the agent is, and this session has seen outside content that would last by it",
            ),
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

impl PermissionDecision {
    fn strictness(&self) -> u8 {
        match self {
            PermissionDecision::Allow { .. } => 0,
            PermissionDecision::Ask { reason } if reason.can_stand() => 1,
            PermissionDecision::Ask { .. } => 2,
            PermissionDecision::Deny { .. } => 3,
        }
    }
}

/// Whether arguments can leave this machine with a call: whatever reaches outside carries them.
fn can_send_out(capability: &CapabilityDescriptor) -> bool {
    capability.effects.has(Effect::Egress) || capability.effects.has(Effect::OpenWorld)
}

/// Decides about a visible capability. Total, and every answer has its reason. Whoever asked for
/// the work is judged as if they did it, and the strictest answer counts.
pub fn decide(capability: &CapabilityDescriptor, input: &PermissionInput) -> PermissionDecision {
    let own = Judged {
        mode: input.mode,
        rules: &input.rules,
        standing: &input.standing,
        taint: input.taint,
        asker: input.asker,
    };
    let above = input.within.iter().map(|it| Judged {
        mode: it.mode,
        rules: &it.rules,
        standing: &it.standing,
        // What the work has seen is the same, whoever is asked about.
        ..own
    });
    above.fold(decide_alone(capability, own), |strictest, it| {
        let answer = decide_alone(capability, it);
        match answer.strictness() > strictest.strictness() {
            true => answer,
            false => strictest,
        }
    })
}

/// One agent, judged by itself.
#[derive(Clone, Copy)]
struct Judged<'a> {
    mode: Mode,
    rules: &'a Rules,
    standing: &'a [StandingApproval],
    taint: Taint,
    asker: Asker,
}

fn decide_alone(capability: &CapabilityDescriptor, input: Judged<'_>) -> PermissionDecision {
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
    // No rule and no earlier yes was about this text; `auto` means that nobody is asked, unless
    // somebody outside may have chosen the words.
    if capability.acceptance == Acceptance::EveryCall {
        match (input.mode, input.taint.saw_untrusted) {
            (Mode::Auto, false) => {}
            (Mode::Auto, true) => {
                return PermissionDecision::Ask {
                    reason: AskReason::LastingTaint,
                };
            }
            (Mode::Ask | Mode::ReadOnly, _) => {
                return PermissionDecision::Ask {
                    reason: AskReason::EveryCall,
                };
            }
        }
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
