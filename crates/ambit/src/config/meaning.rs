//! What a schema cannot say: names that become parts of ids, servers with one address, rules
//! about something. Looks at the raw value, so it finds its problems beside the schema's.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use ambit_core::effects::Effect;
use ambit_core::id::{is_owner, skeleton};
use ambit_core::suggest::{did_you_mean, suggest};
use ambit_gateway::http::{AllowedHost, AllowedOrigin};
use serde_json::{Map, Value};

use super::jsonc::{Document, Spot, child};
use super::problem::{MAX_PROBLEMS, Problem};
use super::schema;
use ambit_core::permission::Subject;

/// What is wrong (errors) and what will be ignored (warnings).
pub(super) fn check(document: &Document) -> Vec<Problem> {
    let mut meaning = Meaning {
        document,
        problems: Vec::new(),
    };
    meaning.names("/mcpServers", "server_name_invalid");
    meaning.names("/agents", "agent_name_invalid");
    meaning.names("/models", "model_name_invalid");
    for (name, server) in entries(&document.value, "/mcpServers") {
        meaning.server(&child("/mcpServers", name), name, server);
    }
    meaning.rules("/permissions");
    for (name, agent) in entries(&document.value, "/agents") {
        let at = child("/agents", name);
        meaning.rules(&child(&at, "permissions"));
        meaning.repeated_keys(&child(&at, "capabilities"), agent);
    }
    meaning.hooks();
    meaning.serve();
    meaning.problems
}

fn entries<'a>(
    value: &'a Value,
    pointer: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
    let map = value.pointer(pointer).and_then(Value::as_object);
    map.into_iter().flat_map(Map::iter)
}

fn items<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    let list = value.pointer(pointer).and_then(Value::as_array);
    list.into_iter().flatten()
}

struct Meaning<'a> {
    document: &'a Document,
    problems: Vec<Problem>,
}

impl Meaning<'_> {
    fn add(&mut self, problem: Problem, pointer: &str, spot: Spot) {
        if self.problems.len() < MAX_PROBLEMS {
            let place = self.document.place(pointer, spot);
            self.problems.push(problem.at(place));
        }
    }

    /// Names become parts of ids, commands and addresses.
    fn names(&mut self, pointer: &str, code: &'static str) {
        let mut seen: BTreeMap<String, &str> = BTreeMap::new();
        let document = self.document;
        for (name, _) in entries(&document.value, pointer) {
            let at = child(pointer, name);
            if !is_owner(name) {
                let problem = Problem::error(code, format!("`{name}` cannot be a name here")).hint(
                    "use letters, digits, `-` and single `_`, beginning with a letter or digit, at most 64",
                );
                self.add(problem, &at, Spot::Key);
            } else if let Some(other) = seen.insert(skeleton(name), name) {
                let problem =
                    Problem::error("names_look_alike", format!("`{name}` looks like `{other}`"))
                        .hint("give one of them a name nobody can mistake for the other");
                self.add(problem, &at, Spot::Key);
            }
        }
    }

    fn server(&mut self, at: &str, name: &str, server: &Value) {
        let Some(server) = server.as_object() else {
            return;
        };
        match (server.get("command"), server.get("url")) {
            (None, None) => {
                let message = format!("server `{name}` has neither `command` nor `url`");
                let problem = Problem::error("server_incomplete", message)
                    .hint("give it a program to start, or an address");
                self.add(problem, at, Spot::Key);
            }
            (Some(_), Some(_)) => {
                let message = format!("server `{name}` has both `command` and `url`");
                let problem = Problem::error("server_ambiguous", message)
                    .hint("keep the program to start, or the address");
                self.add(problem, at, Spot::Key);
            }
            (Some(Value::String(text)), _) | (_, Some(Value::String(text)))
                if text.trim().is_empty() =>
            {
                let message = format!("server `{name}` has an empty address");
                self.add(Problem::error("server_incomplete", message), at, Spot::Key);
            }
            _ => {}
        }
        if server.get("type").and_then(Value::as_str) == Some("sse") {
            let message = format!("server `{name}` asks for `sse`, which is spoken no more");
            let problem = Problem::warning("server_transport", message)
                .hint("it is tried as streamable HTTP; most servers offer that at another path");
            self.add(problem, &child(at, "type"), Spot::Value);
        }
        let known = server_keys();
        for key in server.keys().filter(|key| !known.contains(&key.as_str())) {
            let problem = Problem::warning(
                "unknown_server_key",
                format!("`{key}` of server `{name}` is not known and does nothing"),
            );
            let hint = did_you_mean(&suggest(key, known.iter().copied()));
            self.add(Problem { hint, ..problem }, &child(at, key), Spot::Key);
        }
    }

    fn rules(&mut self, at: &str) {
        for list in ["allow", "ask", "deny"] {
            self.subjects(&child(at, list));
        }
    }

    fn subjects(&mut self, pointer: &str) {
        let document = self.document;
        for (n, text) in items(&document.value, pointer).enumerate() {
            let Some(Err(message)) = text.as_str().map(str::parse::<Subject>) else {
                continue;
            };
            let text = text.as_str().unwrap_or_default();
            let effects = Effect::ALL.map(Effect::as_str);
            let hint = did_you_mean(&suggest(text, effects)).unwrap_or_else(|| {
                "such as `mcp__github__search_issues`, `fs:write` or `writes`".to_owned()
            });
            let problem = Problem::error("rule_invalid", message).hint(hint);
            self.add(problem, &child(pointer, &n.to_string()), Spot::Value);
        }
    }

    fn repeated_keys(&mut self, pointer: &str, agent: &Value) {
        let mut seen = BTreeSet::new();
        let keys = items(agent, "/capabilities").enumerate();
        for (n, key) in keys.filter_map(|(n, key)| Some((n, key.as_str()?))) {
            if !seen.insert(key) {
                let message = format!("capability `{key}` is listed twice");
                let at = child(pointer, &n.to_string());
                self.add(
                    Problem::error("capability_repeated", message),
                    &at,
                    Spot::Value,
                );
            }
        }
    }

    fn serve(&mut self) {
        let document = self.document;
        let mut check = |pointer: &str, what: &str, hint: &str, is_fine: &dyn Fn(&str) -> bool| {
            for (n, text) in items(&document.value, pointer).enumerate() {
                if let Some(text) = text.as_str().filter(|it| !is_fine(it)) {
                    let problem = Problem::error("serve_invalid", format!("`{text}` is no {what}"));
                    let at = child(pointer, &n.to_string());
                    self.add(problem.hint(hint), &at, Spot::Value);
                }
            }
        };
        check(
            "/serve/hosts",
            "name of a host",
            "such as `ambit.example` or `ambit.example:8443`",
            &|it| AllowedHost::parse(it).is_some(),
        );
        check(
            "/serve/origins",
            "origin",
            "such as `https://app.example`",
            &|it| AllowedOrigin::parse(it).is_some(),
        );
        let listen = document
            .value
            .pointer("/serve/listen")
            .and_then(Value::as_str);
        if let Some(text) = listen.filter(|it| it.parse::<SocketAddr>().is_err()) {
            let problem = Problem::error(
                "serve_invalid",
                format!("`{text}` is no address to listen on"),
            )
            .hint("such as `127.0.0.1:7777`");
            self.add(problem, "/serve/listen", Spot::Value);
        }
    }

    fn hooks(&mut self) {
        let document = self.document;
        let mut seen = BTreeSet::new();
        for (n, hook) in items(&document.value, "/hooks").enumerate() {
            let at = child("/hooks", &n.to_string());
            self.subjects(&child(&at, "only"));
            let Some(name) = hook.get("name").and_then(Value::as_str) else {
                continue;
            };
            if !seen.insert(name) {
                let problem =
                    Problem::error("hook_repeated", format!("there are two hooks `{name}`"));
                self.add(problem, &child(&at, "name"), Spot::Value);
            }
        }
    }
}

fn server_keys() -> Vec<&'static str> {
    let properties = schema::borrowed().pointer("/$defs/McpServer/properties");
    let properties = properties.and_then(Value::as_object);
    let keys = properties.into_iter().flat_map(|it| it.keys());
    keys.map(String::as_str).collect()
}
