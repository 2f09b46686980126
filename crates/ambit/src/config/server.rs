//! What a file may say about one MCP server: the object people paste from READMEs, and a few keys
//! of Ambit's own beside it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use ambit_core::effects::{Effect, Effects};
use ambit_core::wire::Naming;
use ambit_mcp::{ClientChoice, EffectOverrides, NewTools, Provenance, Sharing, Timeouts};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;

use super::defaults;
use super::file::Origin;
use crate::secrets::SecretValue;

/// One MCP server: a program to start (`command`) or an address (`url`).
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpServer {
    /// The program to start.
    #[serde(default)]
    pub command: Option<String>,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its environment, besides PATH, HOME, locale, temporary directory and proxies.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub env: BTreeMap<String, SecretValue>,
    /// The directory it starts in. Default: the workspace.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// The server's address, for streamable HTTP.
    #[serde(default)]
    pub url: Option<String>,
    /// HTTP headers to send along.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub headers: BTreeMap<String, SecretValue>,
    /// How Ambit logs in to it, where it does not simply register itself.
    #[serde(default)]
    pub oauth: OauthSettings,
    /// Accepted because other clients write it; `command` or `url` already says it.
    #[serde(rename = "type", default)]
    pub transport: Option<String>,
    /// Leaves the server out without deleting it.
    #[serde(default)]
    pub disabled: bool,
    /// How it is used.
    #[serde(flatten)]
    pub settings: ServerSettings,
    /// What other clients write here and Ambit does not know.
    #[serde(flatten)]
    pub unknown: BTreeMap<String, Value>,
    /// Whose file it stands in.
    #[serde(skip)]
    pub origin: Origin,
}

impl McpServer {
    /// Whose configuration named it.
    pub fn provenance(&self) -> Provenance {
        match self.origin {
            Origin::User => Provenance::Own,
            Origin::Project | Origin::Implied => Provenance::Foreign,
        }
    }

    /// What becomes of tools it adds: those of somebody else's server wait for a person.
    pub fn new_tools(&self) -> NewTools {
        self.settings.new_tools.unwrap_or(match self.provenance() {
            Provenance::Own => NewTools::Allow,
            Provenance::Foreign => NewTools::Ask,
        })
    }
}

/// How Ambit logs in to a server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OauthSettings {
    /// The id of a client you registered by hand; or the https address of a client id metadata
    /// document, used where the authorization server reads such.
    #[serde(default)]
    pub client_id: Option<String>,
    /// What proves that client, as ${secret:NAME}.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub client_secret: Option<SecretValue>,
    /// The scopes to ask for. Default: those the server names.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The port the browser comes back to, where one had to be registered. Default: any.
    #[serde(default)]
    pub callback_port: Option<u16>,
}

impl OauthSettings {
    /// As whom Ambit introduces itself.
    pub fn client(&self) -> ClientChoice {
        match &self.client_id {
            None => ClientChoice::Registered,
            Some(url) if url.starts_with("https://") => ClientChoice::Document(url.clone()),
            Some(id) => ClientChoice::Known {
                id: id.clone(),
                secret: self.client_secret.as_ref().map(|it| it.expose().to_owned()),
            },
        }
    }
}

/// How a server is used.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerSettings {
    /// How its tools are called towards a model: `server__tool`, or by their bare names.
    #[serde(default)]
    #[schemars(schema_with = "names_schema", extend("default" = "prefixed"))]
    pub names: Naming,
    /// What becomes of a tool that was not there when the server was first seen. Default: `allow`
    /// for your own servers, `ask` for a project's.
    #[serde(default)]
    #[schemars(schema_with = "new_tools_schema")]
    pub new_tools: Option<NewTools>,
    /// What its tools do, whatever the server says: by the name of a tool, and `*` for all others.
    #[serde(default)]
    #[schemars(schema_with = "effects_schema")]
    pub effects: BTreeMap<String, Effects>,
    /// Seconds a call may run. The limit `callSeconds` holds as well.
    #[serde(default)]
    #[schemars(range(min = 1, max = 86400))]
    pub timeout_seconds: Option<u64>,
    /// Seconds until it must have connected and listed its tools.
    #[serde(default)]
    #[schemars(range(min = 1, max = 3600), extend("default" = defaults::CONNECT_SECONDS))]
    pub connect_seconds: Option<u64>,
    /// Seconds without a call after which it is let go; `false` keeps it.
    #[serde(default)]
    #[schemars(schema_with = "idle_schema", extend("default" = defaults::IDLE_SECONDS))]
    pub idle_seconds: Option<Idle>,
    /// How many calls may run at once.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1024), extend("default" = defaults::CONCURRENCY))]
    pub concurrency: Option<u16>,
    /// Whether each session has a connection of its own.
    #[serde(default)]
    pub per_session: bool,
}

/// After which time a server that nobody needs is let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Idle {
    /// After so many seconds.
    Seconds(u64),
    /// `false`: never. The schema lets no other word through.
    Never(bool),
}

/// The key of `effects` that stands for every tool not named.
const OTHERS: &str = "*";

impl ServerSettings {
    /// For how long things are waited for.
    pub fn timeouts(&self) -> Timeouts {
        let idle = match self.idle_seconds {
            Some(Idle::Never(_)) => None,
            Some(Idle::Seconds(seconds)) => Some(seconds),
            None => Some(defaults::IDLE_SECONDS),
        };
        let connect = self.connect_seconds.unwrap_or(defaults::CONNECT_SECONDS);
        Timeouts {
            connect: Duration::from_secs(connect),
            call: self.timeout_seconds.map(Duration::from_secs),
            idle: idle.map(Duration::from_secs),
        }
    }

    /// How many calls may run at once.
    pub fn concurrency(&self) -> usize {
        self.concurrency.unwrap_or(defaults::CONCURRENCY).into()
    }

    /// Who shares a connection.
    pub fn sharing(&self) -> Sharing {
        match self.per_session {
            true => Sharing::PerSession,
            false => Sharing::Shared,
        }
    }

    /// What the user says its tools do.
    pub fn effects(&self) -> EffectOverrides {
        let mut by_tool = self.effects.clone();
        let others = by_tool.remove(OTHERS);
        EffectOverrides { by_tool, others }
    }
}

fn names_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"enum": ["prefixed", "bare"]})
}

fn new_tools_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"enum": ["allow", "ask"]})
}

fn effects_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": {
            "type": "array",
            "items": {"enum": Effect::ALL.map(Effect::as_str)},
            "minItems": 1,
        },
        "examples": [{"search_issues": ["reads", "open-world"], "*": ["writes"]}],
    })
}

fn idle_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            {"type": "integer", "minimum": 1, "maximum": 604_800},
            {"type": "boolean", "const": false},
        ],
    })
}
