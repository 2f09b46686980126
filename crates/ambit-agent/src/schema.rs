//! Input schemas as models' APIs take them. Both refuse a whole request for one schema that is no
//! plain object at its top, and one refuses lists that do not say of what; a server's tool must
//! not end everybody's conversation. What is lost here is only what the model is told: arguments
//! are judged by the schema as the server gave it.

use serde_json::{Map, Value, json};

/// Ways to say "one of these" or "all of these".
const COMBINED: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// What else may not stand at the top.
const REFUSED: [&str; 2] = ["enum", "not"];

/// The schema as an object with all the properties any of its variants has.
pub(crate) fn fitted(schema: &Value) -> Value {
    let mut fitted = schema.as_object().cloned().unwrap_or_default();
    for word in REFUSED {
        fitted.remove(word);
    }
    for word in COMBINED {
        let Some(Value::Array(variants)) = fitted.remove(word) else {
            continue;
        };
        for variant in &variants {
            merge(&mut fitted, variant, word);
        }
    }
    fitted.insert("type".to_owned(), json!("object"));
    let mut fitted = Value::Object(fitted);
    say_of_what(&mut fitted);
    fitted
}

/// Adds what a variant has. What it requires is required only if every variant holds.
fn merge(into: &mut Map<String, Value>, variant: &Value, word: &str) {
    if let Some(Value::Object(properties)) = variant.get("properties") {
        let known = into.entry("properties").or_insert_with(|| json!({}));
        if let Some(known) = known.as_object_mut() {
            for (name, property) in properties {
                known.entry(name).or_insert_with(|| property.clone());
            }
        }
    }
    if let ("allOf", Some(Value::Array(required))) = (word, variant.get("required")) {
        let known = into.entry("required").or_insert_with(|| json!([]));
        if let Some(known) = known.as_array_mut() {
            let new = required.iter().filter(|it| !known.contains(it));
            let new: Vec<Value> = new.cloned().collect();
            known.extend(new);
        }
    }
}

/// Gives every list its `items`.
fn say_of_what(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    let is_list = match map.get("type") {
        Some(Value::String(word)) => word == "array",
        Some(Value::Array(words)) => words.iter().any(|it| it == "array"),
        _ => false,
    };
    if is_list {
        map.entry("items").or_insert_with(|| json!({}));
    }
    for (key, inner) in map {
        match (key.as_str(), inner) {
            (
                "properties" | "$defs" | "definitions" | "patternProperties",
                Value::Object(named),
            ) => {
                named.values_mut().for_each(say_of_what);
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(listed)) => {
                listed.iter_mut().for_each(say_of_what);
            }
            ("items" | "additionalProperties" | "not", inner) => say_of_what(inner),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: Value, expected: Value) {
        assert_eq!(fitted(&schema), expected, "{schema}");
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let plain = json!({
            "type": "object", "required": ["a"], "additionalProperties": false,
            "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "type": {"type": "string"}},
        });
        check(plain.clone(), plain);
    }

    #[test]
    fn what_does_not_becomes_an_object() {
        check(json!({}), json!({"type": "object"}));
        check(json!(true), json!({"type": "object"}));
        check(
            json!({"type": ["object", "null"]}),
            json!({"type": "object"}),
        );
        check(
            json!({"oneOf": [
                {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["b"]},
            ]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}}),
        );
        check(
            json!({"required": ["x"], "allOf": [{"properties": {"a": {}}, "required": ["a", "x"]}]}),
            json!({"type": "object", "properties": {"a": {}}, "required": ["x", "a"]}),
        );
    }

    #[test]
    fn lists_say_of_what() {
        check(
            json!({"type": "object", "properties": {
                "a": {"type": "array"}, "b": {"anyOf": [{"type": ["array", "null"]}]},
                "c": {"type": "array", "items": {"type": "array"}},
            }}),
            json!({"type": "object", "properties": {
                "a": {"type": "array", "items": {}},
                "b": {"anyOf": [{"type": ["array", "null"], "items": {}}]},
                "c": {"type": "array", "items": {"type": "array", "items": {}}},
            }}),
        );
    }
}
