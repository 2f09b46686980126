//! `agent-management`: the agents of the configuration, read and changed. Where they are configured
//! and whether a change is the caller's to make is not known here: that is the port's to say
//! ([`AgentsFile`]).

#[cfg(test)]
mod tests;

use std::sync::Arc;

use ambit_core::effects::{Effect, Effects, Risk};
use ambit_core::observation::{Failure, Output};
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::Builtins;
use crate::declare::{arguments, object};
use crate::pack::{Pack, Tool};

const KEY: &str = "agent-management";
const MAX_DESCRIPTION: usize = 2_000;
const MAX_INSTRUCTIONS: usize = 16_000;
const MAX_KEYS: usize = 100;
const MAX_RULES: usize = 200;
/// Most bytes of what one edit says.
const MAX_BYTES: usize = 64 << 10;

/// One configured agent.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfiguredAgent {
    /// Its name.
    pub name: String,
    /// Whose file it stands in: `user`, `project`, or `none` where it is only implied.
    pub file: &'static str,
    /// The mode that holds for it.
    pub mode: &'static str,
    /// Its entry as it is written; placeholders stay placeholders.
    pub entry: Value,
}

/// A change of one agent's entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "edit", rename_all = "lowercase")]
pub enum AgentEdit {
    /// A new one, with this entry.
    Create {
        /// Its name.
        name: String,
        /// Its members.
        entry: Map<String, Value>,
    },
    /// These members set; those that are `null` taken out.
    Update {
        /// Its name.
        name: String,
        /// The members.
        entry: Map<String, Value>,
    },
    /// The entry taken out.
    Delete {
        /// Its name.
        name: String,
    },
}

impl AgentEdit {
    /// Which agent.
    pub fn name(&self) -> &str {
        match self {
            AgentEdit::Create { name, .. }
            | AgentEdit::Update { name, .. }
            | AgentEdit::Delete { name } => name,
        }
    }
}

/// What became of an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edited {
    /// It is written.
    Written {
        /// To which file.
        file: String,
    },
    /// It grants more than the caller has: a person decides.
    Waits {
        /// What is more, a line each.
        because: Vec<String>,
        /// How a person says yes.
        how: String,
    },
}

/// Where agents are configured.
pub trait AgentsFile: Send + Sync {
    /// All of them, by name.
    fn agents(&self) -> Result<Vec<ConfiguredAgent>, Failure>;

    /// Makes a change in the name of an agent, and of those it works for, who come after it; or
    /// leaves it for a person.
    fn edit(&self, callers: &[String], edit: &AgentEdit) -> Result<Edited, Failure>;
}

/// On whose behalf, and where.
struct Desk {
    agents: Arc<dyn AgentsFile>,
    /// The agent, then those it works for.
    callers: Vec<String>,
}

static PACK: Pack<Desk> = Pack {
    key: KEY,
    summary: "List, read, create, change and delete the agents of the configuration.",
    tools: &[LIST, READ, CREATE, UPDATE, DELETE],
};

const LIST: Tool<Desk> = reading(
    "list_agents",
    "List agents",
    "Lists the configured agents: what each is for, its mode and its capabilities.",
    || object(&[], json!({})),
    run_list,
);

const READ: Tool<Desk> = reading(
    "read_agent",
    "Read an agent",
    "Reads one agent's entry in the configuration. Use it before update_agent.",
    || object(&["name"], json!({"name": name()})),
    run_read,
);

const CREATE: Tool<Desk> = Tool {
    effects: Effects::WRITES,
    risk: Some(Risk::High),
    permissions: &["agents:write"],
    ..reading(
        "create_agent",
        "Create an agent",
        "Adds an agent to the configuration. What grants more than you have yourself is not written but waits for a person; the answer then says how.",
        || object(&["name", "capabilities"], members(Null::No)),
        run_create,
    )
};

const UPDATE: Tool<Desk> = Tool {
    effects: Effects::WRITES,
    risk: Some(Risk::High),
    permissions: &["agents:write"],
    ..reading(
        "update_agent",
        "Change an agent",
        "Changes members of an agent's entry; each that is given replaces the old one whole, the rest stays. What grants more than you have yourself, or is about an agent that has more, waits for a person.",
        || object(&["name"], members(Null::TakesOut)),
        run_update,
    )
};

const DELETE: Tool<Desk> = Tool {
    effects: Effects::WRITES.with(Effect::Destructive),
    risk: Some(Risk::High),
    permissions: &["agents:write"],
    ..reading(
        "delete_agent",
        "Delete an agent",
        "Takes an agent out of the configuration. One that has more than you have yourself waits for a person.",
        || object(&["name"], json!({"name": name()})),
        run_delete,
    )
};

const fn reading(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    input: fn() -> Value,
    run: fn(&Desk, Value) -> Result<Output, Failure>,
) -> Tool<Desk> {
    Tool {
        name,
        title,
        description,
        effects: Effects::READS,
        risk: None,
        permissions: &["agents:read"],
        tags: &["agents"],
        needs: &[],
        input,
        output: None,
        run,
    }
}

fn name() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": 64, "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]*$", "description": "The agent's name: letters, digits, `-` and single `_`."})
}

/// Whether a member can be `null`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Null {
    No,
    /// Which takes it out.
    TakesOut,
}

fn members(null: Null) -> Value {
    let kind = |kind: &str| match null {
        Null::No => json!(kind),
        Null::TakesOut => json!([kind, "null"]),
    };
    let out = match null {
        Null::No => "",
        Null::TakesOut => " `null` takes it out.",
    };
    let mut modes = vec![json!("read-only"), json!("ask"), json!("auto")];
    modes.extend((null == Null::TakesOut).then_some(Value::Null));
    let subjects = json!({"type": "array", "maxItems": MAX_RULES, "items": {"type": "string", "maxLength": 256}});
    json!({
        "name": name(),
        "description": {
            "type": kind("string"),
            "maxLength": MAX_DESCRIPTION,
            "description": format!("What it is for.{out}"),
        },
        "instructions": {
            "type": kind("string"),
            "maxLength": MAX_INSTRUCTIONS,
            "description": format!("What it is told to be and to do, whenever it is run.{out}"),
        },
        "capabilities": {
            "type": "object",
            "maxProperties": MAX_KEYS,
            "additionalProperties": {"type": "object"},
            "description": "Capability keys, each with its config. `{}` is all of its tools; `tools` narrows them. Not listed means not there.",
        },
        "mode": {
            "enum": modes,
            "description": format!("How freely it may act. Left out: as the file says for all.{out}"),
        },
        "permissions": {
            "type": kind("object"),
            "properties": {"allow": subjects, "ask": subjects, "deny": subjects},
            "additionalProperties": false,
            "description": format!("Rules about ids, permissions (`fs:write`) and effects (`writes`).{out}"),
        },
    })
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Given {
    name: String,
    #[serde(flatten)]
    entry: Map<String, Value>,
}

fn run_list(desk: &Desk, _: Value) -> Result<Output, Failure> {
    let listed: Vec<Value> = desk.agents.agents()?.iter().map(summary).collect();
    Ok(answer(
        json!({"agents": listed, "you": desk.callers.first()}),
    ))
}

fn summary(agent: &ConfiguredAgent) -> Value {
    let keys = match agent.entry.get("capabilities") {
        Some(Value::Object(entries)) => entries.keys().map(|it| json!(it)).collect(),
        Some(Value::Array(keys)) => keys.clone(),
        _ => Vec::new(),
    };
    json!({
        "name": agent.name,
        "description": agent.entry.get("description"),
        "mode": agent.mode,
        "capabilities": keys,
        "file": agent.file,
    })
}

fn run_read(desk: &Desk, given: Value) -> Result<Output, Failure> {
    let given: Named = arguments(given)?;
    let agents = desk.agents.agents()?;
    let found = agents.iter().find(|it| it.name == given.name);
    let found = found.ok_or_else(|| {
        let message = format!(
            "there is no agent `{}`; list_agents says which there are",
            given.name
        );
        Failure::refused(message)
    })?;
    Ok(answer(json!({
        "name": found.name,
        "mode": found.mode,
        "file": found.file,
        "entry": found.entry,
    })))
}

fn run_create(desk: &Desk, given: Value) -> Result<Output, Failure> {
    let Given { name, entry } = bounded(given)?;
    edit(desk, &AgentEdit::Create { name, entry })
}

fn run_update(desk: &Desk, given: Value) -> Result<Output, Failure> {
    let Given { name, entry } = bounded(given)?;
    if entry.is_empty() {
        let message = "give at least one of `description`, `instructions`, `capabilities`, `mode`, `permissions`";
        return Err(Failure::refused(message));
    }
    edit(desk, &AgentEdit::Update { name, entry })
}

fn run_delete(desk: &Desk, given: Value) -> Result<Output, Failure> {
    let Named { name } = arguments(given)?;
    edit(desk, &AgentEdit::Delete { name })
}

fn bounded(given: Value) -> Result<Given, Failure> {
    let bytes = given.to_string().len();
    match bytes > MAX_BYTES {
        true => Err(Failure::refused(format!(
            "an agent's entry has at most {MAX_BYTES} bytes, this has {bytes}"
        ))),
        false => arguments(given),
    }
}

fn edit(desk: &Desk, edit: &AgentEdit) -> Result<Output, Failure> {
    let name = edit.name();
    Ok(answer(match desk.agents.edit(&desk.callers, edit)? {
        Edited::Written { file } => json!({"status": "written", "agent": name, "file": file}),
        Edited::Waits { because, how } => json!({
            "status": "waits",
            "agent": name,
            "because": because,
            "next": format!("nothing is changed yet; a person says yes with `{how}`"),
        }),
    }))
}

fn answer(value: Value) -> Output {
    Output::text(value.to_string()).with_structured(value)
}

/// Makes `agent-management` grantable.
pub(crate) struct ManagementResolver(pub(crate) Builtins);

const NOWHERE: &str = "no configuration can be edited here";

#[async_trait]
impl CapabilityResolver for ManagementResolver {
    fn key(&self) -> &str {
        KEY
    }

    fn summary(&self) -> &str {
        PACK.summary
    }

    fn offer(&self) -> Offer {
        PACK.offer()
    }

    fn unavailable(&self) -> Option<String> {
        self.0.agents.is_none().then(|| NOWHERE.to_owned())
    }

    fn config_schema(&self) -> Value {
        object(&[], json!({}))
    }

    async fn resolve(
        &self,
        _: &Value,
        context: &ResolverContext,
    ) -> Result<Resolution, ResolveError> {
        Ok(match &self.0.agents {
            None => Resolution::Nothing {
                reason: NOWHERE.to_owned(),
            },
            Some(agents) => Resolution::Ready(PACK.executor(Desk {
                agents: Arc::clone(agents),
                callers: [std::slice::from_ref(&context.agent), &context.asked_by].concat(),
            })),
        })
    }
}
