//! `tasks`: what is to be done, kept for the workspace and shared by the user and its agents.

mod changes;
mod create;
mod end;
mod ledger;
mod look;
mod resources;
mod show;
mod state;
mod task;
mod update;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use ambit_core::effects::Effects;
use ambit_core::observation::{Failure, Output};
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::Clock;
use crate::declare::object;
use crate::pack::{Pack, Tool};
use crate::store::cell::kept;
use crate::store::{Store, StoreError};
use ledger::Ledger;
pub(crate) use ledger::PART;
use task::{Party, Task};

const KEY: &str = "tasks";
const SUMMARY: &str = "Write down what is to be done, divide it, follow it to its end.";

const LONGEST_TITLE: usize = 200;
const LONGEST_TEXT: usize = 20_000;
const LONGEST_STEP: usize = 500;
const MOST_STEPS: usize = 100;

static PACK: Pack<Tasks> = Pack {
    key: KEY,
    summary: SUMMARY,
    tools: &[
        create::TASK,
        look::LIST,
        look::GET,
        update::TASK,
        update::STEPS,
        create::SUBTASK,
        end::COMPLETE,
        end::CANCEL,
        resources::ADD,
        resources::REMOVE,
        look::HISTORY,
    ],
};

/// What a tool that only looks has in common with the others.
const LOOKS: Tool<Tasks> = Tool {
    name: "",
    title: "",
    description: "",
    effects: Effects::READS,
    risk: None,
    permissions: &["tasks:read"],
    tags: &["tasks", "plan"],
    needs: &[],
    input: || Value::Null,
    output: None,
    run: |_, _| Ok(Output::default()),
};

/// The same for one that changes something.
const CHANGES: Tool<Tasks> = Tool {
    effects: Effects::WRITES,
    permissions: &["tasks:write"],
    ..LOOKS
};

/// The tasks of a workspace, for one agent.
struct Tasks {
    store: Arc<Store>,
    clock: Clock,
    me: Party,
}

impl Tasks {
    fn read<T>(
        &self,
        work: impl FnOnce(&Ledger<'_>) -> Result<T, StoreError>,
    ) -> Result<T, Failure> {
        Ok(self.store.read(|transaction| {
            work(&Ledger {
                transaction,
                me: &self.me,
                now: self.now(),
            })
        })?)
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&Ledger<'_>) -> Result<T, StoreError>,
    ) -> Result<T, Failure> {
        Ok(self.store.write(|transaction| {
            work(&Ledger {
                transaction,
                me: &self.me,
                now: self.now(),
            })
        })?)
    }

    fn now(&self) -> Timestamp {
        kept((self.clock)())
    }

    /// Whom `me`, `user` or `agent:NAME` means.
    fn party(&self, text: &str) -> Result<Party, Failure> {
        match text {
            "me" => Ok(self.me.clone()),
            text => text
                .parse()
                .map_err(|error| Failure::refused(format!("{error}; `me` stands for yourself"))),
        }
    }
}

/// A task after a change, in one line and as data.
fn changed(said: &str, task: &Task) -> Output {
    Output::text(format!(
        "{said} {}, now at version {}",
        show::line(task),
        task.version
    ))
    .with_structured(show::data(task))
}

/// Text of one line, without space around it.
fn one_line(what: &str, text: &str) -> Result<String, Failure> {
    let text = text.trim();
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err(Failure::refused(format!(
            "a {what} is one line of text; say more in the description"
        )));
    }
    Ok(text.to_owned())
}

fn id_schema(description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 64, "description": description })
}

fn title_schema() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": LONGEST_TITLE,
        "description": "What is to be done, in one line.",
    })
}

fn description_schema() -> Value {
    json!({
        "type": "string", "maxLength": LONGEST_TEXT,
        "description": "Why, what counts as done, and what whoever does it has to know.",
    })
}

fn owner_schema(description: &str) -> Value {
    json!({
        "type": "string", "maxLength": 128, "pattern": "^(me|user|agent:.+)$",
        "description": description,
    })
}

fn version_schema() -> Value {
    json!({
        "type": "integer", "minimum": 1,
        "description": "The version you have read. If the task has changed since, nothing is done and you are told how it is now.",
    })
}

/// Makes `tasks` grantable.
pub struct TasksResolver {
    store: Arc<Store>,
    clock: Clock,
}

impl TasksResolver {
    pub(crate) fn new(store: &Arc<Store>, clock: &Clock) -> Self {
        TasksResolver {
            store: Arc::clone(store),
            clock: Arc::clone(clock),
        }
    }
}

#[async_trait]
impl CapabilityResolver for TasksResolver {
    fn key(&self) -> &str {
        KEY
    }

    fn summary(&self) -> &str {
        SUMMARY
    }

    fn offer(&self) -> Offer {
        PACK.offer()
    }

    fn config_schema(&self) -> Value {
        object(&[], json!({}))
    }

    async fn resolve(
        &self,
        _: &Value,
        context: &ResolverContext,
    ) -> Result<Resolution, ResolveError> {
        Ok(Resolution::Ready(PACK.executor(Tasks {
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            me: Party::Agent(context.agent.clone()),
        })))
    }
}
