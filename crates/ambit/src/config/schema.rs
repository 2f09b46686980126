//! The JSON Schema of `ambit.json`, made from the types that read it.

use std::sync::LazyLock;

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::Value;

use super::file::ConfigFile;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    SchemaSettings::draft2020_12()
        .with_transform(RecursiveTransform(tidy))
        .into_generator()
        .into_root_schema_for::<ConfigFile>()
        .to_value()
});

/// The JSON Schema of `ambit.json`.
pub fn json_schema() -> Value {
    SCHEMA.clone()
}

pub(super) fn borrowed() -> &'static Value {
    &SCHEMA
}

/// What is not set is left out, never `null`: the schema of an optional field is the field's.
/// And a description is a text, not the lines its comment was wrapped to.
fn tidy(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    let null = Value::from("null");
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|it| *it != null);
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
        branches.retain(|it| it.get("type") != Some(&null));
        if let [Value::Object(only)] = branches.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            for (key, value) in only {
                schema.insert(key, value);
            }
        }
    }
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undescribed(schema: &Value, at: &str, found: &mut Vec<String>) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            if property.get("description").is_none() {
                found.push(format!("{at}.{name}"));
            }
        }
    }

    #[test]
    fn every_field_is_described_and_nothing_may_be_null() {
        let schema = json_schema();
        assert!(!schema.to_string().contains("null"), "{schema:#}");
        let mut found = Vec::new();
        undescribed(&schema, "", &mut found);
        for (name, definition) in schema["$defs"].as_object().unwrap() {
            undescribed(definition, name, &mut found);
        }
        assert!(found.is_empty(), "{found:?}");
    }
}
