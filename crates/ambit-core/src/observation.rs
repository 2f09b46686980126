//! How a call ended, as the caller sees it. A refusal is data, not an error.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::code::Code;

/// One piece of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// Text, which redaction and truncation look into.
    Text(TextContent),
    /// Any other block (image, audio, resource, link), passed on untouched.
    Block(Value),
}

/// A text block, `{"type":"text","text":…}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "text")]
pub struct TextContent {
    /// The text.
    pub text: String,
}

impl Content {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text(TextContent { text: text.into() })
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Content::Text(it) => Some(&it.text),
            Content::Block(_) => None,
        }
    }

    /// Roughly how many bytes it takes up.
    pub fn bytes(&self) -> usize {
        match self {
            Content::Text(it) => it.text.len(),
            Content::Block(value) => value.to_string().len(),
        }
    }
}

/// What an executor brings back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// The pieces.
    pub content: Vec<Content>,
    /// The structured result, where the capability promises one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// What the provider's protocol says beside the result.
    #[serde(default, rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
    /// Whether it hands on what came from outside, wherever the capability itself is.
    #[serde(skip)]
    pub from_outside: bool,
}

impl Output {
    /// One text block.
    pub fn text(text: impl Into<String>) -> Self {
        Output {
            content: vec![Content::text(text)],
            ..Output::default()
        }
    }

    /// With a structured result beside the content.
    #[must_use]
    pub fn with_structured(mut self, value: Value) -> Self {
        self.structured = Some(value);
        self
    }

    /// Said of a result that hands on what came from outside.
    #[must_use]
    pub fn from_outside(mut self) -> Self {
        self.from_outside = true;
        self
    }

    /// How many bytes the content and the structured result take up.
    pub fn bytes(&self) -> usize {
        let structured = self
            .structured
            .as_ref()
            .map_or(0, |it| it.to_string().len());
        self.content.iter().map(Content::bytes).sum::<usize>() + structured
    }
}

/// Why an executor brought nothing back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The stable code.
    pub code: Code,
    /// What happened, for whoever asked.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// The provider's own error answer, for a client that speaks its protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Box<ErrorAnswer>>,
}

/// An error in the words of the provider's protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorAnswer {
    /// The protocol's number for it.
    pub code: i32,
    /// What happened.
    pub message: String,
    /// Detail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl Failure {
    /// For a reason that will hold the next time, too.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Failure {
            code,
            message: message.into(),
            retryable: false,
            answer: None,
        }
    }

    /// With the provider's own error answer.
    #[must_use]
    pub fn with_answer(mut self, answer: ErrorAnswer) -> Self {
        self.answer = Some(Box::new(answer));
        self
    }

    /// The provider answered with an error.
    pub fn provider(message: impl Into<String>) -> Self {
        Failure::new(Code::ProviderFailed, message)
    }

    /// The provider could not be reached.
    pub fn unreachable(message: impl Into<String>) -> Self {
        Failure {
            retryable: true,
            ..Failure::new(Code::ProviderUnreachable, message)
        }
    }

    /// The capability refuses these arguments.
    pub fn refused(message: impl Into<String>) -> Self {
        Failure::new(Code::Refused, message)
    }
}

/// A refusal: who or what said no, in words the model can act on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// The stable code.
    pub code: Code,
    /// The reason, and what to do next.
    pub reason: String,
}

impl Denial {
    /// A refusal with its reason.
    pub fn new(code: Code, reason: impl Into<String>) -> Self {
        Denial {
            code,
            reason: reason.into(),
        }
    }
}

/// A stored result, paged by `read_result`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResultRef(pub String);

/// A call that ran and brought something back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Completed {
    /// What it brought, redacted and cut to size.
    #[serde(flatten)]
    pub output: Output,
    /// Where the whole is, when it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_ref: Option<ResultRef>,
    /// Whether it came from outside and must be read as data, never as instructions.
    pub untrusted: bool,
    /// What hooks had to say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Observation {
    /// It ran.
    Completed(Completed),
    /// It was not allowed to run, or its result was withheld.
    Denied(Denial),
    /// It was allowed and did not succeed.
    Failed(Failure),
}

impl Observation {
    /// `completed`, `denied` or `failed`.
    pub fn status(&self) -> &'static str {
        match self {
            Observation::Completed(_) => "completed",
            Observation::Denied(_) => "denied",
            Observation::Failed(_) => "failed",
        }
    }

    /// The stable code, unless it completed.
    pub fn code(&self) -> Option<Code> {
        match self {
            Observation::Completed(_) => None,
            Observation::Denied(denial) => Some(denial.code),
            Observation::Failed(failure) => Some(failure.code),
        }
    }

    /// The reason, unless it completed.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Observation::Completed(_) => None,
            Observation::Denied(denial) => Some(&denial.reason),
            Observation::Failed(failure) => Some(&failure.message),
        }
    }
}
