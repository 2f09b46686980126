//! The tool list as it goes out. It is asked for far more often than it changes and may be
//! megabytes, so it is written once, straight from the definitions, and kept as text.

use std::sync::OnceLock;

use ambit_core::catalog::CatalogSnapshot;
use ambit_core::effects::Effects;
use ambit_core::manifest::CapabilityManifest;
use ambit_runtime::session::Session;
use rmcp::model::Tool;
use serde::Serialize;
use serde::ser::SerializeMap as _;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::map::annotations;

/// In a schema: the header an argument is said in, too.
const HEADER: &str = "x-mcp-header";

/// The tools a client is shown.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    text: Box<RawValue>,
    /// The same for the SDK, made when it asks.
    tools: OnceLock<Vec<Tool>>,
    /// Whether an argument of any of them is to be said in a header, too.
    names_headers: bool,
}

impl Listing {
    /// Of what a session's turn defines.
    pub(crate) fn of(session: &Session, catalog: &CatalogSnapshot) -> Self {
        let mut text = vec![b'['];
        session.each_tool(|id, name, manifest| {
            // A schema that is no object cannot be listed.
            let schemas = [
                Some(&manifest.input_schema),
                manifest.output_schema.as_ref(),
            ];
            let Some(descriptor) = catalog.get(id) else {
                return;
            };
            if !schemas.into_iter().flatten().all(Value::is_object) {
                return;
            }
            let before = text.len();
            if before > 1 {
                text.push(b',');
            }
            let tool = Shown {
                name,
                manifest,
                effects: descriptor.effects,
            };
            if serde_json::to_writer(&mut text, &tool).is_err() {
                text.truncate(before);
            }
        });
        text.push(b']');
        text.shrink_to_fit();
        // What a serializer wrote is text, and JSON.
        let text = String::from_utf8(text)
            .ok()
            .and_then(|it| RawValue::from_string(it).ok());
        let text = text.unwrap_or_default();
        Listing {
            names_headers: text.get().contains(HEADER),
            text,
            tools: OnceLock::new(),
        }
    }

    /// Whether an argument of any tool is to be said in a header, too.
    pub(crate) fn names_headers(&self) -> bool {
        self.names_headers
    }

    /// In the SDK's words.
    pub(crate) fn tools(&self) -> &[Tool] {
        self.tools
            .get_or_init(|| serde_json::from_str(self.text.get()).unwrap_or_default())
    }
}

impl PartialEq for Listing {
    fn eq(&self, other: &Self) -> bool {
        self.text.get() == other.text.get()
    }
}

/// `{"tools": […]}`, the result of `tools/list`.
impl Serialize for Listing {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("tools", &self.text)?;
        map.end()
    }
}

/// One tool.
struct Shown<'a> {
    name: &'a str,
    manifest: &'a CapabilityManifest,
    effects: Effects,
}

impl Serialize for Shown<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let manifest = self.manifest;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", self.name)?;
        map.serialize_entry("title", &manifest.title)?;
        map.serialize_entry("description", &manifest.description)?;
        map.serialize_entry("inputSchema", &manifest.input_schema)?;
        if let Some(output) = &manifest.output_schema {
            map.serialize_entry("outputSchema", output)?;
        }
        let given = manifest.given.as_ref().and_then(Value::as_object);
        let said = given.and_then(|it| it.get("annotations")?.as_object());
        map.serialize_entry("annotations", &hints(said, self.effects))?;
        for (key, value) in given.into_iter().flatten() {
            // What Ambit has a word for was said above.
            let is_said = [
                "name",
                "title",
                "description",
                "inputSchema",
                "outputSchema",
                "annotations",
            ];
            if !is_said.contains(&key.as_str()) {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

/// What its server left open is what Ambit takes it for.
fn hints(said: Option<&Map<String, Value>>, effects: Effects) -> Map<String, Value> {
    let own = serde_json::to_value(annotations(effects)).unwrap_or_default();
    let mut hints = said.cloned().unwrap_or_default();
    if let Value::Object(own) = own {
        for (hint, value) in own {
            hints.entry(hint).or_insert(value);
        }
    }
    hints
}
