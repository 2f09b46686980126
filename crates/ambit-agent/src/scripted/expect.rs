//! What a scripted turn must have been shown: tools and skills by name, loaded skills, and what
//! the last calls brought. It judges what a model would see and nothing behind it.

use std::fmt;

use ambit_core::projection::{Projection, ToolFormat};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::ModelRequest;
use crate::message::{Arguments, AssistantPart, Message, ToolResult};

/// The tool that loads a skill.
const LOAD_SKILL: &str = "load_skill";
/// How much of a text is repeated in a message about it.
const SHOWN: usize = 400;

/// What a turn expects. Every entry has to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expect {
    /// Tools it must see, by wire name: defined, or as a line or card.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Tools it must not see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub no_tools: Vec<String>,
    /// Skills it must see the line of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// Skills it must not see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub no_skills: Vec<String>,
    /// Skills it must have loaded earlier in the conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loaded: Vec<String>,
    /// Texts that must be in what its last calls brought.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<String>,
}

/// An expectation that does not hold, and what there is instead.
#[derive(Debug)]
pub(super) struct Unmet {
    pub(super) expectation: String,
    pub(super) instead: String,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, but {}", self.expectation, self.instead)
    }
}

impl Expect {
    /// Whether it expects nothing.
    pub fn is_empty(&self) -> bool {
        *self == Expect::default()
    }

    /// Whether all of it holds; the first that does not.
    pub(super) fn check(
        &self,
        request: &ModelRequest<'_>,
        format: ToolFormat,
    ) -> Result<(), Unmet> {
        let tools = shown_tools(request.projection, format);
        let skills = names(&request.projection.skills);
        let loaded = loaded_skills(request.messages);
        present("tool", "visible tools", &self.tools, &tools)?;
        absent("tool", &self.no_tools, &tools)?;
        present("skill", "visible skills", &self.skills, &skills)?;
        absent("skill", &self.no_skills, &skills)?;
        present("loaded skill", "loaded skills", &self.loaded, &loaded)?;
        let observed = last_observations(request.messages);
        match self
            .observed
            .iter()
            .find(|it| !observed.contains(it.as_str()))
        {
            None => Ok(()),
            Some(missing) => Err(Unmet {
                expectation: format!("`{missing}` in what the last calls brought"),
                instead: match observed.is_empty() {
                    true => "they brought nothing".to_owned(),
                    false => format!("that is `{}`", shortened(&observed)),
                },
            }),
        }
    }
}

fn present(kind: &str, list: &str, wanted: &[String], there: &[String]) -> Result<(), Unmet> {
    match wanted.iter().find(|it| !there.contains(it)) {
        None => Ok(()),
        Some(missing) => Err(Unmet {
            expectation: format!("the {kind} `{missing}`"),
            instead: match there.is_empty() {
                true => format!("there are no {list}"),
                false => format!("the {list} are `{}`", there.join("`, `")),
            },
        }),
    }
}

fn absent(kind: &str, unwanted: &[String], there: &[String]) -> Result<(), Unmet> {
    match unwanted.iter().find(|it| there.contains(it)) {
        None => Ok(()),
        Some(found) => Err(Unmet {
            expectation: format!("no {kind} `{found}`"),
            instead: "it is visible".to_owned(),
        }),
    }
}

/// Every tool there is something of, in order.
fn shown_tools(projection: &Projection, format: ToolFormat) -> Vec<String> {
    let defined = projection.tools.iter().filter_map(|it| defined(it, format));
    let defined = defined.map(str::to_owned);
    defined.chain(names(&projection.deferred)).collect()
}

/// The name of a definition.
pub(super) fn defined(tool: &Value, format: ToolFormat) -> Option<&str> {
    let named = match format {
        ToolFormat::OpenAi => tool.get("function")?,
        ToolFormat::Anthropic | ToolFormat::Mcp => tool,
    };
    named.get("name")?.as_str()
}

/// The names at the beginning of lines like `- name: what it does`.
fn names(lines: &[String]) -> Vec<String> {
    let name = |line: &String| {
        let line = line.strip_prefix("- ").unwrap_or(line);
        let end = line.find([':', '(', ' ']).unwrap_or(line.len());
        line.get(..end).unwrap_or(line).to_owned()
    };
    lines.iter().map(name).collect()
}

/// Skills whose loading went well.
fn loaded_skills(messages: &[Message]) -> Vec<String> {
    let results = messages.iter().flat_map(|message| match message {
        Message::Results { results } => results.as_slice(),
        Message::User { .. } | Message::Assistant { .. } => &[],
    });
    let went_well: Vec<&str> = results
        .filter(|it| !it.is_error)
        .map(|it| it.call.as_str())
        .collect();
    let parts = messages.iter().flat_map(|message| match message {
        Message::Assistant { parts } => parts.as_slice(),
        Message::User { .. } | Message::Results { .. } => &[],
    });
    let calls = parts.filter_map(AssistantPart::as_call);
    let calls = calls.filter(|it| it.name == LOAD_SKILL && went_well.contains(&it.id.as_str()));
    calls
        .filter_map(|call| match &call.arguments {
            Arguments::Object(map) => map.get("name").and_then(Value::as_str).map(str::to_owned),
            Arguments::Malformed(_) => None,
        })
        .collect()
}

/// The texts of the results in the last message.
fn last_observations(messages: &[Message]) -> String {
    let results: &[ToolResult] = match messages.last() {
        Some(Message::Results { results }) => results,
        _ => &[],
    };
    let contents = results.iter().flat_map(|it| &it.content);
    let texts: Vec<String> = contents
        .map(|it| match it.as_text() {
            Some(text) => text.to_owned(),
            None => serde_json::to_string(it).unwrap_or_default(),
        })
        .collect();
    texts.join("\n")
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
