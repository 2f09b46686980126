//! A session as it was written down: one thing per line.

use serde_json::Value;

/// One line of a script.
#[derive(Debug)]
pub(crate) enum Line {
    /// The task from the next turn on.
    Goal(String),
    /// The next turn begins.
    Turn,
    /// A tool is called, and this comes back.
    Call {
        target: String,
        arguments: Value,
        answer: String,
    },
    /// `tool_search` is called.
    Search(String),
    /// A server stops serving.
    Down(String),
}

/// The lines of a script; comments and empty lines are skipped.
pub(crate) fn parse(text: &str) -> Result<Vec<Line>, String> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|it| !it.is_empty() && !it.starts_with('#'))
        .map(line)
        .collect()
}

fn line(text: &str) -> Result<Line, String> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    Ok(match word {
        "goal" => Line::Goal(rest.to_owned()),
        "turn" => Line::Turn,
        "search" => Line::Search(rest.to_owned()),
        "down" => Line::Down(rest.to_owned()),
        "call" => {
            let (call, answer) = rest.split_once(" => ").ok_or("a call without an answer")?;
            let (target, arguments) = call.split_once(' ').unwrap_or((call, "{}"));
            Line::Call {
                target: target.to_owned(),
                arguments: serde_json::from_str(arguments).map_err(|it| format!("{text}: {it}"))?,
                answer: answer.to_owned(),
            }
        }
        _ => return Err(format!("`{text}` is nothing a session can have")),
    })
}
