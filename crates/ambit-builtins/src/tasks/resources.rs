//! `add_resource` and `remove_resource`: what a task is about. Adding and removing one thing
//! cannot overwrite what somebody else adds or removes, so no version is asked for.

use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};

use super::state::{Act, Around, next};
use super::task::{Resource, Task};
use super::{CHANGES, Tasks, changed, id_schema, one_line};
use crate::declare::{arguments, object};
use crate::pack::Tool;
use crate::store::StoreError;

const LONGEST_NAME: usize = 2_000;
const LONGEST_NOTE: usize = 500;
const MOST: usize = 50;

pub(super) const ADD: Tool<Tasks> = Tool {
    name: "add_resource",
    title: "Add resource",
    description: "Note a file, an address or anything else with a name that a task is about, so \
        that whoever works on it finds it. Adding it again replaces its note.",
    input: || {
        object(
            &["task", "resource"],
            json!({
                "task": id_schema("The task's id."),
                "resource": name_schema("A path in the workspace, a URL, or another name."),
                "note": {
                    "type": "string", "maxLength": LONGEST_NOTE,
                    "description": "What it is, or what it is for.",
                },
            }),
        )
    },
    run: add,
    ..CHANGES
};

pub(super) const REMOVE: Tool<Tasks> = Tool {
    name: "remove_resource",
    title: "Remove resource",
    description: "Take a resource off a task, where it was noted by mistake or is of no use any \
        more. The resource itself stays.",
    input: || {
        object(
            &["task", "resource"],
            json!({
                "task": id_schema("The task's id."),
                "resource": name_schema("The resource, as get_task shows it."),
            }),
        )
    },
    run: remove,
    ..CHANGES
};

fn name_schema(description: &str) -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": LONGEST_NAME, "description": description,
    })
}

#[derive(Deserialize)]
struct Named {
    task: String,
    resource: String,
    #[serde(default)]
    note: String,
}

fn add(tasks: &Tasks, value: Value) -> Result<Output, Failure> {
    let Named {
        task,
        resource,
        note,
    } = arguments(value)?;
    let resource = Resource {
        resource: one_line("resource", &resource)?,
        note: note.trim().to_owned(),
    };
    let task = edit(tasks, &task, |resources| {
        let known = resources
            .iter()
            .position(|it| it.resource == resource.resource);
        match known.and_then(|at| resources.get_mut(at)) {
            Some(known) => *known = resource,
            None => resources.push(resource),
        }
        if resources.len() > MOST {
            return Err(Failure::refused(format!(
                "a task has at most {MOST} resources; remove one with remove_resource, or name \
                 a folder"
            ))
            .into());
        }
        Ok(())
    })?;
    Ok(changed("noted for", &task))
}

fn remove(tasks: &Tasks, value: Value) -> Result<Output, Failure> {
    let Named { task, resource, .. } = arguments(value)?;
    let resource = resource.trim();
    let task = edit(tasks, &task, |resources| {
        let count = resources.len();
        resources.retain(|it| it.resource != resource);
        if resources.len() == count {
            return Err(Failure::refused(format!(
                "the task has no resource `{resource}`; get_task shows those it has"
            ))
            .into());
        }
        Ok(())
    })?;
    Ok(changed("taken off", &task))
}

fn edit(
    tasks: &Tasks,
    id: &str,
    change: impl FnOnce(&mut Vec<Resource>) -> Result<(), StoreError>,
) -> Result<Task, Failure> {
    tasks.write(|ledger| {
        let before = ledger.find(id)?;
        next(before.state, Act::Edit, Around::default())
            .map_err(|reason| Failure::refused(format!("`{id}` cannot be changed: {reason}")))?;
        let mut after = before.clone();
        change(&mut after.resources)?;
        ledger.save(&before, after)
    })
}
