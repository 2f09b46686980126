//! Capabilities that do what a test tells them to.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ambit_core::effects::{Effect, Effects, Risk};
use ambit_core::id::CapabilityId;
use ambit_core::manifest::CapabilityManifest;
use ambit_core::observation::{Failure, Output};
use ambit_runtime::executor::{CapabilityExecutor, StartedCall};
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use serde_json::{Value, json};

/// What a fixture tool does when called.
#[derive(Clone, Debug, Default)]
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
}

/// `id effect…`, such as `ext__kit__write writes`.
pub fn fixture_tool(line: &str) -> CapabilityManifest {
    let mut words = line.split_whitespace();
    let id: CapabilityId = words.next().unwrap().parse().unwrap();
    let effects: Effects = words.map(|word| Effect::parse(word).unwrap()).collect();
    CapabilityManifest {
        title: id.name().to_owned(),
        description: format!("Does {}.", id.name()),
        input_schema: json!({"type": "object"}),
        output_schema: None,
        effects,
        risk: Risk::of(effects),
        permissions: Default::default(),
        tags: Default::default(),
        version: "1.0.0".parse().unwrap(),
        needs: Default::default(),
        hints: Default::default(),
        acceptance: Default::default(),
        pack_summary: String::new(),
        search_text: String::new(),
        id,
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
    calls: AtomicUsize,
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
                calls: AtomicUsize::new(0),
            }),
            nothing: None,
        }
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
        self.executor.calls.load(Ordering::SeqCst)
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
        self.calls.fetch_add(1, Ordering::SeqCst);
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
        }
    }
}
