//! The tools that ask their client something: by the suite's names, what each wants to know.

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::rounds::{Brought, Known, Memory, Outcome, Step, field, form, roots, sampling};
use crate::server::Fixture;
use crate::tools::{self, text};

/// The tools of this file.
pub(crate) fn all() -> Vec<Tool> {
    let said = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    let mut all = vec![
        tools::tool_with("test_elicitation", "Asks who you are", said("message")),
        tools::tool_with("test_sampling", "Asks your model", said("prompt")),
    ];
    let plain = [
        ("test_elicitation_sep1034_defaults", "A form with defaults"),
        ("test_elicitation_sep1330_enums", "A form of choices"),
        (
            "test_input_required_result_capabilities",
            "Asks what it may",
        ),
        ("test_input_required_result_elicitation", "Asks your name"),
        ("test_input_required_result_list_roots", "Asks your roots"),
        ("test_input_required_result_multi_round", "Asks twice"),
        ("test_input_required_result_multiple_inputs", "Asks thrice"),
        ("test_input_required_result_request_state", "Keeps a state"),
        ("test_input_required_result_sampling", "Asks for a capital"),
        ("test_input_required_result_tampered_state", "Seals a state"),
        ("test_missing_capability", "Needs sampling"),
        ("test_streaming_elicitation", "Asks on a stream"),
    ];
    all.extend(plain.map(|(name, description)| tools::tool(name, description)));
    all
}

/// Calls a tool of this file.
pub(crate) async fn call(
    fixture: &Fixture,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let name = request.name;
    let arguments = Value::Object(request.arguments.unwrap_or_default());
    let declared = context.client_capabilities().unwrap_or_default();
    let brought = Brought {
        answers: request.input_responses,
        state: request.request_state,
    };
    let step = |known: &Known| step(&name, &arguments, &declared, known);
    let outcome = fixture
        .rounds
        .go_on(&name, memory(&name), brought, context, step)
        .await?;
    Ok(match outcome {
        Outcome::Asks(questions) => questions.into(),
        Outcome::Done(said) => text(said).into(),
    })
}

fn memory(name: &str) -> Memory {
    match name {
        "test_input_required_result_multi_round"
        | "test_input_required_result_multiple_inputs"
        | "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => Memory::Sealed,
        _ => Memory::None,
    }
}

/// What a tool asks next, or what it says at the end.
fn step(
    name: &str,
    arguments: &Value,
    declared: &ClientCapabilities,
    known: &Known,
) -> Step<String> {
    let given = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
    let name_of_user = || field("What is your name?", "name", "string");
    match name {
        "test_elicitation" => {
            let schema = json!({
                "type": "object",
                "properties": {
                    "username": {"type": "string", "description": "User's response"},
                    "email": {"type": "string", "description": "User's email address"},
                },
                "required": ["username", "email"],
            });
            one(
                known,
                "user",
                || form(&given("message"), schema),
                |it| format!("User response: {}", decision(it)),
            )
        }
        "test_sampling" => one(
            known,
            "completion",
            || sampling(&given("prompt"), 100),
            |it| format!("LLM response: {}", sampled(it)),
        ),
        "test_elicitation_sep1034_defaults" => one(
            known,
            "profile",
            || form("Please check your profile", defaults()),
            |it| format!("Elicitation completed: {}", decision(it)),
        ),
        "test_elicitation_sep1330_enums" => one(
            known,
            "choices",
            || form("Please choose", choices()),
            |it| format!("Elicitation completed: {}", decision(it)),
        ),
        "test_input_required_result_sampling" => one(
            known,
            "capital_question",
            || sampling("What is the capital of France?", 100),
            sampled,
        ),
        "test_missing_capability" => one(known, "thought", || sampling("Think.", 10), sampled),
        "test_input_required_result_list_roots" => {
            one(known, "client_roots", roots, |it| format!("Roots: {it}"))
        }
        "test_input_required_result_request_state" => one(
            known,
            "confirm",
            || field("Please confirm", "ok", "boolean"),
            |_| "state-ok".to_owned(),
        ),
        "test_input_required_result_tampered_state" => one(
            known,
            "confirm",
            || field("Please confirm", "ok", "boolean"),
            |it| format!("Confirmed: {}", decision(it)),
        ),
        "test_input_required_result_multiple_inputs" => all_of(
            known,
            [
                ("user_name", name_of_user()),
                ("greeting", sampling("Generate a greeting", 50)),
                ("client_roots", roots()),
            ],
        ),
        "test_input_required_result_multi_round" => match known.contains_key("step1") {
            false => all_of(
                known,
                [(
                    "step1",
                    field("Step 1: What is your name?", "name", "string"),
                )],
            ),
            true => all_of(
                known,
                [(
                    "step2",
                    field("Step 2: What is your favorite color?", "color", "string"),
                )],
            ),
        },
        "test_input_required_result_capabilities" => {
            let mut questions = Vec::new();
            if declared.elicitation.is_some() {
                questions.push(("user_name", name_of_user()));
            }
            if declared.sampling.is_some() {
                questions.push(("greeting", sampling("Generate a greeting", 50)));
            }
            all_of(known, questions)
        }
        // The suite's first example, and the one on a stream.
        _ => one(known, "user_name", name_of_user, |it| {
            let name = it["content"]["name"].as_str().unwrap_or("nobody");
            format!("Hello, {name}!")
        }),
    }
}

/// A tool that asks one thing.
fn one(
    known: &Known,
    key: &str,
    question: impl FnOnce() -> InputRequest,
    say: impl FnOnce(&Value) -> String,
) -> Step<String> {
    match known.get(key) {
        Some(answer) => Step::Done(say(answer)),
        None => Step::Ask(InputRequests::from([(key.to_owned(), question())])),
    }
}

/// A tool that asks several things at once, and repeats what it heard.
fn all_of(
    known: &Known,
    questions: impl IntoIterator<Item = (&'static str, InputRequest)>,
) -> Step<String> {
    let open: InputRequests = questions
        .into_iter()
        .filter(|(key, _)| !known.contains_key(*key))
        .map(|(key, question)| (key.to_owned(), question))
        .collect();
    if open.is_empty() {
        Step::Done(format!("Heard: {}", json!(known)))
    } else {
        Step::Ask(open)
    }
}

/// What a person decided.
fn decision(answer: &Value) -> String {
    let action = answer["action"].as_str().unwrap_or_default();
    format!("action={action}, content={}", answer["content"])
}

/// What a model said.
fn sampled(answer: &Value) -> String {
    let said = answer["content"]["text"].as_str();
    said.unwrap_or("no text").to_owned()
}

/// A default for each primitive type.
fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "User name", "default": "John Doe"},
            "age": {"type": "integer", "description": "User age", "default": 30},
            "score": {"type": "number", "description": "User score", "default": 95.5},
            "status": {
                "type": "string", "description": "User status",
                "enum": ["active", "inactive", "pending"], "default": "active",
            },
            "verified": {"type": "boolean", "description": "Whether verified", "default": true},
        },
        "required": [],
    })
}

/// Each way to write a choice.
fn choices() -> Value {
    let titled = |titles: [(&str, &str); 3]| -> Vec<Value> {
        let one = |(value, title)| json!({"const": value, "title": title});
        titles.into_iter().map(one).collect()
    };
    let options = json!(["option1", "option2", "option3"]);
    let first = [
        ("value1", "First Option"),
        ("value2", "Second Option"),
        ("value3", "Third Option"),
    ];
    let second = [
        ("value1", "First Choice"),
        ("value2", "Second Choice"),
        ("value3", "Third Choice"),
    ];
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": options},
            "titledSingle": {"type": "string", "oneOf": titled(first)},
            "legacyEnum": {
                "type": "string", "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled(second)}},
        },
        "required": [],
    })
}
