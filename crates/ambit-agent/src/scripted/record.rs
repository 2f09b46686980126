//! A finished session as a script, to be played again.

use serde_json::{Map, Value};

use super::expect::Expect;
use super::script::{Script, ScriptedCall, ScriptedInput, ScriptedStop, ScriptedTurn};
use crate::engine::{ModelTurn, StopReason};
use crate::message::{Arguments, ToolCall};

/// How the name of a stored result begins, and how long it goes on.
const STORED: &str = "r-";
const STORED_LENGTH: usize = 12;

/// The script that says what these turns said. It expects that every tool it calls is visible and
/// nothing else; what more it should expect is for a person to add.
pub fn record<'a>(turns: impl IntoIterator<Item = &'a ModelTurn>) -> Script {
    Script {
        turns: turns.into_iter().map(turn).collect(),
    }
}

fn turn(turn: &ModelTurn) -> ScriptedTurn {
    let calls: Vec<ScriptedCall> = turn.calls().map(call).collect();
    let mut tools: Vec<String> = Vec::new();
    for call in &calls {
        if !tools.contains(&call.tool) {
            tools.push(call.tool.clone());
        }
    }
    ScriptedTurn {
        expect: Expect {
            tools,
            ..Expect::default()
        },
        say: turn.text(),
        calls,
        stop: match turn.stop {
            StopReason::Answered | StopReason::WantsTools => None,
            StopReason::Length => Some(ScriptedStop::Length),
            StopReason::Refused => Some(ScriptedStop::Refused),
        },
    }
}

fn call(call: &ToolCall) -> ScriptedCall {
    ScriptedCall {
        tool: call.name.clone(),
        with: match &call.arguments {
            Arguments::Object(map) => ScriptedInput::Input(replayable(map)),
            Arguments::Malformed(text) => ScriptedInput::Malformed(text.clone()),
        },
    }
}

/// Names of stored results are given out anew each time: the script asks for the newest one.
fn replayable(input: &Map<String, Value>) -> Map<String, Value> {
    let entries = input.iter().map(|(key, value)| {
        let is_reference = value.as_str().is_some_and(|it| {
            let rest = it.strip_prefix(STORED).unwrap_or_default();
            rest.len() == STORED_LENGTH && rest.bytes().all(|it| it.is_ascii_alphanumeric())
        });
        let value = match is_reference {
            true => Value::String(format!("${{observed:{STORED}}}")),
            false => value.clone(),
        };
        (key.clone(), value)
    });
    entries.collect()
}

impl Script {
    /// As a file.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}
