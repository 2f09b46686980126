//! `update_task` and `update_steps`. Both say which version they change, so that of two who
//! change the same task at once the second is told, and nothing is lost.

use std::collections::BTreeSet;

use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};

use super::state::{Act, next};
use super::task::{Step, StepState, Task};
use super::{
    CHANGES, LONGEST_STEP, MOST_STEPS, Tasks, changed, description_schema, id_schema, one_line,
    owner_schema, title_schema, version_schema,
};
use crate::declare::{arguments, object};
use crate::pack::Tool;

pub(super) const TASK: Tool<Tasks> = Tool {
    name: "update_task",
    title: "Update task",
    description: "Change a task's title, description or owner, open a draft, or take up again \
        what was done or cancelled. What is not given stays as it is.",
    input: || {
        object(
            &["task", "version"],
            json!({
                "task": id_schema("The task's id."),
                "version": version_schema(),
                "title": title_schema(),
                "description": description_schema(),
                "owner": owner_schema("Who is to do it now: `me`, `user`, or `agent:NAME`."),
                "state": {
                    "type": "string", "enum": ["open"],
                    "description": "`open` to open a draft or an ended task. To end one, use complete_task or cancel_task.",
                },
            }),
        )
    },
    run: update_task,
    ..CHANGES
};

pub(super) const STEPS: Tool<Tasks> = Tool {
    name: "update_steps",
    title: "Update steps",
    description: "Give a task its steps, or say how far they are. The list given replaces the \
        one there is, so give all of them. Use it as you go: before a step and after it.",
    input: || {
        object(
            &["task", "version", "steps"],
            json!({
                "task": id_schema("The task's id."),
                "version": version_schema(),
                "steps": {
                    "type": "array", "maxItems": MOST_STEPS,
                    "description": "All steps, in order.",
                    "items": {
                        "type": "object",
                        "required": ["text"],
                        "additionalProperties": false,
                        "properties": {
                            "text": {
                                "type": "string", "minLength": 1, "maxLength": LONGEST_STEP,
                                "description": "What to do, in few words.",
                            },
                            "state": {
                                "type": "string", "enum": StepState::WORDS, "default": "todo",
                                "description": "How far it is.",
                            },
                        },
                    },
                },
            }),
        )
    },
    run: update_steps,
    ..CHANGES
};

#[derive(Deserialize)]
struct Update {
    task: String,
    version: i64,
    title: Option<String>,
    description: Option<String>,
    owner: Option<String>,
    state: Option<String>,
}

fn update_task(tasks: &Tasks, value: Value) -> Result<Output, Failure> {
    let asked: Update = arguments(value)?;
    let given = [&asked.title, &asked.description, &asked.owner, &asked.state];
    if given.iter().all(|it| it.is_none()) {
        return Err(Failure::refused(
            "nothing to change: give `title`, `description`, `owner` or `state`",
        ));
    }
    let title = asked.title.map(|it| one_line("title", &it)).transpose()?;
    let owner = asked.owner.map(|it| tasks.party(&it)).transpose()?;
    let task = tasks.write(|ledger| {
        let before = ledger.unchanged(&asked.task, asked.version)?;
        let act = match asked.state {
            Some(_) => Act::Open,
            None => Act::Edit,
        };
        let state = next(before.state, act, ledger.around(&before)?).map_err(|reason| {
            Failure::refused(format!("`{}` cannot be changed: {reason}", before.id))
        })?;
        let after = Task {
            state,
            title: title.unwrap_or_else(|| before.title.clone()),
            description: asked
                .description
                .unwrap_or_else(|| before.description.clone()),
            owner: owner.unwrap_or_else(|| before.owner.clone()),
            // What came of it is known when it ends again.
            outcome: before.outcome.clone().filter(|_| state == before.state),
            ..before.clone()
        };
        ledger.save(&before, after)
    })?;
    Ok(changed("updated", &task))
}

#[derive(Deserialize)]
struct Steps {
    task: String,
    version: i64,
    steps: Vec<Step>,
}

fn update_steps(tasks: &Tasks, value: Value) -> Result<Output, Failure> {
    let asked: Steps = arguments(value)?;
    let steps = checked(asked.steps.into_iter())?;
    let task = tasks.write(|ledger| {
        let before = ledger.unchanged(&asked.task, asked.version)?;
        next(before.state, Act::Edit, ledger.around(&before)?).map_err(|reason| {
            Failure::refused(format!("`{}` cannot be changed: {reason}", before.id))
        })?;
        let after = Task {
            steps,
            ..before.clone()
        };
        ledger.save(&before, after)
    })?;
    Ok(changed("updated", &task))
}

/// Steps without space around them, no two alike.
pub(super) fn checked(steps: impl Iterator<Item = Step>) -> Result<Vec<Step>, Failure> {
    let mut texts = BTreeSet::new();
    steps
        .map(|step| {
            let text = one_line("step", &step.text)?;
            if !texts.insert(text.clone()) {
                return Err(Failure::refused(format!(
                    "two steps say `{text}`; say what is different, or leave one out"
                )));
            }
            Ok(Step { text, ..step })
        })
        .collect()
}
