//! What holds for an agent because another one asked it: it may do no more than that one.

use serde::{Deserialize, Serialize};

use super::decide::StandingApproval;
use super::mode::Mode;
use super::rule::Rules;
use crate::descriptor::CapabilityDescriptor;
use crate::visible::HiddenReason;

/// What an agent that delegates may do itself. Not merged into the sub-agent's own rules: among
/// merged rules the most specific wins, and a sub-agent could have a more specific one. Each
/// agent of a chain is asked alone, and the strictest answer counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// Whose.
    pub agent: String,
    /// How freely it may act.
    pub mode: Mode,
    /// The rules that hold for it.
    #[serde(default)]
    pub rules: Rules,
    /// What a person has said yes to for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standing: Vec<StandingApproval>,
}

impl Bound {
    /// Why this agent could not see a capability.
    pub fn hides(&self, capability: &CapabilityDescriptor) -> Option<HiddenReason> {
        if !self.mode.shows(capability) {
            return Some(HiddenReason::ModeForbids);
        }
        let rule = self.rules.forbidding(capability)?;
        Some(HiddenReason::RuleForbids {
            rule: rule.to_string(),
        })
    }
}
