//! A task as a model reads it: a line, the whole of it, and both as data.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::task::{Change, Task};

/// `t-k3j9x2ab [open] Title (agent:coder, 2 of 5 steps)`.
pub(super) fn line(task: &Task) -> String {
    let done = task.steps.len() - task.unfinished_steps().count();
    let steps = match task.steps.len() {
        0 => String::new(),
        all => format!(", {done} of {all} steps"),
    };
    format!(
        "{} [{}] {} ({}{steps})",
        task.id,
        task.state.as_str(),
        task.title,
        task.owner
    )
}

/// Everything about a task, with a line for each of its parts.
pub(super) fn whole(task: &Task, parts: &[Task]) -> String {
    let mut text = format!(
        "{} [{}] {}\nversion {}, owner {}, made by {} on {}, changed {}\n",
        task.id,
        task.state.as_str(),
        task.title,
        task.version,
        task.owner,
        task.created_by,
        task.created.strftime("%F"),
        task.changed.strftime("%F %T UTC"),
    );
    // Writing to a string cannot fail.
    if let Some(parent) = &task.parent {
        let _ = writeln!(text, "part of {parent}");
    }
    if let Some(outcome) = &task.outcome {
        let _ = writeln!(text, "outcome: {outcome}");
    }
    if !task.description.is_empty() {
        let _ = writeln!(text, "\n{}", task.description);
    }
    if !task.steps.is_empty() {
        text.push_str("\nsteps:\n");
    }
    for (step, number) in task.steps.iter().zip(1..) {
        let _ = writeln!(text, "{number}. [{}] {}", step.state.as_str(), step.text);
    }
    if !task.resources.is_empty() {
        text.push_str("\nresources:\n");
    }
    for it in &task.resources {
        let note = if it.note.is_empty() { "" } else { ": " };
        let _ = writeln!(text, "- {}{note}{}", it.resource, it.note);
    }
    if !parts.is_empty() {
        text.push_str("\nsubtasks:\n");
    }
    for part in parts {
        let _ = writeln!(text, "- {}", line(part));
    }
    text.truncate(text.trim_end().len());
    text
}

/// The same as data.
pub(super) fn data(task: &Task) -> Value {
    json!({
        "id": task.id,
        "version": task.version,
        "title": task.title,
        "description": task.description,
        "state": task.state.as_str(),
        "owner": task.owner.to_string(),
        "createdBy": task.created_by.to_string(),
        "created": task.created.to_string(),
        "changed": task.changed.to_string(),
        "parent": task.parent,
        "steps": task.steps,
        "resources": task.resources,
        "outcome": task.outcome,
    })
}

/// A line as data: enough to choose one, and to change it.
pub(super) fn brief(task: &Task) -> Value {
    json!({
        "id": task.id,
        "version": task.version,
        "title": task.title,
        "state": task.state.as_str(),
        "owner": task.owner.to_string(),
        "parent": task.parent,
        "steps": task.steps.len(),
        "unfinishedSteps": task.unfinished_steps().count(),
    })
}

/// `3  2026-01-31 12:00:00 UTC  agent:coder  state was `open`, now `done``.
pub(super) fn change(it: &Change) -> String {
    format!(
        "{}  {}  {}  {}",
        it.version,
        it.at.strftime("%F %T UTC"),
        it.who,
        it.what.join("; ")
    )
}
