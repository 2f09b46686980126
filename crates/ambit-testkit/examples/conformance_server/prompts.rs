//! The prompts, one of which asks back, and completions of their arguments.

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use crate::changes::Changes;
use crate::rounds::{Brought, Memory, Outcome, Step, field};
use crate::server::Fixture;
use crate::tools::PNG;

/// The list, always in the same order.
pub(crate) fn all(changes: &Changes) -> Vec<Prompt> {
    let argument = |name: &str| {
        PromptArgument::new(name)
            .with_description("For testing")
            .with_required(true)
    };
    let one = |name: &str, description: &str, arguments: Vec<PromptArgument>| {
        let arguments = (!arguments.is_empty()).then_some(arguments);
        Prompt::new(name, Some(description), arguments)
    };
    let mut all = vec![
        one("test_simple_prompt", "A text", vec![]),
        one(
            "test_prompt_with_arguments",
            "Says its arguments",
            vec![argument("arg1"), argument("arg2")],
        ),
        one(
            "test_prompt_with_embedded_resource",
            "Embeds a resource",
            vec![argument("resourceUri")],
        ),
        one("test_prompt_with_image", "Has a picture", vec![]),
        one("test_input_required_result_prompt", "Asks first", vec![]),
    ];
    if changes.has_prompt() {
        all.push(one("test_changing_prompt", "Comes and goes", vec![]));
    }
    all
}

/// A prompt's messages.
pub(crate) async fn get(
    fixture: &Fixture,
    request: GetPromptRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<GetPromptResponse, ErrorData> {
    let arguments = Value::Object(request.arguments.unwrap_or_default());
    let given = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
    let says = |text: &str| ContentBlock::text(text);
    let blocks = match request.name.as_str() {
        "test_simple_prompt" => vec![says("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => vec![says(&format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            given("arg1"),
            given("arg2")
        ))],
        "test_prompt_with_embedded_resource" => vec![
            ContentBlock::embedded_text(
                given("resourceUri"),
                "Embedded resource content for testing.",
            ),
            says("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![
            ContentBlock::image(PNG, "image/png"),
            says("Please analyze the image above."),
        ],
        "test_changing_prompt" if fixture.changes.has_prompt() => vec![says("Here now.")],
        "test_input_required_result_prompt" => {
            let brought = Brought {
                answers: request.input_responses,
                state: request.request_state,
            };
            let outcome = fixture
                .rounds
                .go_on(
                    &request.name,
                    Memory::None,
                    brought,
                    context,
                    |known| match known.get("user_context") {
                        Some(answer) => Step::Done(answer["content"]["context"].to_string()),
                        None => Step::Ask(InputRequests::from([(
                            "user_context".to_owned(),
                            field("What context should the prompt use?", "context", "string"),
                        )])),
                    },
                )
                .await?;
            match outcome {
                Outcome::Asks(questions) => return Ok(questions.into()),
                Outcome::Done(context) => vec![says(&format!("Use this context: {context}"))],
            }
        }
        unknown => {
            let message = format!("there is no prompt `{unknown}`");
            return Err(ErrorData::invalid_params(message, None));
        }
    };
    let messages = blocks
        .into_iter()
        .map(|block| PromptMessage::new(Role::User, block));
    Ok(GetPromptResult::new(messages.collect()).into())
}

/// What an argument's beginning may become.
pub(crate) fn complete(request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    let begun = &request.argument.value;
    let values = ["paris", "park", "party", "test"]
        .into_iter()
        .filter(|it| it.starts_with(begun))
        .map(str::to_owned)
        .collect();
    CompletionInfo::new(values)
        .map(CompleteResult::new)
        .map_err(|error| ErrorData::internal_error(error, None))
}
