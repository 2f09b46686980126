//! Between Ambit's words and the protocol's.

use std::sync::Arc;

use ambit_core::code::Code;
use ambit_core::effects::{Effect, Effects};
use ambit_core::intent::CallId;
use ambit_core::observation::{Completed, Content, ErrorAnswer, Observation, ResultRef};
use ambit_runtime::conversation::Questions;
use ambit_runtime::skill::{SKILL_MD, own_address};
use rmcp::model::{
    CacheScope, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, ErrorData,
    GetPromptResponse, GetPromptResult, Implementation, InputRequests, InputRequiredResult,
    JsonObject, MetaObject, Prompt, PromptMessage, ReadResourceResponse, ReadResourceResult,
    Resource, ResultType, Role, ServerCapabilities, ServerConfig, TASKS_EXTENSION_ID,
    ToolAnnotations,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::exchange::Rounded;
use crate::front::Outcome;
use crate::lists::{Given, Lists};
use crate::skills;
use crate::style::Era;
use crate::tasks;

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

/// How long a list of the stateless era may be taken for what it was.
const FRESH_MS: u64 = 5_000;

/// Errors of a provider that are no result of a tool: the client lacks something, or has to do
/// something first.
const PASSED_ON: [i32; 2] = [-32021, -32042];

/// Who answers, and what can be asked of it. All of it, whatever this agent has: what is behind
/// is not looked at before somebody asks.
pub(crate) fn server_config(era: Era, instructions: String) -> ServerConfig {
    let mut capabilities = json!({
        "tools": {"listChanged": true},
        "prompts": {"listChanged": true},
        "resources": {"listChanged": true, "subscribe": true},
        "completions": {},
    });
    let skills = skills::declared();
    let of_the_era = match era {
        Era::Session => json!({
            "logging": {},
            "extensions": {skills::EXTENSION: skills},
        }),
        Era::Stateless => json!({
            "extensions": {skills::EXTENSION: skills, TASKS_EXTENSION_ID: {}},
        }),
    };
    if let (Some(all), Value::Object(of_the_era)) = (capabilities.as_object_mut(), of_the_era) {
        all.extend(of_the_era);
    }
    let capabilities: ServerCapabilities = serde_json::from_value(capabilities).unwrap_or_default();
    ServerConfig::new(capabilities)
        .with_server_info(
            Implementation::new("ambit", env!("CARGO_PKG_VERSION")).with_title("Ambit"),
        )
        .with_instructions(instructions)
}

/// How long, and by whom, a list may be kept; in the session era a client is told instead.
pub(crate) fn hints(era: Era) -> (Option<u64>, Option<CacheScope>) {
    match era {
        Era::Session => (None, None),
        Era::Stateless => (Some(FRESH_MS), Some(CacheScope::Private)),
    }
}

/// What a client goes by when it asks per tool.
pub(crate) fn annotations(effects: Effects) -> ToolAnnotations {
    let changes = effects.changes();
    let hints = ToolAnnotations::new()
        .read_only(!changes)
        .open_world(effects.has(Effect::OpenWorld) || effects.has(Effect::Egress));
    match changes {
        true => hints.destructive(effects.has(Effect::Destructive)),
        false => hints,
    }
}

/// Prompts by the names this client knows, and skills.
pub(crate) fn prompts(lists: &Lists) -> Vec<Prompt> {
    let given = lists.prompts.iter().filter_map(|(name, given)| {
        let mut prompt: Prompt = serde_json::from_value(given.definition()).ok()?;
        prompt.name = name.clone();
        Some(prompt)
    });
    let skills = lists.skills.iter().map(|it| {
        Prompt::new(it.name.clone(), Some(it.summary.clone()), None).with_title(it.title.clone())
    });
    given.chain(skills).collect()
}

/// The agent's skills, and resources as their servers gave them.
pub(crate) fn resources(lists: &Lists) -> Vec<Resource> {
    let skills = lists.skills.iter().map(|it| {
        Resource::new(own_address(&it.name, SKILL_MD), it.name.clone())
            .with_description(it.description.clone())
            .with_mime_type("text/markdown")
    });
    skills.chain(given(&lists.resources)).collect()
}

/// Resources or templates as their servers gave them.
pub(crate) fn given<T: DeserializeOwned>(given: &[Given]) -> Vec<T> {
    let definitions = given.iter().map(Given::definition);
    definitions
        .filter_map(|it| serde_json::from_value(it).ok())
        .collect()
}

/// What a request for a tool is answered with.
pub(crate) fn tool_response(rounded: Rounded) -> Result<CallToolResponse, ErrorData> {
    match rounded {
        Rounded::Asks(questions, word) => Ok(input_required(questions, word)?.into()),
        Rounded::Task(name, task) => Ok(tasks::created(&name, &task).into()),
        Rounded::Ended(ended) => match Arc::unwrap_or_clone(ended).outcome {
            Outcome::Observed(call, observation) => match passed_on(&observation) {
                Some(error) => Err(error),
                None => Ok(tool_result(&call, observation).into()),
            },
            Outcome::Unknown(name) => Err(unknown("tool", &name)),
        },
    }
}

/// What a request for a prompt is answered with. A prompt cannot say no; the protocol's error can.
pub(crate) fn prompt_response(rounded: Rounded) -> Result<GetPromptResponse, ErrorData> {
    let ended = match rounded {
        Rounded::Asks(questions, word) => return Ok(input_required(questions, word)?.into()),
        Rounded::Task(..) => return Err(ErrorData::internal_error("a prompt is no task", None)),
        Rounded::Ended(ended) => ended,
    };
    match &ended.outcome {
        Outcome::Observed(_, Observation::Completed(completed)) => {
            Ok(prompt_result(completed.clone()).into())
        }
        Outcome::Observed(_, other) => Err(protocol_error(other)),
        Outcome::Unknown(name) => Err(unknown("prompt", name)),
    }
}

/// What a request for a resource is answered with. A client has room for what a model has not:
/// `whole` finds what was too large for one.
pub(crate) fn resource_response(
    rounded: Rounded,
    uri: &str,
    whole: impl Fn(&ResultRef) -> Option<String>,
) -> Result<ReadResourceResponse, ErrorData> {
    let ended = match rounded {
        Rounded::Asks(questions, word) => return Ok(input_required(questions, word)?.into()),
        Rounded::Task(..) => return Err(ErrorData::internal_error("a resource is no task", None)),
        Rounded::Ended(ended) => ended,
    };
    let completed = match &ended.outcome {
        Outcome::Observed(_, Observation::Completed(completed)) => completed,
        Outcome::Observed(_, Observation::Failed(failure))
            if failure.answer.is_none() && failure.code == Code::Refused =>
        {
            return Err(no_such_resource(uri));
        }
        Outcome::Observed(_, other) => return Err(protocol_error(other)),
        Outcome::Unknown(_) => return Err(no_such_resource(uri)),
    };
    let blocks: Vec<Value> = match completed.result_ref.as_ref().map(whole) {
        // Each block is a line there.
        Some(Some(text)) => text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect(),
        Some(None) => return Err(ErrorData::internal_error("it could not be kept", None)),
        None => completed
            .output
            .content
            .iter()
            .filter_map(|it| match it {
                Content::Block(block) => Some(block.clone()),
                Content::Text(_) => None,
            })
            .collect(),
    };
    let contents = blocks
        .iter()
        .filter_map(|it| serde_json::from_value(it.get("resource")?.clone()).ok())
        .collect();
    Ok(ReadResourceResult::new(contents).into())
}

/// Nothing goes by a name.
fn unknown(what: &str, name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("unknown {what}: `{}`", short(name)), None)
}

/// A question for a client of the stateless era.
fn input_required(questions: Questions, word: String) -> Result<InputRequiredResult, ErrorData> {
    let requests = input_requests(questions)?;
    Ok(InputRequiredResult::new(Some(requests), Some(word)))
}

/// Questions in the protocol's words.
pub(crate) fn input_requests(questions: Questions) -> Result<InputRequests, ErrorData> {
    let asked = questions.into_iter().map(|(key, question)| {
        let method = question.kind.method();
        let request = match question.params {
            Value::Null => json!({"method": method}),
            params => json!({"method": method, "params": params}),
        };
        let request = serde_json::from_value(request)
            .map_err(|_| ErrorData::internal_error("a question cannot be put", None))?;
        Ok((key, request))
    });
    asked.collect()
}

/// A provider's own error, where it is not the tool's.
fn passed_on(observation: &Observation) -> Option<ErrorData> {
    let Observation::Failed(failure) = observation else {
        return None;
    };
    let answer = failure.answer.as_deref()?;
    PASSED_ON
        .contains(&answer.code)
        .then(|| error_data(answer.clone()))
}

/// How something that has no result of its own says that it did not work.
fn protocol_error(observation: &Observation) -> ErrorData {
    match observation {
        Observation::Failed(failure) => match &failure.answer {
            Some(answer) => error_data((**answer).clone()),
            None => ErrorData::internal_error(refusal(observation), None),
        },
        _ => ErrorData::invalid_params(refusal(observation), None),
    }
}

/// An error of a provider, passed on.
pub(crate) fn error_data(answer: ErrorAnswer) -> ErrorData {
    ErrorData::new(ErrorCode(answer.code), answer.message, answer.data)
}

/// Nothing is at an address.
pub(crate) fn no_such_resource(uri: &str) -> ErrorData {
    let said = format!("no resource is known at `{}`", short(uri));
    ErrorData::resource_not_found(said, Some(json!({"uri": uri})))
}

/// Nobody answers to a method.
pub(crate) fn no_such_method(method: &str) -> ErrorData {
    let said = format!("`{}` is not answered here", short(method));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, said, None)
}

/// What somebody sent, for quoting.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(200).collect()
}

/// How a call ended, as a tool result: no refusal is a protocol error.
pub(crate) fn tool_result(call: &CallId, observation: Observation) -> CallToolResult {
    let mut meta = JsonObject::new();
    meta.insert(CALL.to_owned(), json!(call));
    let mut result = match observation {
        Observation::Completed(completed) => {
            if let Some(Value::Object(given)) = &completed.output.meta {
                meta.extend(given.clone());
            }
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
fn refusal(observation: &Observation) -> String {
    let code = observation.code().map_or("", |it| it.as_str());
    format!("{code}: {}", observation.reason().unwrap_or_default())
}

/// A prompt as its server gave it, or a loaded skill as messages.
fn prompt_result(completed: Completed) -> GetPromptResult {
    let given = completed.output.structured;
    let given = given.and_then(|it| serde_json::from_value::<GetPromptResult>(it).ok());
    if let Some(mut given) = given {
        given.result_type = Some(ResultType::COMPLETE);
        return given;
    }
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
                    ..Output::default()
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
