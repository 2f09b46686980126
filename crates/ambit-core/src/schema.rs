//! JSON Schema 2020-12 without any way out: no remote and no file references.

use std::sync::Arc;

use serde_json::Value;
use thiserror::Error;

/// How many problems one check reports.
const MAX_PROBLEMS: usize = 8;

/// A schema that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not a usable JSON Schema: {0}")]
pub struct SchemaError(String);

/// One way a value does not fit.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SchemaProblem {
    /// Where, as a JSON pointer.
    pub at: String,
    /// What is wrong there.
    pub message: String,
}

/// A schema ready to check values.
#[derive(Clone, Debug)]
pub struct CompiledSchema(Arc<jsonschema::Validator>);

impl CompiledSchema {
    /// Compiles it, or says why it cannot be used.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .offline()
            .build(schema)
            .map(|it| CompiledSchema(Arc::new(it)))
            .map_err(|error| SchemaError(clip(&error.to_string())))
    }

    /// Whether a value fits; the first few problems where it does not.
    pub fn check(&self, value: &Value) -> Result<(), Vec<SchemaProblem>> {
        // The yes/no answer is far cheaper than collecting errors, and is the common case.
        if self.0.is_valid(value) {
            return Ok(());
        }
        let problems = self
            .0
            .iter_errors(value)
            .take(MAX_PROBLEMS)
            .map(|error| SchemaProblem {
                at: error.instance_path().to_string(),
                // Without the value: cut off in its middle, a secret could not be recognised.
                message: clip(&error.masked().to_string()),
            })
            .collect();
        Err(problems)
    }
}

/// Problems quote names; large ones must not come back as a large message.
fn clip(text: &str) -> String {
    const MOST: usize = 300;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or("")),
        None => text.to_owned(),
    }
}

/// All problems in one line, for a reason.
pub fn describe(problems: &[SchemaProblem]) -> String {
    let lines: Vec<_> = problems
        .iter()
        .map(|it| {
            if it.at.is_empty() {
                it.message.clone()
            } else {
                format!("at `{}`: {}", it.at, it.message)
            }
        })
        .collect();
    lines.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn problems_say_where() {
        let schema = CompiledSchema::compile(&json!({
            "type": "object", "required": ["path"],
            "properties": {"path": {"type": "string"}, "n": {"type": "integer", "minimum": 1}},
            "additionalProperties": false
        }))
        .unwrap();
        assert!(schema.check(&json!({"path": "x", "n": 2})).is_ok());
        for (value, at) in [
            (json!({"path": 1}), "/path"),
            (json!({"path": "x", "n": 0}), "/n"),
            (json!({}), ""),
            (json!({"path": "x", "q": 1}), ""),
        ] {
            assert_eq!(schema.check(&value).unwrap_err()[0].at, at, "{value}");
        }
        let long = json!({"path": "x", "n": "y".repeat(10_000)});
        assert!(describe(&schema.check(&long).unwrap_err()).len() < 1000);
    }

    #[test]
    fn no_reference_leaves_the_schema() {
        for target in [
            "https://example.com/schema.json",
            "file:///etc/passwd",
            "other.json",
        ] {
            assert!(
                CompiledSchema::compile(&json!({"$ref": target})).is_err(),
                "{target}"
            );
        }
        let inside = json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}});
        assert!(
            CompiledSchema::compile(&inside)
                .unwrap()
                .check(&json!(1))
                .is_ok()
        );
        assert!(CompiledSchema::compile(&json!({"type": 7})).is_err());
    }
}
