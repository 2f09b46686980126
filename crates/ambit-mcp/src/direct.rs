//! One request to a child's tool and its answer, written and read here.

use std::sync::Arc;

use ambit_core::observation::{Content, Output};
use ambit_runtime::conversation::{Answers, Conversation};
use rmcp::ErrorData;
use rmcp::model::{Implementation, ProgressToken, RequestId, ServerResult};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::calls::{Answer, Calls, Gone};
use crate::exchange::{LOG_LEVEL, Round};
use crate::flights::Flights;

/// A child whose tools can be called past the SDK.
pub(crate) struct Direct {
    pub(crate) calls: Arc<Calls>,
    /// What a stateless server is told of this side with every request.
    pub(crate) introduction: Option<Introduction>,
}

/// Who calls, and in which protocol.
pub(crate) struct Introduction {
    pub(crate) protocol: String,
    pub(crate) client: Implementation,
}

/// What a server brought back.
pub(crate) enum Brought {
    /// The common case, read at once.
    Output(Output),
    /// Anything else.
    Other(Box<ServerResult>),
}

impl Direct {
    /// Sends one request and waits for its answer, passing on what is said meanwhile.
    pub(crate) async fn exchange(
        &self,
        flights: &Flights,
        name: &str,
        arguments: &Value,
        round: &Round,
        conversation: &Conversation,
    ) -> Result<Result<Brought, ErrorData>, Gone> {
        let mut pending = self.calls.begin()?;
        let number = RequestId::Number(pending.number.cast_signed());
        let token = ProgressToken(number.clone());
        let mut flight = flights.begin(conversation.clone());
        flights.sent(flight.ticket(), &number, Some(token));
        pending.send(
            "tools/call",
            &Params {
                meta: Meta {
                    progress: pending.number,
                    introduction: self.introduction.as_ref(),
                    conversation,
                },
                name,
                arguments: arguments.as_object(),
                input_responses: round.answers.as_ref(),
                request_state: round.state.as_deref(),
            },
        )?;
        let answer = loop {
            tokio::select! {
                biased;
                Some(notice) = flight.notices.recv() => conversation.tell(notice).await,
                answer = pending.answer() => break answer?,
            }
        };
        // They came in before the answer did.
        while let Ok(notice) = flight.notices.try_recv() {
            conversation.tell(notice).await;
        }
        Ok(match answer {
            Answer::Result(result) => Ok(read(&result)),
            Answer::Error(error) => Err(serde_json::from_slice(&error)
                .unwrap_or_else(|_| ErrorData::internal_error("an error of no known form", None))),
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(rename = "_meta")]
    meta: Meta<'a>,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_responses: Option<&'a Answers>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_state: Option<&'a str>,
}

struct Meta<'a> {
    progress: u64,
    introduction: Option<&'a Introduction>,
    conversation: &'a Conversation,
}

impl Serialize for Meta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("progressToken", &self.progress)?;
        if let Some(introduction) = self.introduction {
            let caller = self.conversation.caller();
            map.serialize_entry(PROTOCOL_VERSION, &introduction.protocol)?;
            map.serialize_entry(CLIENT_INFO, &introduction.client)?;
            map.serialize_entry(CLIENT_CAPABILITIES, &caller.abilities())?;
            if let Some(level) = caller.log_level() {
                map.serialize_entry(LOG_LEVEL, &level)?;
            }
        }
        map.end()
    }
}

const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A result. Plain texts and structure are read here; whatever is rarer is left to the SDK.
fn read(result: &[u8]) -> Brought {
    if let Ok(plain) = serde_json::from_slice::<Plain>(result)
        && let Some(output) = plain.output()
    {
        return Brought::Output(output);
    }
    let known = serde_json::from_slice::<ServerResult>(result);
    Brought::Other(Box::new(known.unwrap_or_else(|_| ServerResult::empty(()))))
}

/// A result that is done and well.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Plain {
    result_type: Option<String>,
    content: Vec<Text>,
    #[serde(default, deserialize_with = "present")]
    structured_content: Option<Value>,
    is_error: Option<bool>,
    #[serde(rename = "_meta")]
    meta: Option<Map<String, Value>>,
}

/// A text without anything beside it.
#[derive(Deserialize)]
#[expect(dead_code, reason = "all but the text only has to be what it is")]
struct Text {
    r#type: Kind,
    text: String,
    annotations: Option<Never>,
    #[serde(rename = "_meta")]
    meta: Option<Never>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Text,
}

/// Nothing but `null` is read as this.
#[derive(Deserialize)]
enum Never {}

/// `null` is a value, too.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Plain {
    fn output(self) -> Option<Output> {
        let is_done = self.result_type.is_none_or(|it| it == "complete");
        let is_well = self.is_error != Some(true);
        (is_done && is_well).then(|| Output {
            content: self
                .content
                .into_iter()
                .map(|it| Content::text(it.text))
                .collect(),
            structured: self.structured_content,
            meta: self.meta.map(Value::Object),
            from_outside: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::results;

    use super::*;

    /// What is read here is what the SDK would have read.
    #[test]
    fn both_ways_of_reading_agree() {
        let text = json!({"type": "text", "text": "hi \u{1F600}"});
        for (result, plain) in [
            (json!({"content": [text, text]}), true),
            (json!({"content": [], "isError": false}), true),
            (
                json!({"content": [text], "resultType": "complete", "more": 1}),
                true,
            ),
            (json!({"content": [text], "structuredContent": null}), true),
            (
                json!({"content": [text], "structuredContent": {"a": [1.5]}, "_meta": {"b": 2}}),
                true,
            ),
            (
                json!({"content": [{"type": "text", "text": "", "annotations": null}]}),
                true,
            ),
            (
                json!({"content": [{"type": "text", "text": "", "annotations": {"priority": 1}}]}),
                false,
            ),
            (
                json!({"content": [text, {"type": "image", "data": "", "mimeType": "image/png"}]}),
                false,
            ),
            (json!({"content": [text], "isError": true}), false),
            (
                json!({"content": [text], "resultType": "input_required"}),
                false,
            ),
            (json!({"structuredContent": 1}), false),
            (json!({"content": [{"type": "hologram"}]}), false),
            (json!({}), false),
            (json!(7), false),
        ] {
            let bytes = serde_json::to_vec(&result).unwrap();
            let known = serde_json::from_slice::<ServerResult>(&bytes).unwrap();
            let slowly = results::output(known);
            match read(&bytes) {
                Brought::Output(output) => {
                    assert!(plain, "{result}");
                    assert_eq!(Ok(output), slowly, "{result}");
                }
                Brought::Other(other) => {
                    assert!(!plain, "{result}");
                    assert_eq!(results::output(*other), slowly, "{result}");
                }
            }
        }
    }
}
