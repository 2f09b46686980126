//! A finished session as a script, to be played again.

use super::expect::Expect;
use super::script::{Script, ScriptedCall, ScriptedInput, ScriptedStop, ScriptedTurn};
use crate::engine::{ModelTurn, StopReason};
use crate::message::{Arguments, ToolCall};

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
            Arguments::Object(map) => ScriptedInput::Input(map.clone()),
            Arguments::Malformed(text) => ScriptedInput::Malformed(text.clone()),
        },
    }
}

impl Script {
    /// As a file.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}
