//! A catalog from a file of tools, everything in it granted to one agent.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use ambit_core::catalog::SourceSnapshot;
use ambit_core::manifest::CapabilityManifest;
use ambit_core::observation::{Observation, Output};
use ambit_core::permission::Mode;
use ambit_core::search::labelled::LabelledSet;
use ambit_runtime::discovery::DiscoverySettings;
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::session::Session;
use ambit_testkit::{Behaviour, Bench, FixtureResolver, call, fixture_tool};
use parking_lot::Mutex;
use serde_json::{Value, json};

/// What config says if it says nothing.
pub(crate) const BUDGET: u32 = 8_000;
pub(crate) const LIMIT: u32 = 60;

pub(crate) struct World {
    bench: Bench,
    pub(crate) market: Arc<CapabilityMarketplace>,
    /// What the next call returns.
    answer: Arc<Mutex<String>>,
}

impl World {
    /// Reads the `tools.jsonl` of a folder.
    pub(crate) fn read(folder: &Path) -> Result<World, Box<dyn Error>> {
        let path = folder.join("tools.jsonl");
        let text = fs::read_to_string(&path).map_err(|it| format!("{}: {it}", path.display()))?;
        let set = LabelledSet::parse(&text, "")?;
        let lines = text.lines().filter(|it| !it.trim().is_empty());
        let answer = Arc::new(Mutex::new(String::new()));
        let said = Arc::clone(&answer);
        let behaviour = Behaviour::does(move |_| Ok(Output::text(said.lock().clone())));
        let mut sources: BTreeMap<String, Vec<(CapabilityManifest, Behaviour)>> = BTreeMap::new();
        for (document, line) in set.documents.into_iter().zip(lines) {
            let mut line: Value = serde_json::from_str(line)?;
            let schema = line.get_mut("input_schema").map(Value::take);
            let manifest = CapabilityManifest {
                title: document.name.clone(),
                description: document.description,
                input_schema: schema
                    .filter(Value::is_object)
                    .unwrap_or(json!({"type": "object"})),
                pack_summary: document.pack_summary,
                ..fixture_tool(&format!("{} reads", document.id))
            };
            let owner = document.id.owner().to_owned();
            let tools = sources.entry(owner).or_default();
            tools.push((manifest, behaviour.clone()));
        }
        let with = |bench: Bench, (key, tools): (String, Vec<_>)| {
            bench.with(Arc::new(FixtureResolver::new(&key, tools)), json!({}))
        };
        let bench = sources.into_iter().fold(Bench::default(), with);
        let market = bench.market();
        Ok(World {
            bench,
            market,
            answer,
        })
    }

    /// A session that has everything.
    pub(crate) async fn session(&self) -> Result<Session, Box<dyn Error>> {
        let mut spec = self.bench.spec(Mode::Ask);
        spec.discovery = DiscoverySettings {
            budget: Some(BUDGET),
            limit: Some(LIMIT),
            ..DiscoverySettings::default()
        };
        let session = self.market.open_session(spec).await;
        session.map_err(|problems| format!("{problems:?}").into())
    }

    /// Calls a tool that returns this. One that cannot be called is an error: the session would
    /// not be the one that was written down.
    pub(crate) async fn call(
        &self,
        session: &Session,
        target: &str,
        arguments: Value,
        answer: &str,
    ) -> Result<String, Box<dyn Error>> {
        answer.clone_into(&mut self.answer.lock());
        match call(session, target, arguments).await.observation {
            Observation::Completed(it) => {
                let texts = it.output.content.iter().filter_map(|it| it.as_text());
                Ok(texts.collect())
            }
            other => {
                let visible = session.visible();
                let ids: Vec<&str> = visible.entries().iter().map(|it| it.id.as_str()).collect();
                Err(format!("`{target}`: {other:?}; visible: {}", ids.join(" ")).into())
            }
        }
    }

    /// A server stops serving.
    pub(crate) fn take_down(&self, server: &str) {
        let source = format!("mcp:{server}");
        let catalog = self.market.catalog();
        let own = catalog.iter().filter(|it| it.source == source);
        self.market.push([SourceSnapshot {
            descriptors: own.cloned().collect(),
            unavailable: Some("it went away".to_owned()),
            quarantined: Default::default(),
            source,
        }]);
    }

    /// What listing everything that can be called costs, tool by tool.
    pub(crate) fn everything(&self) -> Vec<(String, u32)> {
        let catalog = self.market.catalog();
        let entries = catalog
            .iter()
            .filter(|it| catalog.unavailable(it).is_none());
        entries
            .filter(|it| it.source.starts_with("mcp:"))
            .map(|it| (it.id.to_string(), it.tokens.full))
            .collect()
    }
}
