//! Between Ambit's words and the protocol's.

use ambit_core::effects::{Effect, Effects};
use ambit_core::intent::CallId;
use ambit_core::observation::{Completed, Content, Observation};
use rmcp::model::{
    CallToolResult, ContentBlock, GetPromptResult, Implementation, JsonObject, MetaObject, Prompt,
    PromptMessage, Role, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use serde_json::{Value, json};

use crate::front::{ShownSkill, ShownTool};
use crate::style::Style;

/// In `_meta`: the result came from outside, and is to be read as data.
pub(crate) const UNTRUSTED: &str = "ambit/untrusted";
/// In `_meta`: where the whole of a cut result is.
const RESULT_REF: &str = "ambit/resultRef";
/// In `_meta`: what hooks had to say.
const NOTES: &str = "ambit/notes";
/// In `_meta`: the stable code of a call that did not complete.
const CODE: &str = "ambit/code";
/// In `_meta`: the call's name in the journal.
const CALL: &str = "ambit/call";

/// Who answers, and what can be asked of it.
pub(crate) fn server_config(style: Style, instructions: String) -> ServerConfig {
    let offers = ServerCapabilities::builder()
        .enable_tools()
        .enable_prompts();
    let capabilities = match style {
        Style::Dynamic => offers.enable_tool_list_changed().build(),
        Style::Full | Style::Dispatch => offers.build(),
    };
    ServerConfig::new(capabilities)
        .with_server_info(
            Implementation::new("ambit", env!("CARGO_PKG_VERSION")).with_title("Ambit"),
        )
        .with_instructions(instructions)
}

/// A tool of the list. One whose schema is not an object cannot be listed.
pub(crate) fn tool(shown: &ShownTool) -> Option<Tool> {
    let mut tool: Tool = serde_json::from_value(shown.definition.clone()).ok()?;
    tool.annotations = Some(annotations(shown.effects));
    Some(tool)
}

/// What a client goes by when it asks per tool.
fn annotations(effects: Effects) -> ToolAnnotations {
    let changes = effects.changes();
    let hints = ToolAnnotations::new()
        .read_only(!changes)
        .open_world(effects.has(Effect::OpenWorld) || effects.has(Effect::Egress));
    match changes {
        true => hints.destructive(effects.has(Effect::Destructive)),
        false => hints,
    }
}

/// A skill as a prompt.
pub(crate) fn prompt(skill: ShownSkill) -> Prompt {
    Prompt::new(skill.name, Some(skill.summary), None).with_title(skill.title)
}

/// How a call ended, as a tool result: no refusal is a protocol error.
pub(crate) fn tool_result(call: &CallId, observation: Observation) -> CallToolResult {
    let mut meta = JsonObject::new();
    meta.insert(CALL.to_owned(), json!(call));
    let mut result = match observation {
        Observation::Completed(completed) => {
            meta.extend(marks(&completed));
            let mut result = CallToolResult::success(blocks(completed.output.content));
            result.structured_content = completed.output.structured;
            result
        }
        other => {
            meta.insert(CODE.to_owned(), json!(other.code()));
            CallToolResult::error(vec![ContentBlock::text(refusal(&other))])
        }
    };
    result.meta = Some(MetaObject(meta));
    result
}

/// `code: reason`, for whoever called.
pub(crate) fn refusal(observation: &Observation) -> String {
    let code = observation.code().map_or("", |it| it.as_str());
    format!("{code}: {}", observation.reason().unwrap_or_default())
}

/// A loaded skill as a prompt's messages.
pub(crate) fn prompt_result(completed: Completed) -> GetPromptResult {
    let messages = blocks(completed.output.content)
        .into_iter()
        .map(|block| PromptMessage::new(Role::User, block));
    GetPromptResult::new(messages.collect())
}

fn marks(completed: &Completed) -> JsonObject {
    let mut marks = JsonObject::new();
    if completed.untrusted {
        marks.insert(UNTRUSTED.to_owned(), json!(true));
    }
    if let Some(reference) = &completed.result_ref {
        marks.insert(RESULT_REF.to_owned(), json!(reference));
    }
    if !completed.notes.is_empty() {
        marks.insert(NOTES.to_owned(), json!(completed.notes));
    }
    marks
}

fn blocks(content: Vec<Content>) -> Vec<ContentBlock> {
    content.into_iter().map(block).collect()
}

/// A block of a kind the protocol does not know is passed on as its JSON.
fn block(content: Content) -> ContentBlock {
    match content {
        Content::Text(it) => ContentBlock::text(it.text),
        Content::Block(value) => {
            known(&value).unwrap_or_else(|| ContentBlock::text(value.to_string()))
        }
    }
}

fn known(value: &Value) -> Option<ContentBlock> {
    serde_json::from_value(value.clone()).ok()
}

#[cfg(test)]
mod tests {
    use ambit_core::code::Code;
    use ambit_core::observation::{Denial, Failure, Output, ResultRef};

    use super::*;

    #[track_caller]
    fn check(observation: Observation, expected: Value) {
        let result = tool_result(&CallId("call-1".to_owned()), observation);
        let mut result = serde_json::to_value(result).unwrap();
        // The era decides about it, not the mapping.
        result.as_object_mut().unwrap().remove("resultType");
        assert_eq!(result, expected);
    }

    #[test]
    fn a_result_is_passed_on_untouched_and_marked() {
        let image = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
        let link = json!({"type": "resource_link", "uri": "file:///a", "name": "a"});
        let content = vec![
            Content::text("hi"),
            Content::Block(image.clone()),
            Content::Block(link.clone()),
            Content::Block(json!({"type": "hologram"})),
        ];
        check(
            Observation::Completed(Completed {
                output: Output {
                    content,
                    structured: Some(json!([1, null])),
                    meta: None,
                },
                result_ref: Some(ResultRef("r-1".to_owned())),
                untrusted: true,
                notes: vec!["seen".to_owned()],
            }),
            json!({
                "content": [{"type": "text", "text": "hi"}, image, link, {"type": "text", "text": r#"{"type":"hologram"}"#}],
                "structuredContent": [1, null],
                "isError": false,
                "_meta": {"ambit/call": "call-1", "ambit/untrusted": true, "ambit/resultRef": "r-1", "ambit/notes": ["seen"]},
            }),
        );
    }

    #[test]
    fn what_did_not_complete_is_a_result_that_says_why() {
        for (observation, code, text) in [
            (
                Observation::Denied(Denial::new(Code::PermissionDenied, "a rule says no")),
                "permission_denied",
                "permission_denied: a rule says no",
            ),
            (
                Observation::Failed(Failure::unreachable("it is gone")),
                "provider_unreachable",
                "provider_unreachable: it is gone",
            ),
        ] {
            check(
                observation,
                json!({
                    "content": [{"type": "text", "text": text}],
                    "isError": true,
                    "_meta": {"ambit/call": "call-1", "ambit/code": code},
                }),
            );
        }
    }

    #[test]
    fn effects_become_hints() {
        for (effects, hints) in [
            (
                Effects::READS,
                json!({"readOnlyHint": true, "openWorldHint": false}),
            ),
            (
                Effects::WRITES,
                json!({"readOnlyHint": false, "destructiveHint": false, "openWorldHint": false}),
            ),
            (
                Effects::READS
                    .with(Effect::Destructive)
                    .with(Effect::Egress),
                json!({"readOnlyHint": false, "destructiveHint": true, "openWorldHint": true}),
            ),
        ] {
            assert_eq!(serde_json::to_value(annotations(effects)).unwrap(), hints);
        }
    }
}
