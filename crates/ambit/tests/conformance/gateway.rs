//! The fixture behind `ambit serve`: everything the suite finds alone, it finds here.

use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::program::{Served, example};
use crate::server::{Part, fixture};
use crate::suite::Suite;

/// How Ambit reaches the fixture.
#[derive(Clone, Copy)]
enum Upstream {
    /// As a child.
    Stdio,
    /// At an address.
    Http,
}

/// Ambit in front, and what has to live as long as it does.
struct Gateway {
    served: Served,
    _home: Home,
    _upstream: Option<Served>,
}

impl Gateway {
    fn start(upstream: Upstream) -> Gateway {
        let (entry, upstream) = match upstream {
            Upstream::Stdio => {
                let command = example("conformance_server");
                (json!({"command": command, "args": ["--stdio"]}), None)
            }
            Upstream::Http => {
                let fixture = fixture();
                (json!({"url": fixture.url}), Some(fixture))
            }
        };
        let home = Home::new(env!("CARGO_BIN_EXE_ambit"));
        home.user_config(&config(entry).to_string());
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--style", "full"];
        Gateway {
            served: Served::start(home.command(&arguments)),
            _home: home,
            _upstream: upstream,
        }
    }
}

/// One server under its own names, with nothing left to ask about: the suite has nobody who could
/// answer.
fn config(mut entry: Value) -> Value {
    if let Some(entry) = entry.as_object_mut() {
        entry.insert("names".to_owned(), json!("bare"));
    }
    json!({
        "mcpServers": {"conformance": entry},
        "agents": {"default": {
            "capabilities": {"conformance": {}},
            "permissions": {"allow": ["mcp:conformance"]},
        }},
    })
}

#[track_caller]
fn check(upstream: Upstream, part: &Part) {
    let Some(suite) = Suite::installed() else {
        return;
    };
    let gateway = Gateway::start(upstream);
    let reached = match upstream {
        Upstream::Stdio => "stdio",
        Upstream::Http => "http",
    };
    let subject = format!("{reached}/{}", part.name());
    part.run(&suite, &gateway.served.url)
        .is(&subject, part.checks());
}

#[test]
#[ignore = "needs ambit serve"]
fn a_child_behind_ambit_meets_2025_11_25() {
    check(Upstream::Stdio, &Part::Sessions);
}

#[test]
#[ignore = "needs ambit serve"]
fn a_child_behind_ambit_meets_2026_07_28_and_tasks() {
    check(Upstream::Stdio, &Part::Stateless);
}

#[test]
#[ignore = "needs ambit serve"]
fn a_child_behind_ambit_serves_skills() {
    check(Upstream::Stdio, &Part::Skills);
}

#[test]
#[ignore = "needs ambit serve"]
fn an_address_behind_ambit_meets_2025_11_25() {
    check(Upstream::Http, &Part::Sessions);
}

#[test]
#[ignore = "needs ambit serve"]
fn an_address_behind_ambit_meets_2026_07_28_and_tasks() {
    check(Upstream::Http, &Part::Stateless);
}

#[test]
#[ignore = "needs ambit serve"]
fn an_address_behind_ambit_serves_skills() {
    check(Upstream::Http, &Part::Skills);
}
