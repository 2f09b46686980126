//! `secrets`: using secrets without seeing them. A model gets a placeholder; the value takes its
//! place only where the secret is bound, when a call runs.

mod bound;
mod requests;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_core::code::Code;
use ambit_core::effects::{Effects, Risk};
use ambit_core::observation::{Failure, Output};
use ambit_core::placeholder::{WORD, placeholder};
use ambit_core::suggest::suggest;
use ambit_runtime::executor::{CapabilityExecutor, StartedCall};
use ambit_runtime::filling::{FillPlace, SecretFiller};
use ambit_runtime::random::random_word;
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Clock;
use crate::declare::{arguments, object};
use crate::pack::{Pack, Tool};
use crate::stop;
use crate::store::Store;
use bound::{Bindings, SecretsConfig};
pub(crate) use requests::PART;
pub use requests::SecretRequest;

const KEY: &str = "secrets";

/// Where secrets are kept. It says what went wrong in words for a person.
pub trait Vault: Send + Sync {
    /// Whether there is one of this name.
    fn has(&self, name: &str) -> Result<bool, String>;

    /// Its value.
    fn value(&self, name: &str) -> Result<Option<String>, String>;
}

static PACK: Pack<Desk> = Pack {
    key: KEY,
    summary: "Use passwords, tokens and keys in calls without seeing them.",
    tools: &[
        Tool {
            name: "list_secrets",
            title: "List secrets",
            description: "List the secrets you may use: names, what they are for, whether they are set. Values are never shown.",
            effects: Effects::READS,
            risk: None,
            permissions: &["secrets:list"],
            tags: &["secrets"],
            needs: &[],
            input: || object(&[], json!({})),
            output: None,
            run: |desk, _| desk.list(),
        },
        Tool {
            name: "describe_secret",
            title: "Describe secret",
            description: "Say what a secret is for, whether it is set, and with which tools it can be used.",
            effects: Effects::READS,
            risk: None,
            permissions: &["secrets:list"],
            tags: &["secrets"],
            needs: &[],
            input: || object(&["name"], json!({ "name": name_schema() })),
            output: None,
            run: |desk, value| desk.describe(&arguments::<Named>(value)?.name),
        },
        Tool {
            name: "request_secret",
            title: "Request secret",
            description: "Ask the person to provide a secret you need and do not have. They set it outside this conversation; never ask for a value in the conversation itself.",
            effects: Effects::WRITES,
            risk: None,
            permissions: &["secrets:request"],
            tags: &["secrets"],
            needs: &[],
            input: || {
                object(
                    &["name", "reason"],
                    json!({
                        "name": name_schema(),
                        "reason": {
                            "type": "string", "minLength": 1, "maxLength": requests::LONGEST_REASON,
                            "description": "What it is needed for, as the person should read it.",
                        },
                    }),
                )
            },
            output: None,
            run: |desk, value| desk.request(arguments(value)?),
        },
        Tool {
            name: "use_secret",
            title: "Use secret",
            description: "Get a placeholder for a secret. Give the placeholder, in the place of the value, in a field a tool has for it, such as `env` of run_command; the value is filled in when that call runs.",
            effects: Effects::READS,
            risk: Some(Risk::Medium),
            permissions: &["secrets:use"],
            tags: &["secrets"],
            needs: &[],
            input: || object(&["name"], json!({ "name": name_schema() })),
            output: Some(|| {
                object(
                    &["placeholder"],
                    json!({
                        "placeholder": { "type": "string", "description": "Stands for the value." },
                    }),
                )
            }),
            run: |desk, value| desk.place(arguments::<Named>(value)?.name),
        },
    ],
};

fn name_schema() -> Value {
    json!({
        "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$",
        "description": "The secret's name.",
    })
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Asked {
    name: String,
    reason: String,
}

/// Makes `secrets` grantable.
pub struct SecretsResolver {
    pub(crate) vault: Option<Arc<dyn Vault>>,
    pub(crate) store: Arc<Store>,
    pub(crate) clock: Clock,
}

#[async_trait]
impl CapabilityResolver for SecretsResolver {
    fn key(&self) -> &str {
        KEY
    }

    fn summary(&self) -> &str {
        PACK.summary
    }

    fn offer(&self) -> Offer {
        PACK.offer()
    }

    fn unavailable(&self) -> Option<String> {
        match self.vault {
            Some(_) => None,
            None => Some("nothing keeps secrets here".to_owned()),
        }
    }

    fn config_schema(&self) -> Value {
        bound::schema()
    }

    async fn resolve(
        &self,
        config: &Value,
        context: &ResolverContext,
    ) -> Result<Resolution, ResolveError> {
        let failed = |message: String| ResolveError {
            key: KEY.to_owned(),
            message,
        };
        let config =
            SecretsConfig::deserialize(config).map_err(|error| failed(error.to_string()))?;
        let Some(vault) = &self.vault else {
            return Ok(Resolution::Nothing {
                reason: self.unavailable().unwrap_or_default(),
            });
        };
        let desk = Arc::new(Desk {
            bindings: Bindings::new(config).map_err(failed)?,
            agent: context.agent.clone(),
            vault: Arc::clone(vault),
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            given: Mutex::default(),
        });
        Ok(Resolution::Ready(Arc::new(SecretsExecutor {
            tools: PACK.shared(Arc::clone(&desk)),
            desk,
        })))
    }
}

struct SecretsExecutor {
    tools: Arc<dyn CapabilityExecutor>,
    desk: Arc<Desk>,
}

#[async_trait]
impl CapabilityExecutor for SecretsExecutor {
    async fn execute(&self, call: StartedCall) -> Result<Output, Failure> {
        self.tools.execute(call).await
    }

    fn filler(&self) -> Option<Arc<dyn SecretFiller>> {
        Some(Arc::clone(&self.desk) as _)
    }
}

/// Where one session's agent asks for secrets.
struct Desk {
    bindings: Bindings,
    agent: String,
    vault: Arc<dyn Vault>,
    store: Arc<Store>,
    clock: Clock,
    /// What each placeholder stands for. It ends with the session.
    given: Mutex<BTreeMap<String, String>>,
}

impl Desk {
    fn list(&self) -> Result<Output, Failure> {
        let mut lines = Vec::new();
        for (name, bound) in self.bindings.iter() {
            let set = match self.vault.has(name).map_err(broken)? {
                true => "",
                false => " (not set: request_secret)",
            };
            let what = bound.description.as_deref().unwrap_or("no description");
            lines.push(format!("{name}{set}: {what}"));
        }
        if lines.is_empty() {
            lines.push(format!(
                "no secret is bound for `{}`; a person does that in ambit.json, `agents.{}.capabilities.secrets.bind`",
                self.agent, self.agent
            ));
        }
        Ok(Output::text(lines.join("\n")))
    }

    fn describe(&self, name: &str) -> Result<Output, Failure> {
        let bound = self.bindings.get(name).ok_or_else(|| self.unknown(name))?;
        let set = match self.vault.has(name).map_err(broken)? {
            true => "is set",
            false => "is not set yet; ask for it with request_secret",
        };
        let tools: Vec<_> = bound.ids.iter().map(|it| format!("`{it}`")).collect();
        Ok(Output::text(format!(
            "`{name}` {set}\nfor: {}\ncan be used with: {}",
            bound.description.as_deref().unwrap_or("no description"),
            tools.join(", ")
        )))
    }

    fn request(&self, asked: Asked) -> Result<Output, Failure> {
        let Asked { name, reason } = asked;
        if self.vault.has(&name).map_err(broken)? && self.bindings.get(&name).is_some() {
            return Ok(Output::text(format!(
                "`{name}` is set already; get a placeholder with use_secret"
            )));
        }
        requests::keep(&self.store, &self.agent, &name, &reason, (self.clock)())?;
        Ok(Output::text(format!(
            "asked for `{name}`; the person sees it with `ambit secrets requests`, and sets it with `ambit secrets set {name}`. Go on with what does not need it"
        )))
    }

    fn place(&self, name: String) -> Result<Output, Failure> {
        if self.bindings.get(&name).is_none() {
            return Err(self.unknown(&name));
        }
        if !self.vault.has(&name).map_err(broken)? {
            return Err(Failure::refused(format!(
                "`{name}` is not set yet; ask for it with request_secret"
            )));
        }
        let mut given = self.given.lock();
        let known = given.iter().find(|(_, it)| **it == name);
        let placeholder = match known {
            Some((placeholder, _)) => placeholder.clone(),
            None => {
                let made = placeholder(&random_word(WORD));
                given.insert(made.clone(), name);
                made
            }
        };
        Ok(Output::text(&placeholder).with_structured(json!({ "placeholder": placeholder })))
    }

    fn unknown(&self, name: &str) -> Failure {
        let near = suggest(name, self.bindings.iter().map(|(name, _)| name));
        let near = match near.first() {
            Some(near) => format!("; did you mean `{near}`?"),
            None => {
                "; list_secrets says which there are, request_secret asks for another".to_owned()
            }
        };
        Failure::refused(format!("no secret `{name}` may be used here{near}"))
    }
}

#[async_trait]
impl SecretFiller for Desk {
    async fn value(
        &self,
        placeholder: &str,
        place: FillPlace<'_>,
    ) -> Result<Option<String>, Failure> {
        let name = self.given.lock().get(placeholder).cloned();
        let Some(name) = name else { return Ok(None) };
        self.bindings
            .permit(&name, place)
            .map_err(|reason| Failure::refused(reason.to_string()))?;
        let vault = Arc::clone(&self.vault);
        let asked = name.clone();
        let value = stop::blocking(move |_| vault.value(&asked).map_err(broken)).await?;
        match value {
            Some(value) => Ok(Some(value)),
            None => Err(Failure::refused(format!(
                "`{name}` is not set any more; ask for it with request_secret"
            ))),
        }
    }
}

/// The vault cannot be opened: a person has to look.
fn broken(message: String) -> Failure {
    Failure::new(
        Code::ProviderFailed,
        format!("secrets cannot be read: {message}"),
    )
}
