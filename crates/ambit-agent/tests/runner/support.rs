//! A stage for runs: a marketplace with fixture tools, models that say what a test tells them, and
//! agents that can be asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_agent::engine::{Engine, Listener, ModelRequest, ModelTurn};
use ambit_agent::error::EngineError;
use ambit_agent::message::{AssistantPart, Message};
use ambit_agent::runner::{
    AgentProfile, AgentRunner, Agents, RunError, RunLimits, RunListener, RunReport, Task, Unheard,
};
use ambit_agent::scripted::{Script, ScriptedEngine};
use ambit_agent::usage::Usage;
use ambit_core::effects::Effects;
use ambit_core::event::EventBody;
use ambit_core::id::{CapabilityId, Source};
use ambit_core::manifest::CapabilityManifest;
use ambit_core::observation::{Failure, Output};
use ambit_core::permission::Mode;
use ambit_core::projection::ToolFormat;
use ambit_runtime::CancellationToken;
use ambit_runtime::delegate::{DelegatedTask, Worker};
use ambit_runtime::executor::{CapabilityExecutor, StartedCall};
use ambit_runtime::journal::{Event, EventFilter, SessionId};
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::replay::replay;
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use ambit_runtime::session::SessionSpec;
use ambit_testkit::Bench;
use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Value, json};

/// Plays a script, and keeps every conversation it was shown.
pub(crate) struct Heard {
    script: ScriptedEngine,
    usage: Usage,
    pub(crate) requests: Mutex<Vec<Vec<Message>>>,
}

impl Heard {
    pub(crate) fn new(turns: Value) -> Arc<Self> {
        Heard::in_window(turns, 200_000)
    }

    pub(crate) fn in_window(turns: Value, window: u64) -> Arc<Self> {
        let script = Script::parse(&json!({"turns": turns}).to_string()).unwrap();
        Arc::new(Heard {
            script: ScriptedEngine::new(script).with_window(window),
            usage: Usage {
                input: 10,
                output: 10,
                ..Usage::default()
            },
            requests: Mutex::default(),
        })
    }

    /// What the last request ended with.
    pub(crate) fn last_results(&self) -> Vec<String> {
        let requests = self.requests.lock();
        match requests.last().and_then(|it| it.last()) {
            Some(Message::Results { results }) => results
                .iter()
                .map(|it| {
                    let texts = it.content.iter().filter_map(|it| it.as_text());
                    texts.collect::<Vec<_>>().join(" ")
                })
                .collect(),
            other => panic!("{other:?}"),
        }
    }
}

/// What every model's API insists on: each call answered once, in order, right after it was made.
pub(crate) fn assert_sound(messages: &[Message]) {
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        match message {
            Message::Assistant { parts } => {
                assert!(open.is_empty(), "{messages:#?}");
                let calls = parts.iter().filter_map(AssistantPart::as_call);
                open = calls.map(|it| it.id.clone()).collect();
            }
            Message::Results { results } => {
                let answered: Vec<String> = results.iter().map(|it| it.call.clone()).collect();
                assert_eq!(answered, std::mem::take(&mut open), "{messages:#?}");
            }
            Message::User { .. } => assert!(open.is_empty(), "{messages:#?}"),
        }
    }
    assert!(open.is_empty(), "{messages:#?}");
}

#[async_trait]
impl Engine for Heard {
    fn name(&self) -> &str {
        "heard"
    }

    fn model(&self) -> &str {
        "script"
    }

    fn window(&self) -> u64 {
        self.script.window()
    }

    fn format(&self) -> ToolFormat {
        ToolFormat::OpenAi
    }

    async fn turn(
        &self,
        request: &ModelRequest<'_>,
        listener: &dyn Listener,
        cancel: &CancellationToken,
    ) -> Result<ModelTurn, EngineError> {
        assert_sound(request.messages);
        // As a model would: there is a moment in which it can be called off.
        tokio::task::yield_now().await;
        self.requests.lock().push(request.messages.to_vec());
        let turn = self.script.turn(request, listener, cancel).await?;
        Ok(ModelTurn {
            usage: self.usage,
            ..turn
        })
    }
}

/// `asks__ask {"agent", "task"}`, as the built-in capability would.
pub(crate) struct Asks;

#[async_trait]
impl CapabilityResolver for Asks {
    fn key(&self) -> &str {
        "asks"
    }

    fn summary(&self) -> &str {
        "Asks."
    }

    fn offer(&self) -> Offer {
        let id = CapabilityId::tool(Source::Local, "asks", "ask").unwrap();
        Offer::Declared(vec![CapabilityManifest::new(
            id,
            "Asks an agent.",
            Effects::READS,
        )])
    }

    fn config_schema(&self) -> Value {
        json!({"type": "object"})
    }

    async fn resolve(
        &self,
        _: &Value,
        context: &ResolverContext,
    ) -> Result<Resolution, ResolveError> {
        let delegate = context.callbacks.delegate.clone();
        Ok(Resolution::Ready(Arc::new(Asking(
            delegate.expect("a runner is there"),
        ))))
    }
}

struct Asking(Arc<dyn ambit_runtime::delegate::Delegate>);

#[async_trait]
impl CapabilityExecutor for Asking {
    async fn execute(&self, call: StartedCall) -> Result<Output, Failure> {
        let text = |key: &str| call.arguments()[key].as_str().unwrap().to_owned();
        let task = DelegatedTask {
            call: call.call().clone(),
            worker: Worker::Agent {
                name: text("agent"),
                task: text("task"),
            },
        };
        let done = self.0.delegate(task, call.conversation()).await;
        let done = done.map_err(Failure::refused)?;
        let seen: Vec<&str> = done.diff.added.iter().map(|it| it.id.as_str()).collect();
        Ok(Output::text(format!(
            "{} [{}; saw besides {}]",
            done.answer,
            done.ended,
            seen.join(",")
        )))
    }
}

/// Agents by name.
#[derive(Default)]
pub(crate) struct Team(pub(crate) BTreeMap<String, AgentProfile>);

impl Agents for Team {
    fn names(&self) -> Vec<(String, Option<String>)> {
        self.0.keys().map(|it| (it.clone(), None)).collect()
    }

    fn profile(&self, name: &str) -> Result<AgentProfile, String> {
        let found = self.0.get(name).cloned();
        found.ok_or_else(|| format!("there is no agent `{name}`"))
    }
}

/// A marketplace, and whoever works on it.
pub(crate) struct Stage {
    pub(crate) bench: Bench,
    pub(crate) market: Arc<CapabilityMarketplace>,
    pub(crate) team: Arc<Team>,
    pub(crate) listener: Arc<dyn RunListener>,
    pub(crate) limits: RunLimits,
}

impl Stage {
    pub(crate) fn new(bench: Bench) -> Self {
        let market = bench.market();
        Stage {
            bench,
            market,
            team: Arc::default(),
            listener: Arc::new(Unheard),
            limits: RunLimits::default(),
        }
    }

    pub(crate) fn spec(&self, agent: &str, mode: Mode) -> SessionSpec {
        SessionSpec {
            agent: agent.to_owned(),
            ..self.bench.spec(mode)
        }
    }

    pub(crate) fn profile(&self, spec: SessionSpec, engine: &Arc<Heard>) -> AgentProfile {
        AgentProfile {
            spec,
            engine: Arc::clone(engine) as _,
            instructions: Vec::new(),
            project: Default::default(),
            limits: self.limits,
        }
    }

    pub(crate) fn runner(&self) -> AgentRunner {
        AgentRunner::new(
            Arc::clone(&self.market),
            Arc::clone(&self.team) as _,
            Arc::clone(&self.listener),
        )
    }

    pub(crate) async fn run(&self, engine: &Arc<Heard>, task: Task) -> RunReport {
        self.run_until(engine, task, &CancellationToken::new())
            .await
    }

    pub(crate) async fn run_until(
        &self,
        engine: &Arc<Heard>,
        task: Task,
        cancel: &CancellationToken,
    ) -> RunReport {
        let profile = self.profile(self.spec("tester", Mode::Auto), engine);
        self.runner().run(profile, task, cancel).await.unwrap()
    }

    /// Runs an agent of the team, or says why it did not begin.
    pub(crate) async fn run_as(
        &self,
        profile: AgentProfile,
        task: Task,
    ) -> Result<RunReport, RunError> {
        let cancel = CancellationToken::new();
        self.runner().run(profile, task, &cancel).await
    }

    pub(crate) async fn events(&self, session: &SessionId) -> Vec<Event> {
        self.market.journal().flush().await.unwrap();
        let filter = EventFilter {
            session: Some(session.clone()),
            ..EventFilter::default()
        };
        let reader = self.market.journal().reader().unwrap();
        reader.events(&filter).unwrap()
    }

    /// Every decision of a session comes out the same again.
    pub(crate) async fn assert_replays(&self, session: &SessionId) {
        let events = self.events(session).await;
        let reader = self.market.journal().reader().unwrap();
        let report = replay(&events, |digest| reader.object(digest).ok().flatten());
        assert!(report.differences.is_empty(), "{report:?}");
        assert!(report.unverifiable.is_empty(), "{report:?}");
    }

    pub(crate) async fn types(&self, session: &SessionId) -> Vec<String> {
        let events = self.events(session).await;
        events
            .iter()
            .map(|it| it.body.type_name().to_owned())
            .collect()
    }

    /// The session of the first sub-agent that a session asked.
    pub(crate) async fn child_of(&self, session: &SessionId) -> SessionId {
        let events = self.events(session).await;
        let child = events.iter().find_map(|it| match &it.body {
            EventBody::DelegationStarted { child, .. } => Some(child.clone()),
            _ => None,
        });
        let reader = self.market.journal().reader().unwrap();
        reader.find_session(&child.unwrap()).unwrap()
    }
}

/// `name {input}` as a call.
pub(crate) fn call(tool: &str, input: Value) -> Value {
    json!({"tool": tool, "input": input})
}

pub(crate) fn begin(goal: &str) -> Task {
    Task::Begin(goal.to_owned())
}
