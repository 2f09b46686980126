//! The fixture behind `ambit serve`: everything the suite finds alone, it finds here.

use ambit_testkit::{Home, Served, example};
use serde_json::{Value, json};

use crate::server::{Part, fixture};
use crate::suite::Suite;

/// How Ambit reaches the fixture.
#[derive(Clone, Copy)]
enum Upstream {
    /// As a child.
    Stdio,
    /// As a child that has only sessions.
    Sessions,
    /// As a child that has none.
    Stateless,
    /// At an address.
    Http,
}

impl Upstream {
    /// What it is called in `expected.txt`.
    fn name(self) -> &'static str {
        match self {
            Upstream::Stdio => "stdio",
            Upstream::Sessions => "sessions",
            Upstream::Stateless => "stateless",
            Upstream::Http => "http",
        }
    }
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
            Upstream::Stdio => (child(&["--stdio"]), None),
            Upstream::Sessions => (child(&["--stdio", "--sessions"]), None),
            Upstream::Stateless => (child(&["--stdio", "--stateless"]), None),
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

fn child(args: &[&str]) -> Value {
    json!({"command": example("conformance_server"), "args": args})
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
    let subject = format!("{}/{}", upstream.name(), part.name());
    let mut extent = part.extent();
    if matches!(part, Part::Stateless) {
        // That three requests at once get a stream each is checked only of servers that answer
        // with streams where one message does.
        extent.checks = extent.checks.map(|it| it - 1);
    }
    part.run(&suite, &gateway.served.url).is(&subject, &extent);
}

#[test]
fn a_child_behind_ambit_meets_2025_11_25() {
    check(Upstream::Stdio, &Part::Sessions);
}

#[test]
fn a_child_behind_ambit_meets_2026_07_28_and_tasks() {
    check(Upstream::Stdio, &Part::Stateless);
}

#[test]
fn a_child_behind_ambit_serves_skills() {
    check(Upstream::Stdio, &Part::Skills);
}

#[test]
fn an_address_behind_ambit_meets_2025_11_25() {
    check(Upstream::Http, &Part::Sessions);
}

#[test]
fn an_address_behind_ambit_meets_2026_07_28_and_tasks() {
    check(Upstream::Http, &Part::Stateless);
}

#[test]
fn an_address_behind_ambit_serves_skills() {
    check(Upstream::Http, &Part::Skills);
}

#[test]
fn a_stateless_child_behind_ambit_meets_2025_11_25() {
    check(Upstream::Stateless, &Part::Sessions);
}

#[test]
fn a_child_with_sessions_behind_ambit_meets_2026_07_28() {
    check(Upstream::Sessions, &Part::Stateless);
}
