//! Built-in capabilities tried as an agent has them: granted, in a session, through the pipeline.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use ambit_core::observation::Observation;
use ambit_core::permission::Mode;
use ambit_runtime::discovery::TurnRequest;
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::resolver::CapabilityResolver;
use ambit_testkit::{Bench, call};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::Builtins;
use crate::store::Store;

/// A workspace with one built-in key, and a clock that goes when it is told to.
pub(crate) struct Trial {
    bench: Bench,
    market: Arc<CapabilityMarketplace>,
    key: String,
    pub(crate) builtins: Builtins,
    seconds: Arc<AtomicI64>,
}

/// How a call ended: its text and data, or the code and the reason.
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) data: Value,
}

impl Trial {
    pub(crate) fn new(
        resolver: impl FnOnce(&Builtins) -> Arc<dyn CapabilityResolver>,
        config: Value,
    ) -> Self {
        let bench = Bench::default();
        let seconds = Arc::new(AtomicI64::new(1_700_000_000));
        let time = Arc::clone(&seconds);
        let builtins = Builtins {
            clock: Arc::new(move || Timestamp::from_second(time.load(Ordering::Relaxed)).unwrap()),
            ..Builtins::new(Store::at(&bench.folder.path().join("data")))
        };
        let resolver = resolver(&builtins);
        let key = resolver.key().to_owned();
        let bench = bench.with(resolver, config);
        Trial {
            market: bench.market(),
            key,
            bench,
            builtins,
            seconds,
        }
    }

    pub(crate) fn pass(&self, seconds: i64) {
        self.seconds.fetch_add(seconds, Ordering::Relaxed);
    }

    /// One agent calls a tool of the key, unasked.
    pub(crate) async fn call(&self, agent: &str, tool: &str, arguments: Value) -> Said {
        let mut spec = self.bench.spec(Mode::Auto);
        spec.agent = agent.to_owned();
        let session = self.market.open_session(spec).await.unwrap();
        session.begin_turn(&TurnRequest::default());
        let target = format!("local__{}__{tool}", self.key);
        match call(&session, &target, arguments).await.observation {
            Observation::Completed(it) => Said {
                text: it
                    .output
                    .content
                    .iter()
                    .filter_map(|it| it.as_text())
                    .collect::<Vec<_>>()
                    .join("\n"),
                data: it.output.structured.unwrap_or_default(),
            },
            Observation::Denied(it) => Said {
                text: format!("{}: {}", it.code.as_str(), it.reason),
                data: Value::Null,
            },
            Observation::Failed(it) => Said {
                text: format!("{}: {}", it.code.as_str(), it.message),
                data: Value::Null,
            },
        }
    }

    /// The tools that are there in a mode.
    pub(crate) async fn visible(&self, mode: Mode) -> Vec<String> {
        let session = self.bench.session_on(&self.market, mode).await;
        let visible = session.visible();
        let own = visible
            .entries()
            .iter()
            .filter(|it| it.id.owner() == self.key);
        let mut names: Vec<_> = own.map(|it| it.id.name().to_owned()).collect();
        names.sort();
        names
    }

    /// What a call that changes something is answered in `read-only`.
    pub(crate) async fn read_only(&self, tool: &str) -> String {
        let target = format!("local__{}__{tool}", self.key);
        let answer = self.bench.call(Mode::ReadOnly, &target, json!({})).await;
        answer.code().map_or("", |it| it.as_str()).to_owned()
    }
}
