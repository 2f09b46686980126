//! How freely an agent may act, and what that hides.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::descriptor::CapabilityDescriptor;
use crate::effects::Risk;
use crate::id::{CapabilityId, Source};

/// How freely an agent may act.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Whatever changes something is hidden.
    ReadOnly,
    /// Changes are visible, and a person is asked per call.
    #[default]
    Ask,
    /// Nothing is asked; high-risk writes outside this machine are hidden instead.
    Auto,
}

impl Mode {
    /// All of them.
    pub const ALL: [Mode; 3] = [Mode::ReadOnly, Mode::Ask, Mode::Auto];

    /// The word used in config and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::ReadOnly => "read-only",
            Mode::Ask => "ask",
            Mode::Auto => "auto",
        }
    }

    /// Whether this mode lets a model plan with a capability at all.
    pub fn shows(self, capability: &CapabilityDescriptor) -> bool {
        match self {
            Mode::ReadOnly => !capability.effects.changes(),
            Mode::Ask => true,
            Mode::Auto => {
                !(capability.effects.changes()
                    && capability.risk == Risk::High
                    && is_external(&capability.id))
            }
        }
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Mode::ALL
            .into_iter()
            .find(|it| it.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not a mode (`read-only`, `ask` or `auto`)"))
    }
}

/// Whether a capability's results come from outside and its calls go there.
pub fn is_external(id: &CapabilityId) -> bool {
    !matches!(id.source(), Source::Local | Source::Skill)
}
