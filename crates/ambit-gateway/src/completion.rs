//! What somebody types into a prompt's argument or an address is completed by whoever offers it.

use ambit_core::id::Kind;
use rmcp::model::{CompleteRequestParams, CompleteResult, ErrorData, Reference, ResultType};
use serde_json::{Value, json};

use crate::front::Front;
use crate::lists::Given;
use crate::map;

/// Asks the provider of what is referred to.
pub(crate) async fn complete(
    front: &Front,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let lists = front.lists();
    let mut params = serde_json::to_value(&request).unwrap_or_default();
    let given: Option<&Given> = match &request.r#ref {
        // A skill takes no arguments.
        Reference::Prompt(prompt) if lists.is_skill(&prompt.name) => {
            return Ok(CompleteResult::default());
        }
        Reference::Prompt(prompt) => lists.prompts.get(&prompt.name),
        Reference::Resource(resource) => {
            let all = lists.templates.iter().chain(&lists.resources);
            all.into_iter()
                .find(|it| it.address() == Some(resource.uri.as_str()))
        }
        _ => None,
    };
    let Some(given) = given else {
        let said = "what is to be completed is no prompt and no template of this list";
        return Err(ErrorData::invalid_params(said, None));
    };
    // Under the name its own server knows it by.
    if let Some(raw) = given
        .definition()
        .get("name")
        .filter(|_| given.id.kind() == Kind::Prompt)
        && let Some(reference) = params.get_mut("ref")
    {
        *reference = json!({"type": "ref/prompt", "name": raw});
    }
    if let Some(params) = params.as_object_mut() {
        params.remove("_meta");
    }
    let Some(provider) = front.provider(&given.id) else {
        return Ok(CompleteResult::default());
    };
    let answer = provider.request("completion/complete", params).await;
    let answer: Value = answer.map_err(map::error_data)?;
    let mut completed: CompleteResult = serde_json::from_value(answer)
        .map_err(|_| ErrorData::internal_error("its server's completion cannot be read", None))?;
    // Its server may be of the era that does not say so.
    completed.result_type = Some(ResultType::COMPLETE);
    Ok(completed)
}
