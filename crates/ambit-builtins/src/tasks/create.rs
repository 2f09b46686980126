//! `create_task` and `create_subtask`.

use ambit_core::observation::{Failure, Output};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::state::{Act, Around, State, next};
use super::task::{Party, Step, StepState, Task};
use super::{
    CHANGES, LONGEST_STEP, MOST_STEPS, Tasks, changed, description_schema, id_schema, one_line,
    owner_schema, title_schema, update,
};
use crate::declare::{arguments, object};
use crate::pack::Tool;

pub(super) const TASK: Tool<Tasks> = Tool {
    name: "create_task",
    title: "Create task",
    description: "Write down something to be done that will outlast this conversation or that \
        somebody else should do: the user or another agent. To divide a task that exists, use \
        create_subtask or update_steps.",
    input: || object(&["title"], Value::Object(properties())),
    run: |tasks, value| create(tasks, arguments(value)?, None),
    ..CHANGES
};

pub(super) const SUBTASK: Tool<Tasks> = Tool {
    name: "create_subtask",
    title: "Create subtask",
    description: "Make a part of a task a task of its own, for instance to give it to another \
        agent. The whole cannot be completed before its parts, and is cancelled with them. For \
        parts that one agent does in order, update_steps is enough.",
    input: || {
        let mut properties = properties();
        properties.insert(
            "parent".to_owned(),
            id_schema("The id of the task to divide."),
        );
        object(&["parent", "title"], Value::Object(properties))
    },
    run: |tasks, value| {
        let Part { parent, task } = arguments(value)?;
        create(tasks, task, Some(parent))
    },
    ..CHANGES
};

fn properties() -> Map<String, Value> {
    let steps = json!({
        "type": "array", "maxItems": MOST_STEPS,
        "items": { "type": "string", "minLength": 1, "maxLength": LONGEST_STEP },
        "description": "What to do one after the other, in few words each.",
    });
    let draft = json!({
        "type": "boolean", "default": false,
        "description": "Only an idea so far: nobody should begin before it is opened with update_task.",
    });
    let properties = [
        ("title", title_schema()),
        ("description", description_schema()),
        (
            "owner",
            owner_schema("Who is to do it: `me` (default), `user`, or `agent:NAME`."),
        ),
        ("steps", steps),
        ("draft", draft),
    ];
    properties
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect()
}

#[derive(Deserialize)]
struct New {
    title: String,
    #[serde(default)]
    description: String,
    owner: Option<String>,
    #[serde(default)]
    steps: Vec<String>,
    #[serde(default)]
    draft: bool,
}

#[derive(Deserialize)]
struct Part {
    parent: String,
    #[serde(flatten)]
    task: New,
}

fn create(tasks: &Tasks, new: New, parent: Option<String>) -> Result<Output, Failure> {
    let steps = new.steps.into_iter().map(|text| Step {
        text,
        state: StepState::Todo,
    });
    let task = Task {
        id: String::new(),
        parent,
        title: one_line("title", &new.title)?,
        description: new.description,
        owner: tasks.party(new.owner.as_deref().unwrap_or("me"))?,
        state: if new.draft { State::Draft } else { State::Open },
        steps: update::checked(steps)?,
        resources: Vec::new(),
        outcome: None,
        created_by: Party::User,
        created: Timestamp::UNIX_EPOCH,
        changed: Timestamp::UNIX_EPOCH,
        version: 0,
    };
    let task = tasks.write(|ledger| {
        if let Some(parent) = &task.parent {
            let parent = ledger.find(parent)?;
            next(parent.state, Act::Edit, Around::default()).map_err(|reason| {
                Failure::refused(format!("`{}` cannot be divided: {reason}", parent.id))
            })?;
        }
        ledger.add(task)
    })?;
    Ok(changed("created", &task))
}
