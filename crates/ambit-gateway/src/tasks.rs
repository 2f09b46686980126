//! Calls that go on by themselves, as the tasks extension has it.

use ambit_core::observation::{ErrorAnswer, Observation};
use rmcp::model::{
    CreateTaskResult, DetailedTask, ErrorCode, ErrorData, GetTaskResult, Task, TaskPayload,
    TaskStatus, UpdateTaskParams,
};
use serde_json::{Value, json};

use crate::front::Outcome;
use crate::held::Standing;
use crate::map;
use crate::rounds::{self, Rounds};

/// What a call is answered with that goes on by itself.
pub(crate) fn created(name: &str, task: &rounds::Task) -> CreateTaskResult {
    CreateTaskResult::new(described(name, task, TaskStatus::Working))
}

/// Where a task stands.
pub(crate) fn get(rounds: &Rounds, name: &str) -> Result<GetTaskResult, ErrorData> {
    let task = rounds.task(name).ok_or_else(|| unknown(name))?;
    let payload = match task.call.standing() {
        // Said at once, though what is being cancelled may take its time.
        _ if task.call.cancel.is_cancelled() => TaskPayload::Cancelled,
        Standing::Working => TaskPayload::Working,
        Standing::Asks(questions) => TaskPayload::InputRequired {
            input_requests: map::input_requests(questions)?,
        },
        Standing::Ended(ended) => match &ended.outcome {
            Outcome::Observed(call, observation) => match own_error(observation) {
                Some(error) => TaskPayload::Failed {
                    error: object(json!(error)),
                },
                None => {
                    let result = map::tool_result(call, observation.clone());
                    TaskPayload::Completed {
                        result: object(serde_json::to_value(result).unwrap_or_default()),
                    }
                }
            },
            Outcome::Unknown(_) => TaskPayload::Cancelled,
        },
    };
    let described = described(name, &task, payload.status());
    Ok(GetTaskResult::new(DetailedTask::new(described, payload)))
}

/// Answers what a task asks, or part of it.
pub(crate) fn update(rounds: &Rounds, request: UpdateTaskParams) -> Result<(), ErrorData> {
    let name = &request.task_id;
    let task = rounds.task(name).ok_or_else(|| unknown(name))?;
    task.call.answer(request.input_responses);
    Ok(())
}

/// Calls a task off. One that has ended stays as it is.
pub(crate) fn cancel(rounds: &Rounds, name: &str) -> Result<(), ErrorData> {
    let task = rounds.task(name).ok_or_else(|| unknown(name))?;
    if !matches!(task.call.standing(), Standing::Ended(_)) {
        task.call.cancel.cancel();
    }
    Ok(())
}

/// A provider's error that is no result of the tool.
fn own_error(observation: &Observation) -> Option<&ErrorAnswer> {
    match observation {
        Observation::Failed(failure) => failure.answer.as_deref(),
        _ => None,
    }
}

fn described(name: &str, task: &rounds::Task, status: TaskStatus) -> Task {
    let now = jiff::Timestamp::now();
    let kept = u64::try_from(task.kept().as_millis()).unwrap_or(u64::MAX);
    let mut described = Task::new(name, status, stamp(task.created), stamp(now));
    described.ttl_ms = Some(kept);
    let poll = task.terms.poll.map(|it| it.as_millis());
    described.poll_interval_ms = poll.and_then(|it| u64::try_from(it).ok());
    described
}

fn stamp(time: jiff::Timestamp) -> String {
    format!("{time:.3}")
}

fn unknown(name: &str) -> ErrorData {
    ErrorData::new(
        ErrorCode::INVALID_PARAMS,
        format!("no task `{}` is known here", map::short(name)),
        None,
    )
}

fn object(value: Value) -> serde_json::Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => serde_json::Map::new(),
    }
}
