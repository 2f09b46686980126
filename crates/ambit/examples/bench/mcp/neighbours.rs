//! What one server's fault costs another: calls of a healthy server, before and while a call of a
//! faulty one is under way in the same process.

use std::error::Error;
use std::time::Duration;

use serde_json::json;

use super::client::Client;
use super::contenders::{beside, home, serve};
use crate::report::{Baseline, Figure, Quantity, Spread};

const FAULTS: [&str; 4] = [
    "hangs",
    "floods",
    "floods with garbage",
    "floods with requests",
];
const ECHO: &str = "echo__echo";
const TIME: Duration = Duration::from_secs(3);

pub(crate) fn measure() -> Result<Vec<Figure>, Box<dyn Error>> {
    let mut figures = Vec::new();
    for fault in FAULTS {
        let home = home(&json!({"mcpServers": {
            "echo": {"command": beside("examples/bench_echo")?},
            "faulty": {"command": beside("examples/faulty_server")?, "env": {"FAULT": fault}},
        }}))?;
        let mut client = Client::start(serve(home.path())?)?;
        client.hello()?;
        // The first time starts it.
        client.calls(ECHO, 1, TIME / 10)?;
        let without = client.calls(ECHO, 1, TIME)?.each;
        let faulty = json!({"name": "faulty__work", "arguments": {}});
        client.send("tools/call", &faulty)?;
        let with = client.calls(ECHO, 1, TIME)?.each;
        let (without, with) = (Spread::of(without), Spread::of(with));
        for (what, with, without) in [
            ("median", with.median, without.median),
            ("p99", with.p99, without.p99),
        ] {
            figures.push(Figure {
                bench: "mcp",
                case: format!("echo beside a server that {fault}, {what}"),
                measured: Quantity::new(with, "ms"),
                target: None,
                baselines: vec![Baseline {
                    what: "without it",
                    measured: Quantity::new(without, "ms"),
                }],
            });
        }
    }
    Ok(figures)
}
