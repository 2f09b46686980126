//! The tools of one capability key as a table: how each is declared, and the plain function
//! behind it. What a key's tools share (a store, limits, whose they are) is the pack's state.

use std::sync::Arc;

use ambit_core::effects::{Effects, Risk};
use ambit_core::manifest::ChannelFeature;
use ambit_core::observation::{Failure, Output};
use ambit_runtime::executor::{CapabilityExecutor, StartedCall};
use ambit_runtime::resolver::Offer;
use async_trait::async_trait;
use serde_json::Value;

use crate::declare::Declaration;
use crate::stop;

/// One tool.
pub(crate) struct Tool<S: 'static> {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) effects: Effects,
    /// Where it is more than its effects say.
    pub(crate) risk: Option<Risk>,
    pub(crate) permissions: &'static [&'static str],
    pub(crate) tags: &'static [&'static str],
    /// What a channel must be able to do for it.
    pub(crate) needs: &'static [ChannelFeature],
    pub(crate) input: fn() -> Value,
    pub(crate) output: Option<fn() -> Value>,
    /// Runs off the async threads: it may wait for a disk.
    pub(crate) run: fn(&S, Value) -> Result<Output, Failure>,
}

/// All tools of a key.
pub(crate) struct Pack<S: 'static> {
    pub(crate) key: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) tools: &'static [Tool<S>],
}

impl<S: Send + Sync> Pack<S> {
    /// What the key brings.
    pub(crate) fn offer(&self) -> Offer {
        let manifests = self.tools.iter().filter_map(|tool| {
            let declared = Declaration {
                owner: self.key,
                name: tool.name,
                title: tool.title,
                description: tool.description,
                effects: tool.effects,
                permissions: tool.permissions,
                tags: tool.tags,
                input: (tool.input)(),
                output: tool.output.map(|it| it()),
                pack_summary: self.summary,
            };
            let mut manifest = declared.manifest()?;
            manifest.risk = tool.risk.unwrap_or(manifest.risk);
            manifest.needs.extend(tool.needs);
            Some(manifest)
        });
        Offer::Declared(manifests.collect())
    }

    /// Runs them on this state.
    pub(crate) fn executor(&'static self, state: S) -> Arc<dyn CapabilityExecutor> {
        self.shared(Arc::new(state))
    }

    /// The same on a state that others use, too.
    pub(crate) fn shared(&'static self, state: Arc<S>) -> Arc<dyn CapabilityExecutor> {
        Arc::new(PackExecutor { pack: self, state })
    }
}

struct PackExecutor<S: 'static> {
    pack: &'static Pack<S>,
    state: Arc<S>,
}

#[async_trait]
impl<S: Send + Sync> CapabilityExecutor for PackExecutor<S> {
    async fn execute(&self, call: StartedCall) -> Result<Output, Failure> {
        let (key, name) = (self.pack.key, call.id().name());
        let Some(tool) = self.pack.tools.iter().find(|it| it.name == name) else {
            return Err(Failure::refused(format!("`{key}` has no tool `{name}`")));
        };
        let run = tool.run;
        let state = Arc::clone(&self.state);
        let arguments = call.into_arguments();
        stop::blocking(move |stop| {
            // Once begun, a change is made whole; before, nobody may wait for it any more.
            stop.check()?;
            run(&state, arguments)
        })
        .await
    }
}
