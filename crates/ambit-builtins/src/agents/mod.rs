//! `agents`: asking another agent for help. Delegating does nothing by itself, so it counts as
//! reading: whatever the other agent calls is judged on its own, inside the bounds of both.

use std::sync::Arc;

use ambit_core::diff::VisibleDiff;
use ambit_core::effects::Effects;
use ambit_core::observation::{Failure, Output};
use ambit_core::run::RunEnd;
use ambit_runtime::delegate::{Delegate, Delegated, DelegatedTask, Worker};
use ambit_runtime::executor::{CapabilityExecutor, StartedCall};
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::declare::{Declaration, arguments, object};

const KEY: &str = "agents";
const SUMMARY: &str = "Ask other agents for help.";
const LIST: &str = "list_available_agents";
const ASK: &str = "ask_agent";

fn list() -> Declaration {
    Declaration {
        owner: KEY,
        name: LIST,
        title: "List agents",
        description: "List the agents that can be asked for help, and what each is for.",
        effects: Effects::READS,
        permissions: &["agent:list"],
        tags: &["agents"],
        input: object(&[], json!({})),
        output: None,
        pack_summary: SUMMARY,
    }
}

fn ask() -> Declaration {
    Declaration {
        owner: KEY,
        name: ASK,
        title: "Ask an agent",
        description: "Give another agent a task and wait for its answer. It sees nothing of this \
            conversation, so the task must say everything it needs. It may do at most what you \
            may do.",
        effects: Effects::READS,
        permissions: &["agent:ask"],
        tags: &["agents", "delegate"],
        input: object(
            &["agent", "task"],
            json!({
                "agent": {"type": "string", "minLength": 1, "maxLength": 64, "description": "The agent, as list_available_agents names it."},
                "task": {"type": "string", "minLength": 1, "maxLength": 20_000, "description": "What it is to do, with all it needs to know."},
            }),
        ),
        output: None,
        pack_summary: SUMMARY,
    }
}

#[derive(Deserialize)]
struct AskArguments {
    agent: String,
    task: String,
}

/// Makes `agents` grantable.
#[derive(Clone, Copy, Debug, Default)]
pub struct AgentsResolver;

#[async_trait]
impl CapabilityResolver for AgentsResolver {
    fn key(&self) -> &str {
        KEY
    }

    fn summary(&self) -> &str {
        SUMMARY
    }

    fn offer(&self) -> Offer {
        let declared = [list(), ask()].into_iter();
        Offer::Declared(declared.filter_map(Declaration::manifest).collect())
    }

    fn config_schema(&self) -> Value {
        object(&[], json!({}))
    }

    async fn resolve(
        &self,
        _: &Value,
        context: &ResolverContext,
    ) -> Result<Resolution, ResolveError> {
        Ok(match &context.callbacks.delegate {
            Some(delegate) => Resolution::Ready(Arc::new(AgentsExecutor(Arc::clone(delegate)))),
            None => Resolution::Nothing {
                reason: "nobody runs agents here; `ambit run` does".to_owned(),
            },
        })
    }
}

struct AgentsExecutor(Arc<dyn Delegate>);

#[async_trait]
impl CapabilityExecutor for AgentsExecutor {
    async fn execute(&self, call: StartedCall) -> Result<Output, Failure> {
        match call.id().name() {
            LIST => Ok(Output::text(self.listed())),
            _ => self.ask(call).await,
        }
    }
}

impl AgentsExecutor {
    fn listed(&self) -> String {
        let lines: Vec<String> = self
            .0
            .colleagues()
            .into_iter()
            .map(|it| {
                let what = it
                    .description
                    .unwrap_or_else(|| "no description".to_owned());
                match it.unavailable {
                    None => format!("- {}: {what}", it.name),
                    Some(why) => format!("- {}: {what} (cannot be asked now: {why})", it.name),
                }
            })
            .collect();
        match lines.is_empty() {
            true => "there is no other agent".to_owned(),
            false => lines.join("\n"),
        }
    }

    async fn ask(&self, call: StartedCall) -> Result<Output, Failure> {
        let conversation = call.conversation().clone();
        let asked = call.call().clone();
        let AskArguments { agent, task } = arguments(call.into_arguments())?;
        let task = DelegatedTask {
            call: asked,
            worker: Worker::Agent {
                name: agent.clone(),
                task,
            },
        };
        let done = self.0.delegate(task, &conversation).await;
        done.map(|it| answer(&agent, &it)).map_err(Failure::refused)
    }
}

/// What an agent answered, how it came to its end, and what it had at hand.
fn answer(agent: &str, done: &Delegated) -> Output {
    let mut text = match (done.answer.trim().is_empty(), done.ended) {
        (false, RunEnd::Answered) => done.answer.clone(),
        (false, ended) => format!("{}\n[`{agent}` was not done: {ended}]", done.answer),
        (true, ended) => format!("[`{agent}` said nothing: {ended}]"),
    };
    let changes = changes(&done.diff);
    if !changes.is_empty() {
        text.push_str(&format!("\n[{agent} had, beside what you see: {changes}]"));
    }
    Output::text(text)
}

/// What the other agent saw that this one does not.
fn changes(diff: &VisibleDiff) -> String {
    let added: Vec<&str> = diff.added.iter().map(|it| it.id.as_str()).collect();
    added.join(", ")
}
