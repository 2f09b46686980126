//! What many servers and many sessions cost: memory, and the time of a call among them.

use std::time::Duration;

use serde_json::json;
use tokio::task::LocalSet;

use super::contenders::{Listening, ambit};
use super::raw::Raw;
use super::subject::{By, Subject};
use super::{Era, Outcome};
use crate::mcp::contenders::beside;
use crate::report::{Baseline, Figure, Quantity, Spread};

const SERVERS: [usize; 3] = [1, 10, 100];
const SESSIONS: [usize; 3] = [1, 100, 1000];
const TIME: Duration = Duration::from_secs(2);

pub(crate) async fn measure() -> Outcome<Vec<Figure>> {
    let mut figures = Vec::new();
    for count in SERVERS {
        let echo = json!({"command": beside("examples/bench_echo")?});
        let servers: serde_json::Map<_, _> = (0..count)
            .map(|number| (name(number), echo.clone()))
            .collect();
        let gateway = ambit(&json!({"mcpServers": servers}))?;
        // Each is called once, so that all of them run.
        for number in 0..count {
            let tool = format!("{}__echo", name(number));
            let raw = Raw::new(&gateway.url, Era::Stateless, &tool).await?;
            raw.call(&mut raw.connect().await?).await?;
        }
        let last = format!("{}__echo", name(count - 1));
        figures.push(figure(&format!("{count} servers"), &gateway, &last).await?);
    }
    let echo = json!({"echo": {"command": beside("examples/bench_echo")?}});
    for count in SESSIONS {
        let gateway = ambit(&json!({"mcpServers": echo}))?;
        for _ in 0..count {
            let raw = Raw::new(&gateway.url, Era::Sessions, gateway.tool).await?;
            raw.call(&mut raw.connect().await?).await?;
        }
        figures.push(figure(&format!("{count} sessions"), &gateway, gateway.tool).await?);
    }
    Ok(figures)
}

fn name(number: usize) -> String {
    format!("echo{number}")
}

async fn figure(case: &str, gateway: &Listening, tool: &str) -> Outcome<Figure> {
    let resident = gateway.resident()?;
    let local = LocalSet::new();
    let mut subject = Subject::connect(By::Raw, &gateway.url, Era::Sessions, tool).await?;
    let calls = local.run_until(subject.calls(1, TIME)).await?;
    let spread = Spread::of(calls.each);
    Ok(Figure {
        bench: "http",
        case: format!("{case}, one call at a time"),
        measured: Quantity::new(spread.median, "ms"),
        target: None,
        baselines: vec![
            Baseline {
                what: "p99",
                measured: Quantity::new(spread.p99, "ms"),
            },
            Baseline {
                what: "resident memory",
                measured: Quantity::new(resident, "MB"),
            },
        ],
    })
}
