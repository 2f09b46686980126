//! The resources, and the template.

use rmcp::ErrorData;
use rmcp::model::*;
use serde_json::json;

use crate::skills;
use crate::tools::PNG;

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";
const WATCHED: &str = "test://watched-resource";

/// The list, skills last.
pub(crate) fn all() -> Vec<Resource> {
    let one = |uri: &str, name: &str, description: &str, kind: &str| {
        Resource::new(uri, name)
            .with_description(description)
            .with_mime_type(kind)
    };
    let mut all = vec![
        one(TEXT, "static-text", "A text", "text/plain"),
        one(BINARY, "static-binary", "A picture", "image/png"),
        one(WATCHED, "watched-resource", "To subscribe to", "text/plain"),
    ];
    all.extend(skills::resources());
    all
}

/// The templates.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("test://template/{id}/data", "template")
            .with_description("Data by id")
            .with_mime_type("application/json"),
    ]
}

/// What a resource holds.
pub(crate) fn read(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let contents = match uri {
        TEXT => ResourceContents::text("This is the content of the static text resource.", uri),
        BINARY => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
        WATCHED => ResourceContents::text("Nothing happens here.", uri),
        _ => templated(uri)
            .or_else(|| skills::read(uri))
            .ok_or_else(|| {
                let message = format!("there is no resource `{uri}`");
                ErrorData::resource_not_found(message, Some(json!({"uri": uri})))
            })?,
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

fn templated(uri: &str) -> Option<ResourceContents> {
    let id = uri
        .strip_prefix("test://template/")?
        .strip_suffix("/data")?;
    let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
    Some(ResourceContents::text(data.to_string(), uri).with_mime_type("application/json"))
}
