//! The port to a model: one turn of a conversation, heard as it is said.
//!
//! An engine decides nothing about tools. It is shown a projection and hands back intents; who may
//! call what is judged elsewhere. Dropping the future of a turn ends the turn.

use std::time::Duration;

use ambit_core::projection::{Projection, ToolFormat};
use ambit_runtime::CancellationToken;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::EngineError;
use crate::message::{AssistantPart, Message, ToolCall};
use crate::usage::Usage;

/// A model that can be asked for a turn.
#[async_trait]
pub trait Engine: Send + Sync {
    /// What speaks to it: `openai`, `anthropic`, `scripted`.
    fn name(&self) -> &str;

    /// The model, as its provider calls it.
    fn model(&self) -> &str;

    /// How many tokens a request and its answer may have together.
    fn window(&self) -> u64;

    /// The format the tools of a request have to be in.
    fn format(&self) -> ToolFormat;

    /// Asks for one turn. What arrives is passed on to `listener` at once; the result has all of
    /// it. A request that failed on the way is sent again where that can help, and the listener is
    /// told. With `cancel` it ends at the next moment, with [`EngineError::Cancelled`].
    async fn turn(
        &self,
        request: &ModelRequest<'_>,
        listener: &dyn Listener,
        cancel: &CancellationToken,
    ) -> Result<ModelTurn, EngineError>;
}

/// What a model is asked with. What stays the same from turn to turn comes first, so that a
/// provider can remember it: a caller only ever appends to these lists.
#[derive(Clone, Copy, Debug)]
pub struct ModelRequest<'a> {
    /// The system prompt, in blocks. What changes belongs into the messages.
    pub system: &'a [String],
    /// What may be planned with, in the engine's format. Of it, the tools are sent; lines of
    /// skills, resources and deferred tools are the caller's to put into the prompt.
    pub projection: &'a Projection,
    /// The conversation so far. The last message is the user's or has results.
    pub messages: &'a [Message],
    /// Bounds of the answer.
    pub options: ModelOptions,
}

/// Bounds of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelOptions {
    /// Most tokens the answer may have. Default: the engine's.
    pub max_output: Option<u32>,
}

/// Hears a turn as it is said.
pub trait Listener: Send + Sync {
    /// One piece of news, in order. Must not block.
    fn hear(&self, news: ModelNews<'_>);
}

impl<F: Fn(ModelNews<'_>) + Send + Sync> Listener for F {
    fn hear(&self, news: ModelNews<'_>) {
        self(news);
    }
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unheard;

impl Listener for Unheard {
    fn hear(&self, _: ModelNews<'_>) {}
}

/// Something that happened in a turn that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelNews<'a> {
    /// More of the answer.
    Text(&'a str),
    /// More of what it thinks before answering.
    Thinking(&'a str),
    /// It begins to write a call of this tool. Its arguments are not known yet.
    Calling(&'a str),
    /// The request is sent again after a pause. What was heard of this turn counts for nothing.
    StartsOver {
        /// Why, for a person.
        why: &'a str,
        /// How long it waits before.
        pause: Duration,
    },
}

/// A turn as the model finished it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelTurn {
    /// What it said, in order.
    pub parts: Vec<AssistantPart>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What it cost.
    pub usage: Usage,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// It is done.
    Answered,
    /// It wants its calls answered.
    WantsTools,
    /// The answer reached its bound; a call at its end may be incomplete.
    Length,
    /// The provider or the model declined.
    Refused,
}

impl ModelTurn {
    /// Everything it said, without calls.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            AssistantPart::Text { text } => Some(text.as_str()),
            AssistantPart::Call(_) | AssistantPart::Kept { .. } => None,
        });
        texts.collect()
    }

    /// What it wants to call, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(AssistantPart::as_call)
    }

    /// As a message of the conversation.
    pub fn into_message(self) -> Message {
        Message::Assistant { parts: self.parts }
    }
}
