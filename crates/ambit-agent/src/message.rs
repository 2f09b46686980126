//! A conversation in Ambit's own words. It is kept with a session, outlives the process, and may
//! go on with a model of another provider.

use ambit_core::observation::Content;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase")]
pub enum Message {
    /// What the person, or the runner on their behalf, said.
    User {
        /// The pieces.
        content: Vec<Content>,
    },
    /// What the model said.
    Assistant {
        /// The pieces, in order.
        parts: Vec<AssistantPart>,
    },
    /// What its calls brought: one result for each, in their order.
    Results {
        /// The results.
        results: Vec<ToolResult>,
    },
}

impl Message {
    /// A text of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Message::User {
            content: vec![Content::text(text)],
        }
    }

    /// A text of the model.
    pub fn assistant(text: impl Into<String>) -> Self {
        let text = text.into();
        Message::Assistant {
            parts: vec![AssistantPart::Text { text }],
        }
    }
}

/// A piece of what a model said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum AssistantPart {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An intent.
    Call(ToolCall),
    /// Something only its own provider understands and wants back unchanged, such as signed
    /// thinking. Left out when another one is asked.
    Kept {
        /// The engine it came from.
        engine: String,
        /// The thing.
        value: Value,
    },
}

impl AssistantPart {
    /// The call, if it is one.
    pub fn as_call(&self) -> Option<&ToolCall> {
        match self {
            AssistantPart::Call(call) => Some(call),
            AssistantPart::Text { .. } | AssistantPart::Kept { .. } => None,
        }
    }
}

/// What a model wants to call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Names the call within the conversation.
    pub id: String,
    /// The tool, by its wire name.
    pub name: String,
    /// What with.
    pub arguments: Arguments,
}

/// The arguments of a call, as the model wrote them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Arguments {
    /// A JSON object.
    Object(Map<String, Value>),
    /// Anything else, as text. The model is to be told.
    Malformed(String),
}

impl Arguments {
    /// Reads what a model wrote. Nothing at all means no arguments.
    pub fn read(text: &str) -> Self {
        if matches!(text.trim(), "" | "null") {
            return Arguments::Object(Map::new());
        }
        match ambit_core::json::parse_strict(text) {
            Ok(Value::Object(map)) => Arguments::Object(map),
            Ok(_) | Err(_) => Arguments::Malformed(text.to_owned()),
        }
    }

    /// As an object, for an API that takes nothing else back.
    pub fn as_object(&self) -> Value {
        match self {
            Arguments::Object(map) => Value::Object(map.clone()),
            Arguments::Malformed(text) => serde_json::json!({"malformed": text}),
        }
    }
}

/// What a call brought, as the model is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call's id.
    pub call: String,
    /// The tool, by its wire name.
    pub name: String,
    /// What it brought.
    pub content: Vec<Content>,
    /// Whether the call was denied or failed.
    #[serde(default)]
    pub is_error: bool,
    /// Tools that came into view with it, by wire name. Where the model's API can, their
    /// definitions are put here instead of in front of the conversation, which then stays cached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reveals: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(text: &str, expected: Option<Value>) {
        let expected = match expected {
            Some(Value::Object(map)) => Arguments::Object(map),
            _ => Arguments::Malformed(text.to_owned()),
        };
        assert_eq!(Arguments::read(text), expected, "{text}");
    }

    #[test]
    fn arguments_are_an_object_or_text() {
        check(r#"{"path": "a"}"#, Some(json!({"path": "a"})));
        check("", Some(json!({})));
        check(" null ", Some(json!({})));
        check("{}", Some(json!({})));
        check(r#"{"path": "#, None);
        check(r#"["a"]"#, None);
        check("\"a\"", None);
        check(r#"{"a": 1} {"b": 2}"#, None);
        check(r#"{"a": 1, "a": 2}"#, None);
    }

    #[test]
    fn a_conversation_is_read_back_as_it_was_written() {
        let messages = vec![
            Message::user("fix it"),
            Message::Assistant {
                parts: vec![
                    AssistantPart::Kept {
                        engine: "anthropic".to_owned(),
                        value: json!({"type": "thinking", "thinking": "hm", "signature": "s"}),
                    },
                    AssistantPart::Text {
                        text: "I look.".to_owned(),
                    },
                    AssistantPart::Call(ToolCall {
                        id: "c1".to_owned(),
                        name: "read_file".to_owned(),
                        arguments: Arguments::read(r#"{"path":"a"}"#),
                    }),
                    AssistantPart::Call(ToolCall {
                        id: "c2".to_owned(),
                        name: "read_file".to_owned(),
                        arguments: Arguments::read("{"),
                    }),
                ],
            },
            Message::Results {
                results: vec![ToolResult {
                    call: "c1".to_owned(),
                    name: "read_file".to_owned(),
                    content: vec![
                        Content::text("apples"),
                        Content::Block(
                            json!({"type": "image", "data": "AA==", "mimeType": "image/png"}),
                        ),
                    ],
                    is_error: false,
                    reveals: vec!["gh__get".to_owned()],
                }],
            },
        ];
        let text = serde_json::to_string(&messages).unwrap();
        let back: Vec<Message> = serde_json::from_str(&text).unwrap();
        assert_eq!(back, messages, "{text}");
    }
}
