//! Ambit's upstream half as the official conformance suite wants to see a client: it lists what
//! the server at the address in the last argument offers, and calls it.
//!
//! The suite names its scenario in `MCP_CONFORMANCE_SCENARIO`, and may say in
//! `MCP_CONFORMANCE_CONTEXT` what to call. Otherwise every tool and prompt is called, with its
//! required arguments filled in by their types, and every resource read. What the server asks is
//! answered as somebody would who leaves every form as it is, and who logs in where that is asked.

// Test support is test code.
#![allow(clippy::indexing_slicing)]

#[path = "support/person.rs"]
mod person;

use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;

use ambit_core::code::Code;
use ambit_core::manifest::CapabilityManifest;
use ambit_core::observation::Failure;
use ambit_mcp::{McpError, McpServer, ServerSpec, Transport};
use ambit_runtime::conversation::{
    Answers, Caller, Conversation, Notice, Question, QuestionKind, Questions, Unanswered,
};
use ambit_runtime::skill::SkillFiles;
use async_trait::async_trait;
use person::Person;
use serde_json::{Map, Value, json};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().next_back().unwrap_or_default();
    let spec = ServerSpec::new(
        "suite",
        Transport::Http {
            url,
            headers: Vec::new(),
        },
    );
    let person = Person::new(&spec);
    let server = McpServer::with_tokens(spec, person.tokens());
    let offered = loop {
        match server.list().await {
            Err(error) if matches!(*error, McpError::LoginNeeded { .. }) => {
                person.follow(&error.to_string()).await?;
            }
            listed => break listed?,
        }
    };
    for (tool, arguments) in calls(&offered) {
        while let Err(failure) = call(&server, tool, arguments.clone()).await?
            && failure.code == Code::LoginRequired
        {
            person.follow(&failure.message).await?;
        }
    }
    load_skills(&server, &offered).await?;
    server.stop().await;
    Ok(())
}

/// Lists the skills, and reads each as a host that loads it would: `SKILL.md`, and if that is what
/// it should be, the other files.
async fn load_skills(
    server: &Arc<McpServer>,
    offered: &[CapabilityManifest],
) -> Result<(), Box<dyn Error>> {
    let skills = server.provider().skills().await;
    let skills = skills.map_err(|error| error.message)?;
    let any = offered.iter().find(|it| it.id.is_any_resource());
    // What matters there is that nothing is read before a skill is loaded.
    let Some(any) = any.filter(|_| scenario() != "sep-2640-client-no-prefetch") else {
        return Ok(());
    };
    for skill in skills {
        if call(server, any, json!({"uri": skill.uri})).await?.is_err() {
            continue;
        }
        if let SkillFiles::Listed(files) = &skill.resources {
            for file in files.iter().filter(|it| it.uri != skill.uri) {
                let _ = call(server, any, json!({"uri": file.uri})).await?;
            }
        }
    }
    Ok(())
}

/// Leaves every form as it is, has a model that always says the same, and works nowhere.
#[derive(Debug)]
struct Somebody;

#[async_trait]
impl Caller for Somebody {
    fn abilities(&self) -> Map<String, Value> {
        let words = QuestionKind::ALL.map(QuestionKind::ability);
        words
            .map(|it| (it.to_owned(), json!({})))
            .into_iter()
            .collect()
    }

    async fn ask(&self, questions: Questions) -> Result<Answers, Unanswered> {
        let answers = questions.into_iter().map(|(key, it)| (key, answer(&it)));
        Ok(answers.collect())
    }

    async fn tell(&self, _: Notice) {}

    fn name(&self) -> &str {
        "somebody"
    }
}

fn answer(question: &Question) -> Value {
    match question.kind {
        QuestionKind::Elicitation => {
            let fields = question.params["requestedSchema"]["properties"].as_object();
            let defaults = fields.into_iter().flatten();
            let content: Map<String, Value> = defaults
                .map(|(name, schema)| {
                    let default = schema.get("default").cloned();
                    (name.clone(), default.unwrap_or_else(|| of_type(schema)))
                })
                .collect();
            json!({"action": "accept", "content": content})
        }
        QuestionKind::Sampling => json!({
            "role": "assistant",
            "content": {"type": "text", "text": "text"},
            "model": "none",
        }),
        QuestionKind::Roots => json!({"roots": []}),
    }
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
    match scenario().as_str() {
        // Has nothing to call: what matters is that nothing else is fetched.
        "json-schema-ref-no-deref" => Vec::new(),
        // Wants to see the schema of one tool as the argument of the other.
        "json-schema-2020-12-preservation" => named("json_schema_2020_12_tool")
            .zip(named("json_schema_echo"))
            .map(|(tool, echo)| (echo, json!({"schema": tool.input_schema})))
            .into_iter()
            .collect(),
        _ => offered
            .iter()
            .filter(|it| !it.id.is_template())
            .map(|it| (it, filled_in(it)))
            .collect(),
    }
}

fn scenario() -> String {
    std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default()
}

/// Something of the type a schema names.
fn of_type(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("number" | "integer") => json!(2),
        Some("boolean") => json!(true),
        Some("object") => json!({}),
        Some("array") => json!([]),
        _ => json!("text"),
    }
}

/// The required arguments, with something of the right type in each.
fn filled_in(tool: &CapabilityManifest) -> Value {
    let required = tool.input_schema["required"].as_array();
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    let arguments: Map<_, _> = names
        .map(|name| {
            let schema = &tool.input_schema["properties"][name];
            (name.to_owned(), of_type(schema))
        })
        .collect();
    Value::Object(arguments)
}

/// A call that fails is something to tell, and the next one is made.
async fn call(
    server: &Arc<McpServer>,
    tool: &CapabilityManifest,
    arguments: Value,
) -> std::io::Result<Result<(), Failure>> {
    let somebody = Conversation::with(Arc::new(Somebody));
    match server.run(&tool.id, None, arguments, &somebody).await {
        Ok(output) => {
            writeln!(std::io::stderr(), "{}: {:?}", tool.id, output.content)?;
            Ok(Ok(()))
        }
        Err(failure) => {
            writeln!(std::io::stderr(), "{}: {failure:?}", tool.id)?;
            Ok(Err(failure))
        }
    }
}
