//! What search knows of a capability: its words, by field.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::CapabilityId;

/// Most parameters taken from one schema.
const MAX_PARAMETERS: usize = 256;
/// How deep objects inside objects are read: a parameter, its fields, their fields.
const MAX_DEPTH: usize = 3;

/// One parameter of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What the schema says of it.
    pub description: String,
}

/// One capability as search sees it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SearchDocument {
    /// Whose words these are.
    pub id: CapabilityId,
    /// The provider's own name for it.
    pub name: String,
    /// Its title for people.
    pub title: String,
    /// What it says it does.
    pub description: String,
    /// Tags.
    pub tags: Vec<String>,
    /// Parameters, of tools.
    pub parameters: Vec<Parameter>,
    /// The server or pack it comes with.
    pub pack: String,
    /// What that server says of itself.
    pub pack_summary: String,
    /// A skill's body: indexed, never shown.
    pub body: String,
}

impl SearchDocument {
    /// A document with a name and nothing else said about it; the pack is the id's owner.
    pub fn new(id: CapabilityId) -> Self {
        SearchDocument {
            name: id.name().to_owned(),
            pack: id.owner().to_owned(),
            id,
            title: String::new(),
            description: String::new(),
            tags: Vec::new(),
            parameters: Vec::new(),
            pack_summary: String::new(),
            body: String::new(),
        }
    }

    /// The same document with the parameters of a JSON input schema.
    #[must_use]
    pub fn with_input_schema(mut self, schema: &Value) -> Self {
        self.parameters.clear();
        collect(schema, MAX_DEPTH, &mut self.parameters);
        self
    }

    /// What it says of itself in one text, the server's name included: what an embedder is
    /// given, and what its weights should be taken from.
    pub fn own_words(&self) -> String {
        [
            self.name.as_str(),
            self.pack.as_str(),
            self.title.as_str(),
            self.description.as_str(),
        ]
        .join(". ")
    }
}

/// Takes the properties of a schema in order, then those of the objects inside.
fn collect(schema: &Value, depth: usize, into: &mut Vec<Parameter>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    take(properties, into);
    if depth <= 1 {
        return;
    }
    for property in properties.values().take(MAX_PARAMETERS) {
        if into.len() >= MAX_PARAMETERS {
            return;
        }
        collect(property, depth - 1, into);
        if let Some(items) = property.get("items") {
            collect(items, depth - 1, into);
        }
    }
}

fn take(properties: &Map<String, Value>, into: &mut Vec<Parameter>) {
    let room = MAX_PARAMETERS.saturating_sub(into.len());
    into.extend(properties.iter().take(room).map(|(name, property)| {
        let description = property.get("description").and_then(Value::as_str);
        Parameter {
            name: name.clone(),
            description: description.unwrap_or_default().to_owned(),
        }
    }));
}
