//! `triggers`: agents that are started by the clock, by a change of files or over HTTP.
//!
//! The tools write down when; [`Scheduler`] starts what is due, through the port [`Starter`].

mod cron;
mod duty;
mod look;
mod make;
mod overview;
mod plan;
mod roster;
mod schedule;
mod scheduler;
mod show;
mod trigger;
mod watch;
mod webhook;
mod zone;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use ambit_core::effects::Effects;
use ambit_core::observation::{Failure, Output};
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Clock;
use crate::declare::object;
use crate::pack::{Pack, Tool};
use crate::store::cell::kept;
use crate::store::{Store, StoreError};
pub use cron::{Cron, CronError};
pub use overview::{Overview, Shown};
pub use plan::{Missed, Plan, Start, plan};
pub(crate) use roster::PART;
use roster::Roster;
pub use schedule::Schedule;
pub use scheduler::{Scheduler, Starter};
pub use trigger::{DueRun, Run, RunEnd, RunReason, RunState, Trigger};
pub use webhook::{HookRefusal, MOST_PAYLOAD, receive};

const KEY: &str = "triggers";
const SUMMARY: &str =
    "Start again later: by the clock, when files change, or when asked over HTTP.";

const LONGEST_PROMPT: usize = 8_000;

static PACK: Pack<Triggers> = Pack {
    key: KEY,
    summary: SUMMARY,
    tools: &[
        look::LIST,
        make::CREATE,
        make::UPDATE,
        make::REMOVE,
        make::RUN,
    ],
};

/// What the tools have in common.
const LOOKS: Tool<Triggers> = Tool {
    name: "",
    title: "",
    description: "",
    effects: Effects::READS,
    risk: None,
    permissions: &["triggers:read"],
    tags: &["schedule", "cron", "background"],
    needs: &[],
    input: || Value::Null,
    output: None,
    run: |_, _| Ok(Output::default()),
};

/// The triggers of one agent.
struct Triggers {
    store: Arc<Store>,
    clock: Clock,
    agent: String,
    workspace: PathBuf,
    /// Whose clocks a cron expression means that does not say.
    timezone: String,
}

impl Triggers {
    fn read<T>(
        &self,
        work: impl FnOnce(&Roster<'_>) -> Result<T, StoreError>,
    ) -> Result<T, Failure> {
        let now = kept((self.clock)());
        Ok(self
            .store
            .read(|transaction| work(&Roster { transaction, now }))?)
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&Roster<'_>) -> Result<T, StoreError>,
    ) -> Result<T, Failure> {
        let now = kept((self.clock)());
        Ok(self
            .store
            .write(|transaction| work(&Roster { transaction, now }))?)
    }

    /// What to know when nobody is there to start anything.
    fn warning(&self) -> &'static str {
        match duty::is_taken(&self.store) {
            true => "",
            false => {
                "\nnothing starts triggers in this workspace now: that needs `ambit serve`, with a model configured, which a person has to start"
            }
        }
    }
}

fn id_schema() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": 64,
        "description": "The trigger's id, as list_triggers shows it.",
    })
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TriggersConfig {
    timezone: Option<String>,
}

/// Makes `triggers` grantable.
pub struct TriggersResolver {
    store: Arc<Store>,
    clock: Clock,
}

impl TriggersResolver {
    pub(crate) fn new(store: &Arc<Store>, clock: &Clock) -> Self {
        TriggersResolver {
            store: Arc::clone(store),
            clock: Arc::clone(clock),
        }
    }
}

#[async_trait]
impl CapabilityResolver for TriggersResolver {
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
        object(
            &[],
            json!({
                "timezone": {
                    "type": "string", "minLength": 1, "maxLength": 64,
                    "description": "The time zone of cron expressions that name none, such as `Europe/Berlin`. Default: `UTC`.",
                },
            }),
        )
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
            TriggersConfig::deserialize(config).map_err(|error| failed(error.to_string()))?;
        let timezone = config.timezone.unwrap_or_else(|| "UTC".to_owned());
        zone::zone(&timezone).map_err(failed)?;
        Ok(Resolution::Ready(PACK.executor(Triggers {
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            agent: context.agent.clone(),
            workspace: context.workspace.clone(),
            timezone,
        })))
    }
}
