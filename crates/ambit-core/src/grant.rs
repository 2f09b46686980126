//! What an agent's `capabilities` object says, checked against what a resolver offers.
//!
//! Everything is listed explicitly: a missing `tools` means all tools of that capability and
//! is the only wildcard; `[]` means none; an unknown word is a problem, never a guess.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::id::CapabilityId;
use crate::schema::{CompiledSchema, describe};
use crate::suggest::suggest;

/// The reserved key inside a capability's config.
const TOOLS: &str = "tools";

/// What the registry lists about one capability key without starting anything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResolverDescriptor {
    /// The key an agent's config grants.
    pub key: String,
    /// What it is for, in one sentence.
    pub summary: String,
    /// Its tools' names, and their ids.
    pub tools: BTreeMap<String, CapabilityId>,
    /// JSON Schema of its config, without `tools`.
    pub config_schema: Value,
    /// Why nothing can be said of its tools, where its provider was never seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
}

/// One granted capability: what its resolver will see.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// The key.
    pub key: String,
    /// The ids granted, all of the resolver's or those its `tools` lists.
    pub ids: Vec<CapabilityId>,
    /// The capability's own config, checked, `tools` taken out.
    pub config: Value,
}

/// What is wrong with one entry, and where inside the `capabilities` object.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GrantProblem {
    /// `capabilities` is neither an object nor a list of keys.
    #[error("`capabilities` must be an object, or a list of keys")]
    NotCapabilities,
    /// No resolver has this key.
    #[error("unknown capability `{key}`")]
    UnknownCapability {
        /// The key.
        key: String,
        /// Known keys near it.
        suggestions: Vec<String>,
    },
    /// The same key stands twice in the list form.
    #[error("capability `{key}` is listed twice")]
    Repeated {
        /// The key.
        key: String,
    },
    /// The value is not an object.
    #[error("the config of `{key}` must be an object")]
    NotAnObject {
        /// The key.
        key: String,
    },
    /// `tools` is not a list of names.
    #[error("`tools` of `{key}` must be a list of tool names")]
    NotTools {
        /// The key.
        key: String,
    },
    /// The capability has no such tool.
    #[error("`{key}` has no tool `{tool}`")]
    UnknownTool {
        /// The key.
        key: String,
        /// The tool.
        tool: String,
        /// Its place in the list.
        index: usize,
        /// Its tools near that name, or all of them where none is near.
        suggestions: Vec<String>,
    },
    /// The config does not fit the resolver's schema.
    #[error("the config of `{key}` does not fit: {message}")]
    BadConfig {
        /// The key.
        key: String,
        /// Where inside the config, as a JSON pointer.
        at: String,
        /// What is wrong.
        message: String,
    },
}

impl GrantProblem {
    /// Where inside the `capabilities` object, as a JSON pointer.
    pub fn pointer(&self) -> String {
        match self {
            GrantProblem::NotCapabilities => String::new(),
            GrantProblem::UnknownCapability { key, .. }
            | GrantProblem::Repeated { key }
            | GrantProblem::NotAnObject { key } => format!("/{}", escape(key)),
            GrantProblem::NotTools { key } => format!("/{}/{TOOLS}", escape(key)),
            GrantProblem::UnknownTool { key, index, .. } => {
                format!("/{}/{TOOLS}/{index}", escape(key))
            }
            GrantProblem::BadConfig { key, at, .. } => format!("/{}{at}", escape(key)),
        }
    }

    /// What to write instead.
    pub fn suggestions(&self) -> &[String] {
        match self {
            GrantProblem::UnknownCapability { suggestions, .. }
            | GrantProblem::UnknownTool { suggestions, .. } => suggestions,
            _ => &[],
        }
    }
}

fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The entries of a `capabilities` value, object form or list of keys.
pub fn entries(capabilities: &Value) -> Result<BTreeMap<String, Value>, GrantProblem> {
    match capabilities {
        Value::Object(map) => Ok(map
            .iter()
            .map(|(key, config)| (key.clone(), config.clone()))
            .collect()),
        Value::Array(keys) => {
            let mut entries = BTreeMap::new();
            for key in keys {
                let key = key.as_str().ok_or(GrantProblem::NotCapabilities)?;
                if entries
                    .insert(key.to_owned(), Value::Object(Map::new()))
                    .is_some()
                {
                    return Err(GrantProblem::Repeated {
                        key: key.to_owned(),
                    });
                }
            }
            Ok(entries)
        }
        _ => Err(GrantProblem::NotCapabilities),
    }
}

/// Checks one entry against what its resolver offers.
pub fn check(offer: &ResolverDescriptor, config: &Value) -> Result<Grant, Vec<GrantProblem>> {
    let key = || offer.key.clone();
    let Value::Object(config) = config else {
        return Err(vec![GrantProblem::NotAnObject { key: key() }]);
    };
    let mut config = config.clone();
    let mut problems = Vec::new();
    let ids = match config.remove(TOOLS) {
        None => offer.tools.values().cloned().collect(),
        Some(Value::Array(names)) => allowlist(offer, &names, &mut problems),
        Some(_) => {
            problems.push(GrantProblem::NotTools { key: key() });
            Vec::new()
        }
    };
    let config = Value::Object(config);
    match CompiledSchema::compile(&offer.config_schema) {
        Ok(schema) => {
            for problem in schema.check(&config).err().unwrap_or_default() {
                let message = describe(std::slice::from_ref(&problem));
                problems.push(GrantProblem::BadConfig {
                    key: key(),
                    at: problem.at,
                    message,
                });
            }
        }
        Err(error) => problems.push(GrantProblem::BadConfig {
            key: key(),
            at: String::new(),
            message: error.to_string(),
        }),
    }
    if problems.is_empty() {
        Ok(Grant {
            key: key(),
            ids,
            config,
        })
    } else {
        Err(problems)
    }
}

fn allowlist(
    offer: &ResolverDescriptor,
    names: &[Value],
    problems: &mut Vec<GrantProblem>,
) -> Vec<CapabilityId> {
    let mut ids = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let Some(name) = name.as_str() else {
            problems.push(GrantProblem::NotTools {
                key: offer.key.clone(),
            });
            continue;
        };
        match offer.tools.get(name) {
            Some(id) if ids.contains(id) => {}
            Some(id) => ids.push(id.clone()),
            None => {
                let known = || offer.tools.keys().map(String::as_str);
                let mut suggestions = suggest(name, known());
                if suggestions.is_empty() {
                    suggestions = known().map(str::to_owned).collect();
                }
                problems.push(GrantProblem::UnknownTool {
                    key: offer.key.clone(),
                    tool: name.to_owned(),
                    index,
                    suggestions,
                });
            }
        }
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn files() -> ResolverDescriptor {
        let tools = ["read_file", "write_file", "grep"];
        ResolverDescriptor {
            key: "files".into(),
            summary: "Files.".into(),
            tools: tools
                .iter()
                .map(|it| {
                    (
                        it.to_string(),
                        format!("local__files__{it}").parse().unwrap(),
                    )
                })
                .collect(),
            config_schema: json!({"type": "object", "properties": {"dirs": {"type": "array"}}, "additionalProperties": false}),
            unseen: None,
        }
    }

    #[track_caller]
    fn granted(config: Value, expected: &[&str]) {
        let grant = check(&files(), &config).unwrap();
        let names: Vec<_> = grant.ids.iter().map(CapabilityId::name).collect();
        assert_eq!(names, expected);
        assert!(grant.config.get("tools").is_none());
    }

    #[track_caller]
    fn refused(config: Value, pointers: &[&str]) {
        let problems = check(&files(), &config).unwrap_err();
        let at: Vec<_> = problems.iter().map(GrantProblem::pointer).collect();
        assert_eq!(at, pointers);
    }

    #[test]
    fn tools_narrow_and_never_widen() {
        granted(json!({}), &["grep", "read_file", "write_file"]);
        granted(json!({"tools": []}), &[]);
        granted(json!({"tools": ["read_file"]}), &["read_file"]);
        granted(
            json!({"tools": ["read_file", "read_file"], "dirs": []}),
            &["read_file"],
        );
    }

    #[test]
    fn problems_have_a_place_and_a_remedy() {
        refused(
            json!({"tools": ["read_file", "raed_file"]}),
            &["/files/tools/1"],
        );
        refused(json!({"tools": "all"}), &["/files/tools"]);
        refused(json!({"tools": ["*"]}), &["/files/tools/0"]);
        refused(json!([]), &["/files"]);
        refused(json!({"dirs": "x"}), &["/files/dirs"]);
        refused(json!({"dir": []}), &["/files"]);
        let problems = check(&files(), &json!({"tools": ["raed_file"]})).unwrap_err();
        assert_eq!(problems[0].suggestions(), ["read_file"]);
    }

    #[test]
    fn the_list_form_is_sugar() {
        assert_eq!(
            entries(&json!(["a", "b"])),
            entries(&json!({"a": {}, "b": {}}))
        );
        assert!(entries(&json!(["a", "a"])).is_err());
        assert!(entries(&json!(["a", 1])).is_err());
        assert!(entries(&json!("a")).is_err());
    }
}
