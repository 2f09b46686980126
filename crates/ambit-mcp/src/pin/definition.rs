//! What a server says of a tool, as far as a model or a person goes by it, and as lines a person
//! can read.

use ambit_core::digest::Digest;
use ambit_core::printable::is_bidirectional;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Long lines are broken here, so that a change in the middle of one can be found.
const WIDTH: usize = 100;

/// A tool as its server gave it, and which server that was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Definition {
    /// The server's program or address, without anything secret.
    pub server: String,
    /// The server's own name for it.
    pub name: String,
    /// Its title, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it says it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    /// JSON Schema of its structured result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What it says about its effects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
}

impl Definition {
    /// Of all of it.
    pub fn digest(&self) -> Digest {
        // Serializing strings and JSON values cannot fail.
        Digest::of(self).unwrap_or(Digest::ZERO)
    }

    /// As lines: what differs in one of these differs in the definition, and the other way round.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!("server: {}", visible(&self.server)),
            format!("name: {}", visible(&self.name)),
        ];
        let title = self.title.as_deref();
        lines.extend(title.map(|it| format!("title: {}", visible(it))));
        lines.push("description:".to_owned());
        let paragraphs = self.description.split('\n');
        lines.extend(paragraphs.flat_map(wrapped).map(|it| format!("  {it}")));
        for (title, value) in [
            ("input schema", Some(&self.input_schema)),
            ("output schema", self.output_schema.as_ref()),
            ("annotations", self.annotations.as_ref()),
        ] {
            let Some(value) = value else { continue };
            lines.push(format!("{title}:"));
            // Serializing a JSON value cannot fail.
            let text = serde_json::to_string_pretty(value).unwrap_or_default();
            lines.extend(text.lines().flat_map(wrapped).map(|it| format!("  {it}")));
        }
        lines
    }
}

/// A line in pieces no longer than the width, broken after spaces where there are any.
fn wrapped(line: &str) -> Vec<String> {
    let line = visible(line);
    let mut pieces = vec![String::new()];
    let mut length = 0;
    for word in line.split_inclusive(' ') {
        for c in word.chars().enumerate() {
            let full = match c.0 {
                0 => length > 0 && length + word.chars().count() > WIDTH,
                _ => length >= WIDTH,
            };
            if full {
                pieces.push(String::new());
                length = 0;
            }
            if let Some(piece) = pieces.last_mut() {
                piece.push(c.1);
            }
            length += 1;
        }
    }
    pieces
}

/// What cannot be seen, or moves what can, is written out: a change nobody sees is one nobody can
/// accept.
fn visible(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || is_bidirectional(c)
            || matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}'
                | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e01ef}')
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match hidden(c) {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    out
}
