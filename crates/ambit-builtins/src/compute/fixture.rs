//! Calling a function as the executor does, with its result checked against its schema.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ambit_core::observation::{Failure, Output};
use ambit_core::schema::CompiledSchema;
use serde_json::Value;

use super::{Budget, TABLE};
use crate::stop::Stop;

static OUTPUTS: LazyLock<BTreeMap<&str, CompiledSchema>> = LazyLock::new(|| {
    let compiled = |schema: fn() -> Value| CompiledSchema::compile(&schema()).unwrap();
    TABLE
        .iter()
        .filter_map(|it| Some((it.name, compiled(it.output?))))
        .collect()
});

pub(super) fn call(name: &str, arguments: Value) -> Result<Output, Failure> {
    let function = TABLE.get(name).unwrap();
    let output = function.run(arguments, &mut Budget::new(&Stop::default()))?;
    match (OUTPUTS.get(name), &output.structured) {
        (Some(schema), Some(structured)) => schema.check(structured).unwrap(),
        (schema, structured) => assert!(schema.is_none() && structured.is_none()),
    }
    Ok(output)
}

/// The result as one text, or the refusal with its code before it.
pub(super) fn text(name: &str, arguments: Value) -> String {
    match call(name, arguments) {
        Ok(output) => {
            let parts = output.content.iter().filter_map(|it| it.as_text());
            parts.collect::<Vec<_>>().join("\n")
        }
        Err(failure) => format!("{}: {}", failure.code.as_str(), failure.message),
    }
}

/// The structured result.
pub(super) fn structured(name: &str, arguments: Value) -> Value {
    call(name, arguments).unwrap().structured.unwrap()
}
