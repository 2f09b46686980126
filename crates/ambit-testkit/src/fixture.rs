//! Capabilities that do what a test tells them to.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ambit_core::effects::{Effect, Effects};
use ambit_core::id::CapabilityId;
use ambit_core::manifest::{CapabilityManifest, Permission};
use ambit_core::observation::{Failure, Output};
use ambit_core::permission::{Rule, Rules};
use ambit_runtime::executor::{CapabilityExecutor, StartedCall};
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::watch;

/// What a fixture tool does when called.
#[derive(Clone, Default)]
pub enum Behaviour {
    /// Returns its arguments as text.
    #[default]
    Echo,
    /// Returns this.
    Returns(Output),
    /// Fails like this.
    Fails(Failure),
    /// Never returns.
    Hangs,
    /// Panics.
    Panics,
    /// Does this with its arguments.
    Does(Arc<Deed>),
}

/// What a test wants done with the arguments of a call.
pub type Deed = dyn Fn(&Value) -> Result<Output, Failure> + Send + Sync;

impl Behaviour {
    /// Does this with its arguments.
    pub fn does(deed: impl Fn(&Value) -> Result<Output, Failure> + Send + Sync + 'static) -> Self {
        Behaviour::Does(Arc::new(deed))
    }

    /// Returns this text.
    pub fn says(text: impl Into<String>) -> Self {
        Behaviour::Returns(Output::text(text))
    }
}

impl fmt::Debug for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Behaviour::Echo => "Echo",
            Behaviour::Returns(_) => "Returns",
            Behaviour::Fails(_) => "Fails",
            Behaviour::Hangs => "Hangs",
            Behaviour::Panics => "Panics",
            Behaviour::Does(_) => "Does",
        })
    }
}

/// Rules as lines: `deny writes, allow ext__kit__write`.
pub fn rules(text: &str) -> Rules {
    Rules::new(
        text.split(',')
            .filter(|it| !it.trim().is_empty())
            .map(|line| {
                let (verdict, subject) = line.trim().split_once(' ').unwrap();
                Rule {
                    verdict: serde_json::from_value(verdict.into()).unwrap(),
                    subject: subject.parse().unwrap(),
                }
            }),
    )
}

/// `id effect… permission…`, such as `ext__kit__write writes fs:write`.
pub fn fixture_tool(line: &str) -> CapabilityManifest {
    let mut words = line.split_whitespace();
    let id: CapabilityId = words.next().unwrap().parse().unwrap();
    let (effects, permissions): (Vec<_>, Vec<_>) =
        words.partition(|it| Effect::parse(it).is_some());
    let effects: Effects = effects.into_iter().filter_map(Effect::parse).collect();
    let permissions = permissions
        .iter()
        .map(|it| it.parse::<Permission>().unwrap())
        .collect();
    let description = format!("Does {}.", id.name());
    CapabilityManifest {
        permissions,
        ..CapabilityManifest::new(id, description, effects)
    }
}

/// A resolver over fixture tools.
pub struct FixtureResolver {
    key: String,
    manifests: Vec<CapabilityManifest>,
    executor: Arc<FixtureExecutor>,
    nothing: Option<String>,
}

struct FixtureExecutor {
    behaviours: BTreeMap<String, Behaviour>,
    calls: watch::Sender<usize>,
}

impl FixtureResolver {
    /// A key with these tools.
    pub fn new(key: &str, tools: Vec<(CapabilityManifest, Behaviour)>) -> Self {
        let behaviours = tools
            .iter()
            .map(|(manifest, behaviour)| (manifest.id.name().to_owned(), behaviour.clone()))
            .collect();
        FixtureResolver {
            key: key.to_owned(),
            manifests: tools.into_iter().map(|(manifest, _)| manifest).collect(),
            executor: Arc::new(FixtureExecutor {
                behaviours,
                calls: watch::Sender::new(0),
            }),
            nothing: None,
        }
    }

    /// A key whose tools, one per line, all do the same.
    pub fn lines(key: &str, tools: &str, behaviour: &Behaviour) -> Self {
        let lines = tools.lines().filter(|it| !it.trim().is_empty());
        Self::new(
            key,
            lines
                .map(|line| (fixture_tool(line), behaviour.clone()))
                .collect(),
        )
    }

    /// A key that resolves to nothing, with this reason.
    pub fn nothing(key: &str, tools: &[&str], reason: &str) -> Self {
        let tools = tools
            .iter()
            .map(|line| (fixture_tool(line), Behaviour::Echo))
            .collect();
        FixtureResolver {
            nothing: Some(reason.to_owned()),
            ..Self::new(key, tools)
        }
    }

    /// How many calls were executed.
    pub fn executed(&self) -> usize {
        *self.executor.calls.borrow()
    }

    /// Waits until so many calls have begun to execute.
    pub async fn until_executing(&self, calls: usize) {
        let mut seen = self.executor.calls.subscribe();
        seen.wait_for(|it| *it >= calls).await.unwrap();
    }
}

#[async_trait]
impl CapabilityResolver for FixtureResolver {
    fn key(&self) -> &str {
        &self.key
    }

    fn summary(&self) -> &str {
        "Fixture tools."
    }

    fn offer(&self) -> Offer {
        Offer::Declared(self.manifests.clone())
    }

    fn config_schema(&self) -> Value {
        json!({"type": "object", "properties": {"level": {"type": "integer"}}, "additionalProperties": false})
    }

    async fn resolve(
        &self,
        config: &Value,
        _: &ResolverContext,
    ) -> Result<Resolution, ResolveError> {
        assert!(
            config.get("tools").is_none(),
            "`tools` never reaches a resolver"
        );
        Ok(match &self.nothing {
            Some(reason) => Resolution::Nothing {
                reason: reason.clone(),
            },
            None => Resolution::Ready(Arc::clone(&self.executor) as _),
        })
    }
}

#[async_trait]
impl CapabilityExecutor for FixtureExecutor {
    async fn execute(&self, call: StartedCall) -> Result<Output, Failure> {
        self.calls.send_modify(|it| *it += 1);
        match self
            .behaviours
            .get(call.id().name())
            .cloned()
            .unwrap_or_default()
        {
            Behaviour::Echo => Ok(Output::text(call.arguments().to_string())),
            Behaviour::Returns(output) => Ok(output),
            Behaviour::Fails(failure) => Err(failure),
            Behaviour::Hangs => std::future::pending().await,
            Behaviour::Panics => panic!("as told"),
            Behaviour::Does(deed) => deed(call.arguments()),
        }
    }
}
