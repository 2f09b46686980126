//! What a file may say about MCP clients, over what is known of them.

use ambit_gateway::client::ClientEntry;
use ambit_gateway::style::Style;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// A client, by the name it gives itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Client {
    /// Which list it is shown: `full`, `dynamic` or `dispatch`.
    #[serde(default)]
    #[schemars(schema_with = "style_schema")]
    pub style: Option<Style>,
    /// Whether it asks its user about each tool by name. Where it is shown every tool, Ambit does
    /// not ask about a plain change again.
    #[serde(default)]
    pub asks: Option<bool>,
}

impl From<Client> for ClientEntry {
    fn from(it: Client) -> Self {
        ClientEntry {
            style: it.style,
            asks: it.asks,
        }
    }
}

fn style_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"enum": Style::ALL.map(Style::as_str)})
}
