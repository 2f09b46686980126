//! A conversation with an engine: what it calls is answered with its own name.

// Each test file uses its own part of this.
#![allow(dead_code, clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use ambit_agent::config::{EngineConfig, Provider};
use ambit_agent::engine::{Engine, Listener, ModelNews, ModelOptions, ModelRequest, ModelTurn};
use ambit_agent::error::EngineError;
use ambit_agent::key::ApiKey;
use ambit_agent::message::{Arguments, Message, ToolResult};
use ambit_core::observation::Content;
use ambit_core::projection::{Projection, ToolFormat};
use ambit_runtime::CancellationToken;
use ambit_testkit::ModelEndpoint;
use parking_lot::Mutex;
use serde_json::{Value, json};

/// The key that must be in no error.
pub(crate) const KEY: &str = "sk-hunter2-hunter2";

/// The engines that speak HTTP.
pub(crate) const PROVIDERS: [Provider; 2] = [Provider::OpenAi, Provider::Anthropic];

/// The stand-in as a model.
pub(crate) fn config(provider: Provider, endpoint: &ModelEndpoint) -> EngineConfig {
    let mut config = EngineConfig::new(provider, "claude-opus-5");
    config.base_url = Some(match provider {
        Provider::Anthropic => endpoint.anthropic(),
        Provider::OpenAi | Provider::Scripted => endpoint.openai(),
    });
    config.key = Some(ApiKey::new(KEY));
    config
}

/// An engine for the stand-in.
pub(crate) fn engine(provider: Provider, endpoint: &ModelEndpoint) -> Arc<dyn Engine> {
    config(provider, endpoint).open().unwrap()
}

/// Tools of these names, in the engine's format.
pub(crate) fn projection(format: ToolFormat, names: &[&str]) -> Projection {
    // As no API takes it.
    let schema = json!({"anyOf": [{"properties": {"list": {"type": "array"}}}]});
    let tool = |name: &&str| match format {
        ToolFormat::OpenAi => {
            json!({"type": "function", "function": {"name": name, "description": "Does.", "parameters": schema}})
        }
        _ => json!({"name": name, "description": "Does.", "input_schema": schema}),
    };
    Projection {
        tools: names.iter().map(tool).collect(),
        skills: Vec::new(),
        resources: Vec::new(),
        deferred: Vec::new(),
    }
}

/// What was heard, a line each.
#[derive(Default)]
pub(crate) struct Heard(Mutex<Vec<String>>);

impl Heard {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().clone()
    }

    /// The pauses before tries.
    pub(crate) fn pauses(&self) -> usize {
        let lines = self.0.lock();
        lines.iter().filter(|it| it.starts_with("again")).count()
    }
}

impl Listener for Heard {
    fn hear(&self, news: ModelNews<'_>) {
        self.0.lock().push(match news {
            ModelNews::Text(text) => format!("text {text}"),
            ModelNews::Thinking(text) => format!("thinking {text}"),
            ModelNews::Calling(name) => format!("calling {name}"),
            ModelNews::StartsOver { why, pause } => {
                format!("again after {} s: {why}", pause.as_secs())
            }
        });
    }
}

/// Asks for one turn.
pub(crate) async fn ask(
    engine: &dyn Engine,
    messages: &[Message],
    tools: &[&str],
    listener: &dyn Listener,
    cancel: &CancellationToken,
) -> Result<ModelTurn, EngineError> {
    let projection = projection(engine.format(), tools);
    let system = ["You help.".to_owned(), "Be brief.".to_owned()];
    let request = ModelRequest {
        system: &system,
        projection: &projection,
        messages,
        options: ModelOptions::default(),
    };
    engine.turn(&request, listener, cancel).await
}

/// What a turn's calls brought: their names, or what was wrong with their arguments.
pub(crate) fn results(turn: &ModelTurn) -> Message {
    let results = turn.calls().map(|call| {
        let (text, is_error) = match &call.arguments {
            Arguments::Object(map) => (format!("{} {}", call.name, json!(map)), false),
            Arguments::Malformed(text) => (format!("not JSON: {text}"), true),
        };
        ToolResult {
            call: call.id.clone(),
            name: call.name.clone(),
            content: vec![Content::text(text)],
            is_error,
            reveals: Vec::new(),
        }
    });
    Message::Results {
        results: results.collect(),
    }
}

/// Talks until there is nothing more to call; every turn as a line.
pub(crate) async fn talk(
    engine: &dyn Engine,
    listener: &dyn Listener,
) -> Result<Vec<String>, EngineError> {
    let mut messages = vec![Message::user("go")];
    let mut lines = Vec::new();
    let cancel = CancellationToken::new();
    loop {
        let turn = ask(engine, &messages, &["read_file", "grep"], listener, &cancel).await?;
        let calls: Vec<String> = turn
            .calls()
            .map(|it| format!("{} {:?}", it.name, it.arguments))
            .collect();
        lines.push(format!("{:?} {:?} {calls:?}", turn.stop, turn.text()));
        if calls.is_empty() {
            return Ok(lines);
        }
        let answer = results(&turn);
        messages.push(turn.into_message());
        messages.push(answer);
    }
}

/// Enough time for anything, on a clock that stands still.
pub(crate) const LONG: Duration = Duration::from_secs(36_000);

/// A script of one turn that says something longer.
pub(crate) fn one_turn() -> Value {
    json!({"turns": [{"say": "Grüße aus dem Süden 🌞, und noch etwas mehr davon."}]})
}
