//! What a script says, turn by turn.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::expect::{Expect, Unmet};
use super::filled::filled;
use crate::engine::StopReason;
use crate::message::{Arguments, AssistantPart, Message, ToolCall};

/// The turns of a model, in order. Read with [`Script::parse`] or [`Script::read`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Script {
    /// What it says.
    pub turns: Vec<ScriptedTurn>,
}

/// One turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScriptedTurn {
    /// What it must have been shown.
    #[serde(default, skip_serializing_if = "Expect::is_empty")]
    pub expect: Expect,
    /// What it says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub say: String,
    /// What it calls then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ScriptedCall>,
    /// Why it stops, where that is neither its calls nor its being done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<ScriptedStop>,
}

/// Another reason to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ScriptedStop {
    /// The answer reached its bound.
    Length,
    /// It declines.
    Refused,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScriptedCall {
    /// The tool, by its wire name.
    pub tool: String,
    /// What with: `input`, or `malformed` for arguments as a model should not write them.
    #[serde(flatten)]
    pub with: ScriptedInput,
}

/// The arguments of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ScriptedInput {
    /// An object.
    Input(Map<String, Value>),
    /// Some text.
    Malformed(String),
}

impl ScriptedCall {
    /// The arguments as a model would write them.
    pub fn written(&self) -> String {
        match &self.with {
            ScriptedInput::Input(map) => Value::Object(map.clone()).to_string(),
            ScriptedInput::Malformed(text) => text.clone(),
        }
    }
}

impl ScriptedTurn {
    /// What a model would have said after these messages. `number` keeps the ids of calls apart.
    pub(super) fn parts(
        &self,
        number: usize,
        messages: &[Message],
    ) -> Result<Vec<AssistantPart>, Unmet> {
        let text = self.say.clone();
        let said = (!text.is_empty()).then_some(Ok(AssistantPart::Text { text }));
        let calls = self.calls.iter().enumerate().map(|(n, call)| {
            Ok(AssistantPart::Call(ToolCall {
                id: format!("call_{}_{}", number + 1, n + 1),
                name: call.tool.clone(),
                arguments: match &call.with {
                    ScriptedInput::Input(map) => Arguments::Object(filled(map, messages)?),
                    ScriptedInput::Malformed(text) => Arguments::read(text),
                },
            }))
        });
        said.into_iter().chain(calls).collect()
    }

    /// Why it stops.
    pub(super) fn stop(&self) -> StopReason {
        match self.stop {
            Some(ScriptedStop::Length) => StopReason::Length,
            Some(ScriptedStop::Refused) => StopReason::Refused,
            None if self.calls.is_empty() => StopReason::Answered,
            None => StopReason::WantsTools,
        }
    }
}
