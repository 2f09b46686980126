//! Rules: what they may be about, and the three lists they stand in.

use std::collections::BTreeSet;

use ambit_core::permission::{Rule, Subject, Verdict};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// The schema of one subject, which the core parses.
pub(super) fn subject_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "description": "A capability's id, a permission, or an effect: reads, writes, destructive, open-world, egress.",
        "examples": ["mcp__github__search_issues", "fs:write", "destructive"],
    })
}

/// The schema of a list of subjects.
pub(super) fn subjects_schema(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": subject_schema(generator)})
}

/// Which calls run, which are asked about and which never run, within what is granted. The
/// most specific rule wins, `deny` wins ties.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RuleLists {
    /// These run without asking.
    #[serde(default)]
    #[schemars(schema_with = "subjects_schema")]
    pub allow: BTreeSet<Subject>,
    /// A person is asked about these, each time.
    #[serde(default)]
    #[schemars(schema_with = "subjects_schema")]
    pub ask: BTreeSet<Subject>,
    /// These never run.
    #[serde(default)]
    #[schemars(schema_with = "subjects_schema")]
    pub deny: BTreeSet<Subject>,
}

impl RuleLists {
    /// Both sets of rules together. Nothing is taken out, so no `deny` is lost.
    #[must_use]
    pub fn and(&self, other: &RuleLists) -> RuleLists {
        let both = |a: &BTreeSet<Subject>, b: &BTreeSet<Subject>| a.union(b).cloned().collect();
        RuleLists {
            allow: both(&self.allow, &other.allow),
            ask: both(&self.ask, &other.ask),
            deny: both(&self.deny, &other.deny),
        }
    }

    /// As the rules the gate asks.
    pub fn rules(&self) -> Vec<Rule> {
        let lists = [
            (Verdict::Allow, &self.allow),
            (Verdict::Ask, &self.ask),
            (Verdict::Deny, &self.deny),
        ];
        let rule = |verdict| {
            move |subject: &Subject| Rule {
                verdict,
                subject: subject.clone(),
            }
        };
        lists
            .into_iter()
            .flat_map(|(verdict, subjects)| subjects.iter().map(rule(verdict)))
            .collect()
    }

    /// Only what forbids.
    #[must_use]
    pub fn denials(&self) -> RuleLists {
        RuleLists {
            deny: self.deny.clone(),
            ..RuleLists::default()
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
