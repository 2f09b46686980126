//! What a script would have cost with a model behind it: tokens by a real tokenizer, and what a
//! prompt cache would have read again.
//!
//! A request is read piece by piece: tools, system prompt, messages. What begins like an earlier
//! request is cached up to the first piece that differs, as providers do it. A tool that came
//! into view in mid-conversation is read where it did.

use ambit_core::projection::ToolFormat;
use ambit_runtime::tokens::count;
use serde_json::Value;

use super::expect::defined;
use super::script::ScriptedTurn;
use crate::engine::ModelRequest;
use crate::message::Message;
use crate::usage::Usage;

/// How many conversations are remembered: an agent, and sub-agents that take turns with it.
const REMEMBERED: usize = 16;

/// A piece of a request, and its tokens.
type Piece = (String, u64);

/// What was read so far: the last request of each conversation, the latest one last.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    requests: Vec<Vec<Piece>>,
}

impl Ledger {
    /// Counts a request and the turn that answers it.
    pub(super) fn enter(
        &mut self,
        request: &ModelRequest<'_>,
        format: ToolFormat,
        turn: &ScriptedTurn,
    ) -> Usage {
        let texts = pieces(request, format);
        let same = |known: &Vec<Piece>| {
            let pairs = known.iter().zip(&texts);
            pairs.take_while(|((a, _), b)| a == *b).count()
        };
        let best = (0..self.requests.len()).max_by_key(|n| self.requests.get(*n).map(same));
        let shared = best.and_then(|n| self.requests.get(n)).map_or(0, same);
        let known = match best {
            // The same conversation, one turn later, unless they have nothing in common.
            Some(n) if shared > 0 => self.requests.remove(n),
            _ => Vec::new(),
        };
        let mut read: Vec<Piece> = known.into_iter().take(shared).collect();
        let tokens = |pieces: &[Piece]| pieces.iter().map(|(_, tokens)| tokens).sum();
        let cached_input: u64 = tokens(&read);
        for text in texts.into_iter().skip(shared) {
            let tokens = u64::from(count(&text));
            read.push((text, tokens));
        }
        let all: u64 = tokens(&read);
        self.requests.push(read);
        if self.requests.len() > REMEMBERED {
            self.requests.remove(0);
        }
        let calls = turn.calls.iter();
        let calls = calls.map(|it| count(&it.tool) + count(&it.written()));
        Usage {
            input: all - cached_input,
            cached_input,
            output: u64::from(count(&turn.say) + calls.sum::<u32>()),
            ..Usage::default()
        }
    }
}

/// A request in the order in which it is read.
fn pieces(request: &ModelRequest<'_>, format: ToolFormat) -> Vec<String> {
    let results = request.messages.iter().flat_map(|it| match it {
        Message::Results { results } => results.as_slice(),
        Message::User { .. } | Message::Assistant { .. } => &[],
    });
    let revealed: Vec<&String> = results.flat_map(|it| &it.reveals).collect();
    let tools = || request.projection.tools.iter();
    let is_revealed = |tool: &Value| {
        defined(tool, format).is_some_and(|name| revealed.iter().any(|it| *it == name))
    };
    let listed = tools().filter(|it| !is_revealed(it)).map(Value::to_string);
    let mut pieces: Vec<String> = listed.chain(request.system.iter().cloned()).collect();
    for message in request.messages {
        pieces.push(serde_json::to_string(message).unwrap_or_default());
        if let Message::Results { results } = message {
            let names = results.iter().flat_map(|it| &it.reveals);
            let found = names.filter_map(|name| {
                tools().find(|tool| defined(tool, format) == Some(name.as_str()))
            });
            for definition in found.map(Value::to_string) {
                if !pieces.contains(&definition) {
                    pieces.push(definition);
                }
            }
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use ambit_core::projection::Projection;
    use serde_json::json;

    use super::*;
    use crate::engine::ModelOptions;
    use crate::message::ToolResult;

    fn enter(ledger: &mut Ledger, tools: &[&str], messages: &[Message]) -> Usage {
        let tool =
            |it: &&str| json!({"function": {"name": it, "description": "Does what it does."}});
        let projection = Projection {
            tools: tools.iter().map(tool).collect(),
            skills: Vec::new(),
            resources: Vec::new(),
            deferred: Vec::new(),
        };
        let request = ModelRequest {
            system: &["You help.".to_owned()],
            projection: &projection,
            messages,
            options: ModelOptions::default(),
        };
        let turn = ScriptedTurn {
            say: "Yes.".to_owned(),
            ..ScriptedTurn::default()
        };
        ledger.enter(&request, ToolFormat::OpenAi, &turn)
    }

    fn result(reveals: &[&str]) -> Message {
        Message::Results {
            results: vec![ToolResult {
                call: "a".to_owned(),
                name: "search".to_owned(),
                content: Vec::new(),
                is_error: false,
                reveals: reveals.iter().map(|it| (*it).to_owned()).collect(),
            }],
        }
    }

    #[test]
    fn what_was_read_before_is_cached() {
        let mut ledger = Ledger::default();
        let mut messages = vec![Message::user("go")];
        let first = enter(&mut ledger, &["a", "b"], &messages);
        assert_eq!((first.cached_input, first.output), (0, 2));
        messages.extend([Message::assistant("Yes."), result(&["c"])]);
        let second = enter(&mut ledger, &["a", "b", "c"], &messages);
        assert_eq!(second.cached_input, first.read(), "a tool came into view");
        // Somebody else in between.
        enter(&mut ledger, &["x"], &[Message::user("other")]);
        messages.extend([Message::assistant("Yes."), result(&[])]);
        let third = enter(&mut ledger, &["a", "b", "c"], &messages);
        assert_eq!(third.cached_input, second.read());
        // Nothing of the beginning is left.
        let fourth = enter(&mut ledger, &["b", "c"], &messages);
        assert_eq!(fourth.cached_input, 0);
    }
}
