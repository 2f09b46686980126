//! Rules of the config: what they speak about, and which of them decides.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::descriptor::CapabilityDescriptor;
use crate::effects::Effect;
use crate::id::CapabilityId;
use crate::manifest::Permission;

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Run without asking.
    Allow,
    /// Ask a person.
    Ask,
    /// Do not run.
    Deny,
}

/// What a rule speaks about. The order is its specificity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Subject {
    /// Everything with an effect.
    Effect(Effect),
    /// Everything that declares a permission.
    Permission(Permission),
    /// One capability.
    Id(CapabilityId),
}

impl Subject {
    /// Whether it speaks about this capability.
    pub fn covers(&self, capability: &CapabilityDescriptor) -> bool {
        match self {
            Subject::Effect(effect) => capability.effects.has(*effect),
            Subject::Permission(permission) => capability.permissions.contains(permission),
            Subject::Id(id) => capability.id == *id,
        }
    }

    fn specificity(&self) -> u8 {
        match self {
            Subject::Effect(_) => 0,
            Subject::Permission(_) => 1,
            Subject::Id(_) => 2,
        }
    }
}

impl FromStr for Subject {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(effect) = Effect::parse(text) {
            return Ok(Subject::Effect(effect));
        }
        if text.contains("__") {
            return text
                .parse()
                .map(Subject::Id)
                .map_err(|error: crate::id::IdError| error.to_string());
        }
        text.parse()
            .map(Subject::Permission)
            .map_err(|_| format!("`{text}` is not an id, a permission or an effect"))
    }
}

impl TryFrom<String> for Subject {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Subject> for String {
    fn from(it: Subject) -> String {
        it.to_string()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Effect(it) => f.write_str(it.as_str()),
            Subject::Permission(it) => it.fmt(f),
            Subject::Id(it) => it.fmt(f),
        }
    }
}

/// One rule of the config.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Rule {
    /// What it says.
    pub verdict: Verdict,
    /// What about.
    pub subject: Subject,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        };
        write!(f, "{verdict} {}", self.subject)
    }
}

/// All rules that hold for one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Every rule, in one order whatever order they came in.
    pub(super) all: Vec<Rule>,
    /// The user's own, kept apart: what they forbid stays forbidden, however specific a rule of a
    /// project is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    user: Vec<Rule>,
}

impl Rules {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.all.len() + self.user.len()
    }

    /// These rules, all the user's own.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        Rules {
            all: ordered(rules),
            user: Vec::new(),
        }
    }

    /// The user's rules, and a project's beside them.
    pub fn layered(
        user: impl IntoIterator<Item = Rule>,
        project: impl IntoIterator<Item = Rule>,
    ) -> Self {
        let user = ordered(user);
        let project = ordered(project);
        if project.is_empty() {
            return Rules {
                all: user,
                user: Vec::new(),
            };
        }
        Rules {
            all: ordered(user.iter().cloned().chain(project)),
            user,
        }
    }

    /// The rule that decides about a capability: most specific first, then `deny`, `ask`, `allow`;
    /// but a user's `deny` before everything.
    pub fn deciding(&self, capability: &CapabilityDescriptor) -> Option<&Rule> {
        strongest(&self.user, capability)
            .filter(|rule| rule.verdict == Verdict::Deny)
            .or_else(|| strongest(&self.all, capability))
    }

    /// The rule that forbids a capability, if one does.
    pub fn forbidding(&self, capability: &CapabilityDescriptor) -> Option<&Rule> {
        self.deciding(capability)
            .filter(|rule| rule.verdict == Verdict::Deny)
    }
}

fn ordered(rules: impl IntoIterator<Item = Rule>) -> Vec<Rule> {
    let mut rules: Vec<_> = rules.into_iter().collect();
    rules.sort();
    rules.dedup();
    rules
}

fn strongest<'a>(rules: &'a [Rule], capability: &CapabilityDescriptor) -> Option<&'a Rule> {
    let covering = rules.iter().filter(|rule| rule.subject.covers(capability));
    covering.max_by_key(|rule| (rule.subject.specificity(), rule.verdict))
}
