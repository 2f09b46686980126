//! `complete_task` and `cancel_task`. A task is completed only when everything in it is
//! finished; it is cancelled with everything in it that is not.

use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};

use super::ledger::Ledger;
use super::state::{Act, RefusedReason, State, next};
use super::task::Task;
use super::{CHANGES, Tasks, changed, id_schema, show};
use crate::declare::{arguments, object};
use crate::pack::Tool;
use crate::store::StoreError;

const LONGEST_OUTCOME: usize = 2_000;
/// How many unfinished things a refusal names.
const NAMED: usize = 10;

pub(super) const COMPLETE: Tool<Tasks> = Tool {
    name: "complete_task",
    title: "Complete task",
    description: "Say that a task is done and what came of it. Refused while steps or subtasks \
        are unfinished; the refusal names them.",
    input: || input("What came of it, and where to find it."),
    run: |tasks, value| end(tasks, value, Act::Complete),
    ..CHANGES
};

pub(super) const CANCEL: Tool<Tasks> = Tool {
    name: "cancel_task",
    title: "Cancel task",
    description: "Say that a task will not be done. Everything unfinished in it is cancelled \
        with it; update_task can open it again.",
    input: || input("Why it will not be done."),
    run: |tasks, value| end(tasks, value, Act::Cancel),
    ..CHANGES
};

fn input(outcome: &str) -> Value {
    object(
        &["task"],
        json!({
            "task": id_schema("The task's id."),
            "outcome": {
                "type": "string", "maxLength": LONGEST_OUTCOME, "description": outcome,
            },
        }),
    )
}

#[derive(Deserialize)]
struct End {
    task: String,
    outcome: Option<String>,
}

fn end(tasks: &Tasks, value: Value, act: Act) -> Result<Output, Failure> {
    let End { task, outcome } = arguments(value)?;
    let outcome = outcome.filter(|it| !it.trim().is_empty());
    let (task, with) = tasks.write(|ledger| {
        let before = ledger.find(&task)?;
        let state = match next(before.state, act, ledger.around(&before)?) {
            Ok(state) => state,
            Err(reason) => return Err(refused(ledger, &before, reason)?.into()),
        };
        if state == before.state {
            return Ok((before, Vec::new()));
        }
        let with = match act {
            Act::Cancel => ledger.unended_below(&before.id)?,
            _ => Vec::new(),
        };
        for part in &with {
            let after = Task {
                state: State::Cancelled,
                outcome: Some(format!("cancelled with {}", before.id)),
                ..part.clone()
            };
            ledger.save(part, after)?;
        }
        let after = Task {
            state,
            outcome,
            ..before.clone()
        };
        Ok((ledger.save(&before, after)?, with))
    })?;
    let said = match act {
        Act::Complete => "completed",
        _ => "cancelled",
    };
    let mut output = changed(said, &task);
    if !with.is_empty() {
        let lines: Vec<_> = with.iter().map(|it| format!("- {}", it.id)).collect();
        let text = format!("cancelled with it:\n{}", lines.join("\n"));
        output
            .content
            .push(ambit_core::observation::Content::text(text));
    }
    Ok(output)
}

fn refused(ledger: &Ledger<'_>, task: &Task, reason: RefusedReason) -> Result<Failure, StoreError> {
    let mut message = format!("`{}` stays as it is: {reason}", task.id);
    if reason == RefusedReason::Unfinished {
        let steps = task
            .unfinished_steps()
            .map(|it| format!("step `{}`", it.text));
        let parts = ledger.parts(&task.id)?.into_iter();
        let parts = parts
            .filter(|it| !it.state.has_ended())
            .map(|it| format!("subtask {}", show::line(&it)));
        let all: Vec<String> = steps.chain(parts).collect();
        let named: Vec<_> = all
            .iter()
            .take(NAMED)
            .map(|it| format!("\n- {it}"))
            .collect();
        message.push_str(&named.concat());
        if let Some(more) = all.len().checked_sub(NAMED).filter(|it| *it > 0) {
            message.push_str(&format!("\n- and {more} more"));
        }
        message.push_str(
            "\nfinish them, or mark steps `skipped` with update_steps and cancel subtasks",
        );
    }
    Ok(Failure::refused(message))
}
