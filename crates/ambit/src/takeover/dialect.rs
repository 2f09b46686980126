//! How each client writes a server, read into one shape. What a client has no word for is absent;
//! what Ambit has no word for is noted.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::OWN_NAME;
use super::clients::ClientId;
use super::variables::Note;

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launch {
    /// By a program.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment.
        env: BTreeMap<String, String>,
        /// Where it starts.
        cwd: Option<String>,
    },
    /// By an address.
    Address {
        /// The address.
        url: String,
        /// What is sent along.
        headers: BTreeMap<String, String>,
    },
}

/// Why a server stays with its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptReason {
    /// It is Ambit.
    Ambit,
    /// It speaks the transport that was replaced by streamable HTTP.
    Sse,
    /// It is part of the client.
    PartOfClient,
    /// It says neither a program nor an address.
    Unclear,
}

impl KeptReason {
    /// For a person.
    pub fn text(self) -> &'static str {
        match self {
            KeptReason::Ambit => "it is Ambit",
            KeptReason::Sse => "it speaks SSE, which streamable HTTP replaced",
            KeptReason::PartOfClient => "it is part of the client",
            KeptReason::Unclear => "it has neither a command nor an address",
        }
    }
}

/// A server as a client has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundServer {
    /// What the client calls it.
    pub name: String,
    /// How it is reached, or why it stays where it is.
    pub launch: Result<Launch, KeptReason>,
    /// Switched off in the client.
    pub switched_off: bool,
    /// What got lost on the way.
    pub notes: Vec<Note>,
}

/// Keys with which clients offer only some of a server's tools.
const FILTERS: [&str; 6] = [
    "includeTools",
    "excludeTools",
    "disabledTools",
    "enabled_tools",
    "disabled_tools",
    "available_tools",
];

/// Reads one entry of a client's servers.
pub(super) fn read_server(client: ClientId, name: &str, entry: &Value) -> FoundServer {
    let empty = Map::new();
    let entry = entry.as_object().unwrap_or(&empty);
    let mut notes = Vec::new();
    if entry.contains_key("envFile") {
        notes.push(Note::EnvFile);
    }
    let filters = |key: &&str| match entry.get(*key) {
        Some(Value::Array(tools)) => !tools.is_empty(),
        _ => false,
    };
    if FILTERS.iter().any(filters) {
        notes.push(Note::SomeTools);
    }
    let launch = launch(client, entry, &mut notes);
    let launch = match launch {
        Ok(launch) if is_ambit(name, &launch) => Err(KeptReason::Ambit),
        other => other,
    };
    FoundServer {
        name: name.to_owned(),
        launch,
        switched_off: entry.get("disabled") == Some(&Value::Bool(true))
            || entry.get("enabled") == Some(&Value::Bool(false)),
        notes,
    }
}

fn launch(
    client: ClientId,
    entry: &Map<String, Value>,
    notes: &mut Vec<Note>,
) -> Result<Launch, KeptReason> {
    let kind = text(entry, "type").unwrap_or_default();
    if client == ClientId::Goose && !matches!(kind.as_str(), "stdio" | "sse" | "streamable_http")
        || text(entry, "source").is_some_and(|it| it == "extension")
    {
        return Err(KeptReason::PartOfClient);
    }
    if let Some(url) = address(client, entry) {
        if kind == "sse"
            || url
                .split(['?', '#'])
                .next()
                .is_some_and(|it| it.ends_with("/sse"))
        {
            return Err(KeptReason::Sse);
        }
        let headers = headers(client, entry);
        return Ok(Launch::Address { url, headers });
    }
    let (command, args) = command(entry).ok_or(KeptReason::Unclear)?;
    Ok(Launch::Command {
        command,
        args,
        env: environment(client, entry, notes),
        cwd: text(entry, "cwd"),
    })
}

fn address(client: ClientId, entry: &Map<String, Value>) -> Option<String> {
    let keys: &[&str] = match client {
        ClientId::Windsurf => &["serverUrl", "url"],
        ClientId::GeminiCli => &["httpUrl", "url"],
        ClientId::Goose => &["uri"],
        _ => &["url"],
    };
    keys.iter().find_map(|key| text(entry, key))
}

/// `"command": "x"`, `"command": ["x", "y"]`, `"command": {"path": "x"}`, or `cmd: x`.
fn command(entry: &Map<String, Value>) -> Option<(String, Vec<String>)> {
    let args = |it: &Map<String, Value>| texts(it.get("args"));
    match entry.get("command").or(entry.get("cmd"))? {
        Value::String(command) if !command.is_empty() => Some((command.clone(), args(entry))),
        Value::Array(_) => {
            let mut words = texts(entry.get("command")).into_iter();
            Some((words.next()?, words.collect()))
        }
        Value::Object(nested) => Some((text(nested, "path")?, args(nested))),
        _ => None,
    }
}

fn environment(
    client: ClientId,
    entry: &Map<String, Value>,
    notes: &mut Vec<Note>,
) -> BTreeMap<String, String> {
    let nested = entry.get("command").and_then(|it| it.get("env"));
    let key = match client {
        ClientId::Opencode => "environment",
        ClientId::Goose => "envs",
        _ => "env",
    };
    let mut env = pairs(entry.get(key).or(nested));
    match client {
        // Named, and taken from whoever starts Codex.
        ClientId::Codex => {
            for name in texts(entry.get("env_vars")) {
                env.insert(name.clone(), format!("${{env:{name}}}"));
            }
        }
        // Named, and kept in Goose's own keyring.
        ClientId::Goose => {
            for name in texts(entry.get("env_keys")) {
                notes.push(Note::Elsewhere(name.clone()));
                env.insert(name.clone(), format!("${{input:{name}}}"));
            }
        }
        _ => {}
    }
    env
}

fn headers(client: ClientId, entry: &Map<String, Value>) -> BTreeMap<String, String> {
    if client != ClientId::Codex {
        return pairs(entry.get("headers"));
    }
    let mut headers = pairs(entry.get("http_headers"));
    for (header, variable) in pairs(entry.get("env_http_headers")) {
        headers.insert(header, format!("${{env:{variable}}}"));
    }
    if let Some(variable) = text(entry, "bearer_token_env_var") {
        let value = format!("Bearer ${{env:{variable}}}");
        headers.insert("Authorization".to_owned(), value);
    }
    headers
}

/// Whether a server is Ambit: this program wherever it was installed, or what `ambit serve` says
/// to paste. Taken over, it would call itself.
fn is_ambit(name: &str, launch: &Launch) -> bool {
    match launch {
        Launch::Command { command, args, .. } => {
            let program = command.rsplit(['/', '\\']).next().unwrap_or(command);
            program.trim_end_matches(".exe") == OWN_NAME
                && args.first().is_some_and(|it| it == "mcp")
        }
        Launch::Address { url, .. } => {
            let (host, path) = url
                .split_once("://")
                .and_then(|(_, rest)| rest.split_once('/'))
                .unwrap_or_default();
            let here = ["127.0.0.1", "localhost", "[::1]"];
            name == OWN_NAME
                && path.starts_with("mcp")
                && here.iter().any(|it| host.starts_with(it))
        }
    }
}

fn text(entry: &Map<String, Value>, key: &str) -> Option<String> {
    let text = entry.get(key)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array);
    items.into_iter().flatten().filter_map(plain).collect()
}

fn pairs(value: Option<&Value>) -> BTreeMap<String, String> {
    let entries = value.and_then(Value::as_object).into_iter().flatten();
    entries
        .filter_map(|(key, value)| Some((key.clone(), plain(value)?)))
        .collect()
}

/// Numbers and booleans stand in these places too, and mean their text.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}
