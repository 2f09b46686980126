//! Every tool by name, and the ones that just answer.

use std::borrow::Cow;
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::changes::{Changed, Changes};
use crate::server::Fixture;
use crate::{asking, tasks};

/// A red dot.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
/// One silent sample.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

/// Long enough that messages of one call do not arrive as one.
const PAUSE: Duration = Duration::from_millis(50);

/// The list, always in the same order.
pub(crate) fn all(changes: &Changes) -> Vec<Tool> {
    let mut all = vec![
        decorated(),
        tool("test_audio_content", "Returns a sound"),
        tool_with(
            "test_custom_header",
            "Has its argument in a header as well",
            json!({
                "type": "object",
                "properties": {"value": {"type": "string", "x-mcp-header": "Value"}},
                "required": ["value"],
            }),
        ),
        tool("test_embedded_resource", "Returns a resource"),
        tool("test_error_handling", "Fails"),
        tool("test_image_content", "Returns a picture"),
        tool("test_logging_tool", "Logs, if that is wanted"),
        tool("test_multiple_content_types", "Returns three kinds"),
        tool("test_reconnection", "Answers late"),
        tool("test_tool_with_logging", "Logs three times"),
        tool("test_tool_with_progress", "Reports progress"),
        tool("test_trigger_prompt_change", "Changes the prompts"),
        tool("test_trigger_tool_change", "Changes the tools"),
        tool_with(
            "json_schema_2020_12_tool",
            "Tool with JSON Schema 2020-12 features",
            full_schema(),
        ),
    ];
    all.extend(asking::all());
    all.extend(tasks::all());
    if changes.has_tool() {
        all.push(tool("test_changing_tool", "Comes and goes"));
    }
    all
}

/// Calls a tool of any file.
pub(crate) async fn call(
    fixture: &Fixture,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let named = |list: Vec<Tool>| list.iter().any(|it| it.name == request.name);
    if named(asking::all()) {
        asking::call(fixture, request, &context).await
    } else if named(tasks::all()) {
        tasks::call(fixture, request, &context).await
    } else {
        let name = request.name.clone();
        answer(fixture, &name, request, &context)
            .await
            .map(Into::into)
    }
}

async fn answer(
    fixture: &Fixture,
    name: &str,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let arguments = Value::Object(request.arguments.unwrap_or_default());
    Ok(match name {
        "test_simple_text" => text("This is a simple text response for testing."),
        "test_image_content" => content([ContentBlock::image(PNG, "image/png")]),
        "test_audio_content" => content([ContentBlock::audio(WAV, "audio/wav")]),
        "test_embedded_resource" => content([ContentBlock::embedded_text(
            "test://embedded-resource",
            "This is an embedded resource content.",
        )]),
        "test_multiple_content_types" => content([
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(PNG, "image/png"),
            ContentBlock::resource(
                ResourceContents::text(
                    json!({"test": "data", "value": 123}).to_string(),
                    "test://mixed-content-resource",
                )
                .with_mime_type("application/json"),
            ),
        ]),
        "test_error_handling" => failure("This tool intentionally returns an error for testing"),
        "test_custom_header" => text(format!("Value: {}", arguments["value"])),
        "json_schema_2020_12_tool" => text(format!("Arguments: {arguments}")),
        "test_logging_tool" => {
            fixture.log(context, "Tool executed").await;
            text("Logged, if that was wanted.")
        }
        "test_tool_with_logging" => {
            fixture.log(context, "Tool execution started").await;
            tokio::time::sleep(PAUSE).await;
            fixture.log(context, "Tool processing data").await;
            tokio::time::sleep(PAUSE).await;
            fixture.log(context, "Tool execution completed").await;
            text("Logged three times.")
        }
        "test_tool_with_progress" => {
            for done in [0., 50., 100.] {
                if let Some(token) = context.meta.get_progress_token() {
                    let progress = ProgressNotificationParam::new(token, done).with_total(100.);
                    // Progress nobody reads is no failure.
                    context.peer.notify_progress(progress).await.ok();
                }
                tokio::time::sleep(PAUSE).await;
            }
            text("Reported three times.")
        }
        "test_reconnection" => {
            tokio::time::sleep(PAUSE * 2).await;
            text("Still here.")
        }
        "test_trigger_tool_change" => {
            fixture.changes.change(Changed::Tools).await;
            text("The tools changed.")
        }
        "test_trigger_prompt_change" => {
            fixture.changes.change(Changed::Prompts).await;
            text("The prompts changed.")
        }
        "test_changing_tool" if fixture.changes.has_tool() => text("Here now."),
        unknown => {
            let message = format!("there is no tool `{unknown}`");
            return Err(ErrorData::invalid_params(message, None));
        }
    })
}

/// A tool without arguments.
pub(crate) fn tool(name: &'static str, description: &'static str) -> Tool {
    tool_with(
        name,
        description,
        json!({"type": "object", "properties": {}}),
    )
}

/// A tool with these arguments.
pub(crate) fn tool_with(name: &'static str, description: &'static str, schema: Value) -> Tool {
    let Value::Object(schema) = schema else {
        return tool(name, description);
    };
    Tool::new(Cow::Borrowed(name), Cow::Borrowed(description), schema)
}

/// The plainest tool has everything a definition can carry, so that what a gateway drops shows.
fn decorated() -> Tool {
    let mut tool = tool("test_simple_text", "Returns a text");
    tool.title = Some("Simple text".to_owned());
    tool.annotations = Some(
        ToolAnnotations::with_title("Simple text")
            .read_only(true)
            .idempotent(true)
            .open_world(false),
    );
    let picture = format!("data:image/png;base64,{PNG}");
    tool.icons = Some(vec![Icon::new(picture).with_mime_type("image/png")]);
    tool
}

/// Every keyword the suite looks for.
fn full_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {
            "properties": {"contactMethod": {"const": "phone"}},
            "required": ["contactMethod"],
        },
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

/// A result of one text.
pub(crate) fn text(text: impl Into<String>) -> CallToolResult {
    content([ContentBlock::text(text)])
}

/// What a tool says that ran and failed.
pub(crate) fn failure(text: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn content(blocks: impl Into<Vec<ContentBlock>>) -> CallToolResult {
    CallToolResult::success(blocks.into())
}
