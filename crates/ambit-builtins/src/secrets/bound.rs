//! Which secret may go where: a person says it, name by name and capability by capability.

use std::collections::{BTreeMap, BTreeSet};

use ambit_core::id::CapabilityId;
use ambit_core::placeholder::SecretField;
use ambit_runtime::filling::FillPlace;
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;

use crate::declare::object;

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SecretsConfig {
    bind: BTreeMap<String, Binding>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Binding {
    #[serde(rename = "for")]
    ids: BTreeSet<String>,
    description: Option<String>,
}

pub(super) fn schema() -> Value {
    object(
        &[],
        json!({
            "bind": {
                "type": "object",
                "propertyNames": { "pattern": "^[A-Za-z0-9_.-]{1,64}$" },
                "additionalProperties": object(
                    &["for"],
                    json!({
                        "for": {
                            "type": "array",
                            "items": { "type": "string", "minLength": 1 },
                            "minItems": 1,
                            "uniqueItems": true,
                            "description": "The ids of the capabilities it may be given to, such as `local__shell__run_command`.",
                        },
                        "description": {
                            "type": "string", "maxLength": 500,
                            "description": "What it is for, as the model reads it.",
                        },
                    }),
                ),
                "description": "The secrets this agent may use, by name, and with which capabilities. Set values with `ambit secrets set NAME`.",
            },
        }),
    )
}

/// One secret's binding.
pub(super) struct Bound {
    pub(super) ids: BTreeSet<CapabilityId>,
    pub(super) description: Option<String>,
}

/// Why a secret stays out of a place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum UnboundReason {
    #[error(
        "`{name}` is not bound to `{id}`; a person can add that to `for` in the agent's `secrets.bind.{name}`"
    )]
    Capability { name: String, id: CapabilityId },
    /// A variable's name decides what a program does with it: a model does not choose it.
    #[error("the variable for the secret `{name}` must be called `{name}`, not `{given}`")]
    Variable { name: String, given: String },
}

pub(super) struct Bindings(BTreeMap<String, Bound>);

impl Bindings {
    pub(super) fn new(config: SecretsConfig) -> Result<Self, String> {
        let bind = config.bind.into_iter().map(|(name, binding)| {
            let ids = binding.ids.iter().map(|id| {
                id.parse::<CapabilityId>()
                    .map_err(|error| format!("`bind.{name}.for`: `{id}`: {error}"))
            });
            let bound = Bound {
                ids: ids.collect::<Result<_, _>>()?,
                description: binding.description,
            };
            Ok((name, bound))
        });
        bind.collect::<Result<_, String>>().map(Bindings)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Bound)> {
        self.0.iter().map(|(name, bound)| (name.as_str(), bound))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Bound> {
        self.0.get(name)
    }

    /// Whether a secret may go to a place.
    pub(super) fn permit(&self, name: &str, place: FillPlace<'_>) -> Result<(), UnboundReason> {
        let is_bound = self
            .get(name)
            .is_some_and(|it| it.ids.contains(place.capability));
        if !is_bound {
            return Err(UnboundReason::Capability {
                name: name.to_owned(),
                id: place.capability.clone(),
            });
        }
        match place.field {
            SecretField::Environment if place.name != name => Err(UnboundReason::Variable {
                name: name.to_owned(),
                given: place.name.to_owned(),
            }),
            SecretField::Environment | SecretField::Headers => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_goes_where_it_is_bound() {
        let config = json!({"bind": {
            "TOKEN": {"for": ["local__shell__run_command", "mcp__web__fetch"]},
            "OTHER": {"for": ["mcp__web__fetch"]},
        }});
        let bindings = Bindings::new(SecretsConfig::deserialize(&config).unwrap()).unwrap();
        let (env, headers) = (SecretField::Environment, SecretField::Headers);
        for (secret, id, field, name, expected) in [
            ("TOKEN", "local__shell__run_command", env, "TOKEN", None),
            ("TOKEN", "mcp__web__fetch", headers, "Authorization", None),
            (
                "TOKEN",
                "mcp__web__post",
                headers,
                "Authorization",
                Some("is not bound to"),
            ),
            (
                "TOKEN",
                "local__shell__run_command",
                env,
                "LD_PRELOAD",
                Some("must be called `TOKEN`"),
            ),
            (
                "OTHER",
                "local__shell__run_command",
                env,
                "OTHER",
                Some("is not bound to"),
            ),
            (
                "NO",
                "mcp__web__fetch",
                headers,
                "X",
                Some("is not bound to"),
            ),
        ] {
            let id: CapabilityId = id.parse().unwrap();
            let place = FillPlace {
                capability: &id,
                field,
                name,
            };
            let said = bindings
                .permit(secret, place)
                .err()
                .map(|it| it.to_string());
            match (said, expected) {
                (None, None) => {}
                (Some(said), Some(expected)) => assert!(said.contains(expected), "{said}"),
                (said, _) => panic!("{secret} {id} {name}: {said:?}"),
            }
        }
    }

    #[test]
    fn what_is_no_id_is_refused() {
        let config = json!({"bind": {"A": {"for": ["shell"]}}});
        let error = Bindings::new(SecretsConfig::deserialize(&config).unwrap()).err();
        assert!(error.unwrap().starts_with("`bind.A.for`: `shell`"));
    }
}
