//! The visible set as a model sees it: tool definitions in a provider's format, and an index of
//! what is there to be loaded. The same set gives the same bytes.

use serde_json::{Map, Value, json};

use crate::id::{CapabilityId, Kind};
use crate::manifest::CapabilityManifest;
use crate::visible::{Layer, VisibleSet};

/// How tools are written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolFormat {
    /// Chat completions with function tools. The wordiest, so costs are counted by it.
    #[default]
    OpenAi,
    /// Messages with tools.
    Anthropic,
    /// `tools/list`.
    Mcp,
}

/// One tool in a format.
pub fn tool(manifest: &CapabilityManifest, name: &str, format: ToolFormat) -> Value {
    let description = &manifest.description;
    let schema = &manifest.input_schema;
    match format {
        ToolFormat::OpenAi => {
            json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema}})
        }
        ToolFormat::Anthropic => {
            json!({"name": name, "description": description, "input_schema": schema})
        }
        ToolFormat::Mcp => {
            let mut tool = Map::new();
            // What the server said and Ambit has no word for; what it has one for comes after.
            if let Some(Value::Object(given)) = &manifest.given {
                tool.extend(given.clone());
            }
            tool.insert("name".to_owned(), json!(name));
            tool.insert("title".to_owned(), json!(manifest.title));
            tool.insert("description".to_owned(), json!(description));
            tool.insert("inputSchema".to_owned(), schema.clone());
            if let Some(output) = &manifest.output_schema {
                tool.insert("outputSchema".to_owned(), output.clone());
            }
            Value::Object(tool)
        }
    }
}

/// The index layer: a name and one sentence.
pub fn index_line(manifest: &CapabilityManifest, name: &str) -> String {
    format!("- {name}: {}", manifest.summary())
}

/// A resource's handle: where it is, and what.
pub fn resource_line(manifest: &CapabilityManifest) -> String {
    let address = manifest.address().unwrap_or_default();
    format!("- {address}: {}", manifest.summary())
}

/// How much of a description a card has.
const CARD_DESCRIPTION: usize = 400;
/// How many parameters a card names.
const CARD_PARAMETERS: usize = 12;

/// The card layer: what it does and what it takes.
pub fn card(manifest: &CapabilityManifest, name: &str) -> String {
    let words = manifest
        .description
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let mut text: String = words.chars().take(CARD_DESCRIPTION).collect();
    if text.len() < words.len() {
        text.push('…');
    }
    let required: Vec<&str> = strings(manifest.input_schema.get("required"));
    let properties = manifest
        .input_schema
        .get("properties")
        .and_then(Value::as_object);
    let names: Vec<&String> = properties.into_iter().flat_map(|it| it.keys()).collect();
    let mut parameters: Vec<String> = names
        .iter()
        .take(CARD_PARAMETERS)
        .map(|it| {
            if required.contains(&it.as_str()) {
                (*it).clone()
            } else {
                format!("{it}?")
            }
        })
        .collect();
    if names.len() > CARD_PARAMETERS {
        parameters.push("…".to_owned());
    }
    format!("- {name}({}): {text}", parameters.join(", "))
}

fn strings(value: Option<&Value>) -> Vec<&str> {
    value
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// What a model is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// Definitions of everything in the full layer.
    pub tools: Vec<Value>,
    /// Skills that can be loaded, a line each.
    pub skills: Vec<String>,
    /// Resources that can be read, a line each.
    pub resources: Vec<String>,
    /// Tools that are callable but not defined here: lines and cards.
    pub deferred: Vec<String>,
}

/// Projects a set. `manifest` finds definitions; an entry without one is left out.
pub fn project<'a>(
    visible: &VisibleSet,
    format: ToolFormat,
    manifest: impl Fn(&CapabilityId) -> Option<&'a CapabilityManifest>,
) -> Projection {
    let mut projection = Projection {
        tools: Vec::new(),
        skills: Vec::new(),
        resources: Vec::new(),
        deferred: Vec::new(),
    };
    for entry in visible.entries() {
        let (Some(manifest), Some(name)) =
            (manifest(&entry.id), visible.names().name_of(&entry.id))
        else {
            continue;
        };
        match (entry.id.kind(), entry.layer) {
            (_, Layer::Unlisted) | (Kind::Prompt, _) => {}
            (Kind::Resource, _) => projection.resources.push(resource_line(manifest)),
            (Kind::Skill, _) => projection
                .skills
                .push(index_line(manifest, entry.id.name())),
            (_, Layer::Full) => projection.tools.push(tool(manifest, name, format)),
            (_, Layer::Card) => projection.deferred.push(card(manifest, name)),
            (_, Layer::Index) => projection.deferred.push(index_line(manifest, name)),
        }
    }
    projection
}

/// What a projection defines in full, in its order, with the names it goes by.
pub fn defined(visible: &VisibleSet) -> impl Iterator<Item = (&CapabilityId, &str)> {
    let entries = visible.entries().iter();
    entries
        .filter(|it| it.layer == Layer::Full && matches!(it.id.kind(), Kind::Tool | Kind::Channel))
        .filter_map(|it| Some((&it.id, visible.names().name_of(&it.id)?)))
}

impl Projection {
    /// As one JSON document.
    pub fn to_json(&self) -> Value {
        let mut document =
            json!({"tools": self.tools, "skills": self.skills, "deferred": self.deferred});
        if !self.resources.is_empty()
            && let Some(document) = document.as_object_mut()
        {
            document.insert("resources".to_owned(), json!(self.resources));
        }
        document
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::manifest;

    #[test]
    fn formats_differ_in_shape_only() {
        let it = manifest("mcp__gh__get reads");
        let shapes = [ToolFormat::OpenAi, ToolFormat::Anthropic, ToolFormat::Mcp]
            .map(|format| tool(&it, "gh__get", format).to_string());
        expect_test::expect![[r#"
            {"function":{"description":"Does get.","name":"gh__get","parameters":{"type":"object"}},"type":"function"}
            {"description":"Does get.","input_schema":{"type":"object"},"name":"gh__get"}
            {"description":"Does get.","inputSchema":{"type":"object"},"name":"gh__get","title":"get"}"#]]
        .assert_eq(&shapes.join("\n"));
    }

    #[test]
    fn cards_are_short_whatever_they_are_made_of() {
        let mut it = manifest("mcp__gh__get reads");
        it.description = "word ".repeat(50_000);
        let properties: Map<String, Value> =
            (0..1000).map(|n| (format!("p{n}"), json!({}))).collect();
        it.input_schema = json!({"type": "object", "properties": properties, "required": ["p0"]});
        let text = card(&it, "gh__get");
        assert!(
            text.len() < 700 && text.starts_with("- gh__get(p0, p1?"),
            "{text}"
        );
    }
}
