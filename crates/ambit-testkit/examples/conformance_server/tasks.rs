//! Tools that run as tasks (`io.modelcontextprotocol/tasks`), and the requests about them.

use std::time::Duration;

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskFuture, TaskManager, TaskOptions};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::rounds::{Brought, Memory, Outcome, Step, field};
use crate::server::Fixture;
use crate::tools::{failure, text, tool, tool_with};

/// The tools of this file.
pub(crate) fn all() -> Vec<Tool> {
    let seconds = json!({
        "type": "object",
        "properties": {"seconds": {"type": "number"}, "label": {"type": "string"}},
        "required": ["seconds"],
    });
    let named = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}});
    vec![
        tool_with(
            "confirm_delete",
            "Asks before it deletes",
            named("filename"),
        ),
        tool("failing_job", "Runs and fails"),
        tool_with("greet", "Greets at once", named("name")),
        tool("multi_input", "Asks two things at once"),
        tool("protocol_error_job", "Cannot run"),
        tool_with("slow_compute", "Takes as long as it is told", seconds),
        tool("test_tool_with_task", "Asks, then runs"),
    ]
}

/// Calls a tool of this file.
pub(crate) async fn call(
    fixture: &Fixture,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = Value::Object(request.arguments.unwrap_or_default());
    let given = |name: &str| arguments[name].as_str().unwrap_or("nobody").to_owned();
    let name = request.name.as_ref();
    match name {
        "greet" => return Ok(text(format!("Hello, {}!", given("name"))).into()),
        "slow_compute" => return slow_compute(fixture, &arguments, context).await,
        // The others are nothing without a task.
        _ => must_take_tasks(context)?,
    }
    let run: Run = match name {
        "failing_job" => Box::new(|_| {
            Box::pin(async {
                tokio::time::sleep(Duration::from_millis(200)).await;
                Ok(failure("The job failed."))
            })
        }),
        "protocol_error_job" => Box::new(|_| {
            Box::pin(async { Err(ErrorData::internal_error("the job broke", None).into()) })
        }),
        "confirm_delete" => {
            let file = given("filename");
            Box::new(|task| Box::pin(confirm_delete(task, file)))
        }
        "multi_input" => Box::new(|task| Box::pin(multi_input(task))),
        // `test_tool_with_task`: first a round like any other tool's, then a task.
        _ => {
            let brought = Brought {
                answers: request.input_responses,
                state: request.request_state,
            };
            let outcome =
                fixture
                    .rounds
                    .go_on(name, Memory::Sealed, brought, context, |known| match known
                        .get("user_name")
                    {
                        Some(answer) => Step::Done(answer["content"]["name"].to_string()),
                        None => Step::Ask(InputRequests::from([(
                            "user_name".to_owned(),
                            field("What is your name?", "name", "string"),
                        )])),
                    })
                    .await?;
            match outcome {
                Outcome::Asks(questions) => return Ok(questions.into()),
                Outcome::Done(name) => {
                    Box::new(move |_| Box::pin(async move { Ok(text(format!("Hello, {name}!"))) }))
                }
            }
        }
    };
    Ok(CallToolResponse::Task(spawn(fixture, run)))
}

type Run = Box<dyn FnOnce(TaskContext) -> TaskFuture + Send>;

fn spawn(fixture: &Fixture, run: Run) -> CreateTaskResult {
    let options = TaskOptions::new().with_poll_interval_ms(100);
    CreateTaskResult::new(fixture.tasks.spawn(options, run))
}

fn takes_tasks(context: &RequestContext<RoleServer>) -> bool {
    context
        .client_capabilities()
        .is_some_and(|it| it.supports_tasks())
}

fn must_take_tasks(context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    if takes_tasks(context) {
        return Ok(());
    }
    let mut required = ClientCapabilities::default();
    required.extensions = Some(ExtensionCapabilities::from([(
        TASKS_EXTENSION_ID.to_owned(),
        JsonObject::new(),
    )]));
    Err(ErrorData::missing_required_client_capability(required))
}

/// A task where there is something to wait for, and where the client takes one.
async fn slow_compute(
    fixture: &Fixture,
    arguments: &Value,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let wait = arguments["seconds"].as_f64().unwrap_or_default();
    let wait = Duration::try_from_secs_f64(wait).unwrap_or_default();
    let said = format!("Computed {}.", arguments["label"]);
    if wait.is_zero() || !takes_tasks(context) {
        tokio::time::sleep(wait).await;
        return Ok(text(said).into());
    }
    let run: Run = Box::new(move |task| {
        Box::pin(async move {
            tokio::select! {
                () = tokio::time::sleep(wait) => Ok(text(said)),
                () = task.cancelled() => Err(TaskExit::Cancelled),
            }
        })
    });
    Ok(CallToolResponse::Task(spawn(fixture, run)))
}

async fn confirm_delete(task: TaskContext, file: String) -> Result<CallToolResult, TaskExit> {
    let question = field(&format!("Delete {file}?"), "confirm", "boolean");
    let answer = task.request_input("confirm", question).await?;
    Ok(text(match answer["action"].as_str() {
        Some("accept") => format!("Deleted {file}."),
        _ => format!("Kept {file}."),
    }))
}

async fn multi_input(task: TaskContext) -> Result<CallToolResult, TaskExit> {
    let (name, color) = tokio::join!(
        task.request_input("name", field("What is your name?", "name", "string")),
        task.request_input("color", field("Which color?", "color", "string")),
    );
    Ok(text(format!("{}, {}", name?["content"], color?["content"])))
}

/// `tasks/get`.
pub(crate) fn get(
    tasks: &TaskManager,
    request: &GetTaskParams,
) -> Result<GetTaskResult, ErrorData> {
    tasks.get_task(&request.task_id).map(GetTaskResult::new)
}

/// `tasks/update`.
pub(crate) fn update(tasks: &TaskManager, request: UpdateTaskParams) -> Result<(), ErrorData> {
    tasks.update_task(&request.task_id, request.input_responses)
}

/// `tasks/cancel`.
pub(crate) fn cancel(tasks: &TaskManager, request: &CancelTaskParams) -> Result<(), ErrorData> {
    tasks.cancel_task(&request.task_id)
}
