//! What is said when the server is up: where to point a client, and what to paste.

use std::net::SocketAddr;

use ambit_gateway::http::{Door, Lock};
use serde_json::{Value, json};

use crate::cli::printer::{BOLD, DIM, Printer, styled};

/// Says where agents are.
pub(crate) fn welcome(address: SocketAddr, scheme: &str, door: &Door, printer: &Printer) {
    let base = match address.ip().is_unspecified() {
        // Where it listens is everywhere, and no name; others it goes by are for whoever set it up.
        true => format!("{scheme}://localhost:{}/mcp", address.port()),
        false => format!("{scheme}://{address}/mcp"),
    };
    let agents: Vec<Place<'_>> = door
        .agents
        .iter()
        .map(|(agent, lock)| Place {
            agent,
            url: match door.main.as_ref() == Some(agent) {
                true => base.clone(),
                false => format!("{base}/{agent}"),
            },
            lock,
        })
        .collect();
    if printer.is_json() {
        let agents: Vec<Value> = agents.iter().map(Place::to_json).collect();
        printer.document(json!({"url": base, "address": address.to_string(), "agents": agents}));
        return;
    }
    for place in &agents {
        let lock = match place.lock {
            Lock::Open => "open to this machine",
            Lock::Tokens(_) => "with a token",
        };
        let (agent, url) = (styled(BOLD, place.agent), &place.url);
        printer.line(format!("{agent} at {url} {}", styled(DIM, lock)));
    }
    let main = agents.iter().find(|it| it.url == base).or(agents.first());
    if let Some(place) = main {
        printer.note(styled(DIM, "point a client at it with either of"));
        printer.note(format!("  {}", place.entry()));
        printer.note(format!("  {}", place.command()));
    }
}

/// Where one agent is.
struct Place<'a> {
    agent: &'a str,
    url: String,
    lock: &'a Lock,
}

impl Place<'_> {
    fn needs_token(&self) -> bool {
        *self.lock != Lock::Open
    }

    /// For a client's file.
    fn entry(&self) -> Value {
        let server = match self.needs_token() {
            true => json!({
                "type": "http",
                "url": self.url,
                "headers": {"Authorization": "Bearer TOKEN"},
            }),
            false => json!({"type": "http", "url": self.url}),
        };
        json!({"mcpServers": {"ambit": server}})
    }

    /// For a client's command line.
    fn command(&self) -> String {
        let header = match self.needs_token() {
            true => " --header \"Authorization: Bearer TOKEN\"",
            false => "",
        };
        format!("claude mcp add --transport http ambit {}{header}", self.url)
    }

    fn to_json(&self) -> Value {
        json!({
            "agent": self.agent,
            "url": self.url,
            "needsToken": self.needs_token(),
            "entry": self.entry(),
        })
    }
}
