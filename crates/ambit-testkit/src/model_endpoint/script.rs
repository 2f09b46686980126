//! Turns of a script, as far as a model's API tells them.

use std::collections::VecDeque;

use serde_json::Value;

/// One turn.
#[derive(Clone, Debug, Default)]
pub(super) struct PlayedTurn {
    pub(super) say: String,
    /// Tools, each with its arguments as the model writes them.
    pub(super) calls: Vec<(String, String)>,
    /// `length` or `refused`.
    pub(super) stop: Option<String>,
}

/// The turns of a script in its JSON form.
pub(super) fn played(script: &Value) -> VecDeque<PlayedTurn> {
    let turns = script["turns"].as_array().expect("a script has `turns`");
    turns.iter().map(turn).collect()
}

fn turn(turn: &Value) -> PlayedTurn {
    let calls = turn["calls"].as_array().cloned().unwrap_or_default();
    PlayedTurn {
        say: turn["say"].as_str().unwrap_or_default().to_owned(),
        calls: calls.iter().map(call).collect(),
        stop: turn["stop"].as_str().map(str::to_owned),
    }
}

fn call(call: &Value) -> (String, String) {
    let arguments = match call["malformed"].as_str() {
        Some(text) => text.to_owned(),
        None => call["input"].to_string(),
    };
    let tool = call["tool"].as_str().expect("a call has `tool`");
    (tool.to_owned(), arguments)
}

impl PlayedTurn {
    /// With `${observed:PREFIX}` replaced by the newest such word of the conversation.
    pub(super) fn filled(mut self, request: &Value) -> PlayedTurn {
        let said = request["messages"].to_string();
        for (_, arguments) in &mut self.calls {
            while let Some((before, after)) = arguments.split_once("${observed:") {
                let (prefix, after) = after.split_once('}').expect("a closed placeholder");
                let mut words =
                    said.rsplit(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c)));
                let word = words.find(|it| it.len() > prefix.len() && it.starts_with(prefix));
                *arguments = format!("{before}{}{after}", word.expect("such a word"));
            }
        }
        self
    }
}

/// A text in pieces of a few characters, but not in very many.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let size = (characters.len() / 100).max(7);
    characters
        .chunks(size)
        .map(|it| it.iter().collect())
        .collect()
}
