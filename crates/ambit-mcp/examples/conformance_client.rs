//! Ambit's upstream half as the official conformance suite wants to see a client: it lists what
//! the server at the address in the last argument offers, and calls it.
//!
//! The suite names its scenario in `MCP_CONFORMANCE_SCENARIO`, and may say in
//! `MCP_CONFORMANCE_CONTEXT` what to call. Otherwise every tool is called, with its required
//! arguments filled in by their types.

// Test support is test code.
#![allow(clippy::indexing_slicing)]

use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;

use ambit_core::manifest::CapabilityManifest;
use ambit_mcp::{McpServer, ServerSpec, Transport};
use serde_json::{Map, Value, json};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().next_back().unwrap_or_default();
    let server = McpServer::new(ServerSpec::new(
        "suite",
        Transport::Http {
            url,
            headers: Vec::new(),
        },
    ));
    let offered = server.list().await?;
    for (tool, arguments) in calls(&offered) {
        call(&server, tool, arguments).await?;
    }
    server.stop().await;
    Ok(())
}

/// What to call with what, in this scenario.
fn calls(offered: &[CapabilityManifest]) -> Vec<(&CapabilityManifest, Value)> {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let named = |name: &str| offered.iter().find(|it| it.id.name() == name);
    let context: Value =
        serde_json::from_str(&variable("MCP_CONFORMANCE_CONTEXT")).unwrap_or_default();
    if let Some(calls) = context["toolCalls"].as_array() {
        let calls = calls.iter().filter_map(|it| {
            let tool = named(it["name"].as_str()?)?;
            Some((tool, it["arguments"].clone()))
        });
        return calls.collect();
    }
    match variable("MCP_CONFORMANCE_SCENARIO").as_str() {
        // Has nothing to call: what matters is that nothing else is fetched.
        "json-schema-ref-no-deref" => Vec::new(),
        // Wants to see the schema of one tool as the argument of the other.
        "json-schema-2020-12-preservation" => named("json_schema_2020_12_tool")
            .zip(named("json_schema_echo"))
            .map(|(tool, echo)| (echo, json!({"schema": tool.input_schema})))
            .into_iter()
            .collect(),
        _ => offered.iter().map(|it| (it, filled_in(it))).collect(),
    }
}

/// The required arguments, with something of the right type in each.
fn filled_in(tool: &CapabilityManifest) -> Value {
    let required = tool.input_schema["required"].as_array();
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    let arguments: Map<_, _> = names
        .map(|name| {
            let kind = &tool.input_schema["properties"][name]["type"];
            let value = match kind.as_str() {
                Some("number" | "integer") => json!(2),
                Some("boolean") => json!(true),
                Some("object") => json!({}),
                Some("array") => json!([]),
                _ => json!("text"),
            };
            (name.to_owned(), value)
        })
        .collect();
    Value::Object(arguments)
}

/// A call that fails is something to tell, and the next one is made.
async fn call(
    server: &Arc<McpServer>,
    tool: &CapabilityManifest,
    arguments: Value,
) -> std::io::Result<()> {
    match server.call(&tool.id, arguments).await {
        Ok(output) => writeln!(std::io::stderr(), "{}: {:?}", tool.id, output.content),
        Err(failure) => writeln!(std::io::stderr(), "{}: {failure:?}", tool.id),
    }
}
