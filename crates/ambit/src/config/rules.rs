//! Rules: what they may be about, and the three lists they stand in.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use ambit_core::effects::Effect;
use ambit_core::id::CapabilityId;
use ambit_core::manifest::Permission;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// What a rule or a hook is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub enum Subject {
    /// One capability, by its id.
    Capability(CapabilityId),
    /// Every capability that declares this permission.
    Permission(Permission),
    /// Every capability with this effect.
    Effect(Effect),
}

impl FromStr for Subject {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains("__") {
            text.parse()
                .map(Subject::Capability)
                .map_err(|it: ambit_core::id::IdError| it.to_string())
        } else if text.contains(':') {
            text.parse().map(Subject::Permission)
        } else {
            Effect::parse(text)
                .map(Subject::Effect)
                .ok_or_else(|| format!("`{text}` is not an id, a permission or an effect"))
        }
    }
}

impl TryFrom<String> for Subject {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Subject::Capability(id) => id.as_str(),
            Subject::Permission(permission) => permission.as_str(),
            Subject::Effect(effect) => effect.as_str(),
        })
    }
}

impl JsonSchema for Subject {
    fn schema_name() -> Cow<'static, str> {
        "Subject".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A capability's id, a permission, or an effect: reads, writes, destructive, open-world, egress.",
            "examples": ["mcp__github__search_issues", "fs:write", "destructive"],
        })
    }
}

/// Which calls run, which are asked about and which never run, within what is granted. The
/// most specific rule wins, `deny` wins ties.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rules {
    /// These run without asking.
    #[serde(default)]
    pub allow: BTreeSet<Subject>,
    /// A person is asked about these, each time.
    #[serde(default)]
    pub ask: BTreeSet<Subject>,
    /// These never run.
    #[serde(default)]
    pub deny: BTreeSet<Subject>,
}

impl Rules {
    /// Both sets of rules together. Nothing is taken out, so no `deny` is lost.
    #[must_use]
    pub fn and(&self, other: &Rules) -> Rules {
        let both = |a: &BTreeSet<Subject>, b: &BTreeSet<Subject>| a.union(b).cloned().collect();
        Rules {
            allow: both(&self.allow, &other.allow),
            ask: both(&self.ask, &other.ask),
            deny: both(&self.deny, &other.deny),
        }
    }

    /// Only what forbids.
    #[must_use]
    pub fn denials(&self) -> Rules {
        Rules {
            deny: self.deny.clone(),
            ..Rules::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_an_id_a_permission_or_an_effect() {
        for good in ["mcp__github__search", "skill__x", "fs:write", "open-world"] {
            assert_eq!(good.parse::<Subject>().unwrap().to_string(), good);
        }
        for bad in ["", "files", "mcp__github", "nope__a__b", "fs:", "*", "${X}"] {
            assert!(bad.parse::<Subject>().is_err(), "{bad}");
        }
    }
}
