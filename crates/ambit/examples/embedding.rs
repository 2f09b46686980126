//! The Rust of `docs/embedding.md`, word for word from the first `use` on.
#![allow(clippy::print_stdout)]

use ambit::core::projection::ToolFormat;
use ambit::embed::Ambit;
use ambit::runtime::discovery::TurnRequest;
use ambit::runtime::{CallRequest, CancellationToken};
use serde_json::{Value, json};

/// Stands for your model: given a goal, tools and what was seen, it names a tool to call, or ends.
fn model(_goal: &str, _tools: &[Value], seen: &[String]) -> Option<(String, Value)> {
    let call = ("files__read_file".to_owned(), json!({"path": "notes.txt"}));
    seen.is_empty().then_some(call)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Agents, servers, rules and trust of ambit.json, as the command line finds them.
    let ambit = Ambit::open().await?;
    let session = ambit.session(None).await?;
    let (goal, mut seen) = ("read the notes", Vec::new());
    loop {
        let turn = session
            .next_turn(&TurnRequest::goal(goal), ToolFormat::OpenAi)
            .await;
        println!(
            "turn {}: {} of {} tokens",
            turn.turn, turn.tokens.exposed, turn.tokens.catalog
        );
        let Some((name, arguments)) = model(goal, &turn.tools, &seen) else {
            break;
        };
        let request = CallRequest::new(name, arguments);
        let report = session.call(request, &CancellationToken::new()).await;
        seen.push(serde_json::to_string(&report.observation)?);
    }
    println!("{}", seen.join("\n"));
    Ok(ambit.close().await?)
}
