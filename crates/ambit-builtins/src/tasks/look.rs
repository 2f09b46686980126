//! `list_tasks`, `get_task` and `list_task_history`.

use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};

use super::ledger::Filter;
use super::state::State;
use super::{LOOKS, Tasks, id_schema, owner_schema, show};
use crate::declare::{arguments, object};
use crate::pack::Tool;

const USUAL: usize = 50;
const MOST: usize = 200;

pub(super) const LIST: Tool<Tasks> = Tool {
    name: "list_tasks",
    title: "List tasks",
    description: "What there is to do: your tasks, those you made and those of the user, with \
        their parts, what changed last first. Look here before you create one.",
    input: || {
        object(
            &[],
            json!({
                "state": {
                    "type": "string", "default": "unfinished",
                    "enum": ["unfinished", "draft", "open", "done", "cancelled", "all"],
                    "description": "Only those in this state; `unfinished` is draft and open.",
                },
                "owner": owner_schema("Only those of `me`, `user` or `agent:NAME`."),
                "parent": id_schema("Only parts of the task with this id."),
                "query": {
                    "type": "string", "minLength": 1, "maxLength": 200,
                    "description": "Only those with this in their title or description.",
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL,
                    "description": "Most tasks to return.",
                },
                "offset": {
                    "type": "integer", "minimum": 0, "maximum": 1_000_000, "default": 0,
                    "description": "How many to leave out at the beginning.",
                },
            }),
        )
    },
    run: list,
    ..LOOKS
};

pub(super) const GET: Tool<Tasks> = Tool {
    name: "get_task",
    title: "Get task",
    description: "Everything about one task: description, steps, resources, subtasks, and the \
        version that update_task and update_steps ask for.",
    input: || object(&["task"], json!({ "task": id_schema("The task's id.") })),
    run: get,
    ..LOOKS
};

pub(super) const HISTORY: Tool<Tasks> = Tool {
    name: "list_task_history",
    title: "List task history",
    description: "What happened to a task: every change with who made it and when, newest first. \
        Use it when a task is not as you left it.",
    input: || {
        object(
            &["task"],
            json!({
                "task": id_schema("The task's id."),
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL,
                    "description": "Most changes to return.",
                },
                "before": {
                    "type": "integer", "minimum": 1,
                    "description": "Only changes that led to versions below this one.",
                },
            }),
        )
    },
    run: history,
    ..LOOKS
};

#[derive(Deserialize)]
struct Asked {
    state: Option<String>,
    owner: Option<String>,
    parent: Option<String>,
    query: Option<String>,
    limit: Option<usize>,
    #[serde(default)]
    offset: usize,
}

fn list(tasks: &Tasks, value: Value) -> Result<Output, Failure> {
    let asked: Asked = arguments(value)?;
    let filter = Filter {
        states: match asked.state.as_deref() {
            None | Some("unfinished") => &[State::Draft, State::Open],
            Some("draft") => &[State::Draft],
            Some("open") => &[State::Open],
            Some("done") => &[State::Done],
            Some("cancelled") => &[State::Cancelled],
            Some(_) => &State::ALL,
        },
        owner: asked.owner.map(|it| tasks.party(&it)).transpose()?,
        parent: asked.parent,
        text: asked.query,
        limit: asked.limit.unwrap_or(USUAL).min(MOST),
        offset: asked.offset,
    };
    let (found, total) = tasks.read(|ledger| ledger.list(&filter))?;
    let mut lines: Vec<String> = found.iter().map(show::line).collect();
    let end = filter.offset.saturating_add(found.len());
    let next = (end < total && !found.is_empty()).then_some(end);
    lines.push(match next {
        Some(next) => format!("{total} in all; go on with `offset` {next}"),
        None => format!("{total} in all"),
    });
    Ok(Output::text(lines.join("\n")).with_structured(json!({
        "tasks": found.iter().map(show::brief).collect::<Vec<_>>(),
        "total": total,
        "nextOffset": next,
    })))
}

#[derive(Deserialize)]
struct One {
    task: String,
    limit: Option<usize>,
    before: Option<i64>,
}

fn get(tasks: &Tasks, value: Value) -> Result<Output, Failure> {
    let One { task, .. } = arguments(value)?;
    let (task, parts) = tasks.read(|ledger| {
        let task = ledger.find(&task)?;
        let parts = ledger.parts(&task.id)?;
        Ok((task, parts))
    })?;
    let mut data = show::data(&task);
    if let Some(map) = data.as_object_mut() {
        let parts = parts.iter().map(show::brief).collect();
        map.insert("subtasks".to_owned(), Value::Array(parts));
    }
    Ok(Output::text(show::whole(&task, &parts)).with_structured(data))
}

fn history(tasks: &Tasks, value: Value) -> Result<Output, Failure> {
    let asked: One = arguments(value)?;
    let limit = asked.limit.unwrap_or(USUAL).min(MOST);
    let (task, changes) = tasks.read(|ledger| {
        let task = ledger.find(&asked.task)?;
        let changes = ledger.history(&task, asked.before, limit)?;
        Ok((task, changes))
    })?;
    let mut lines: Vec<String> = changes.iter().map(show::change).collect();
    let next = changes.last().map(|it| it.version).filter(|it| *it > 1);
    if let Some(next) = next {
        lines.push(format!("there is more; go on with `before` {next}"));
    }
    let listed: Vec<Value> = changes
        .iter()
        .map(|it| {
            json!({
                "version": it.version,
                "at": it.at.to_string(),
                "who": it.who.to_string(),
                "what": it.what,
            })
        })
        .collect();
    Ok(Output::text(lines.join("\n")).with_structured(json!({
        "task": task.id,
        "changes": listed,
        "nextBefore": next,
    })))
}
