//! What a harness sends and is sent. Requests are read as these types; all of them are what the
//! OpenAPI document says.

use ambit_core::permission::{Answer, Mode};
use ambit_core::projection::ToolFormat;
use ambit_runtime::session::Session;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::answered::{AnswerWord, ModeWord};
use super::reading::Body;

/// A session to begin.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NewSession {
    /// For which agent. Left out: the one the token opens, else the only one, else `default`.
    #[serde(default)]
    pub(super) agent: Option<String>,
    /// How freely it may act: the agent's own mode, or a narrower one.
    #[serde(default)]
    #[schemars(with = "Option<ModeWord>")]
    pub(super) mode: Option<Mode>,
}

impl Body for NewSession {
    const FIELDS: &'static [&'static str] = &["agent", "mode"];
}

/// A session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionDocument {
    /// Its name, in the journal as well.
    id: String,
    /// Whose it is.
    agent: String,
    /// How freely it may act.
    #[schemars(with = "ModeWord")]
    mode: Mode,
    /// Its last turn; 0 before the first.
    turn: u32,
}

impl SessionDocument {
    pub(super) fn of(session: &Session) -> Self {
        SessionDocument {
            id: session.id().to_string(),
            agent: session.agent().to_owned(),
            mode: session.bounds().mode,
            turn: session.turns(),
        }
    }
}

/// A turn to begin: all that says what is wanted now.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NewTurn {
    /// The task, in words.
    #[serde(default)]
    pub(super) goal: String,
    /// A narrower mode for this turn.
    #[serde(default)]
    #[schemars(with = "Option<ModeWord>")]
    pub(super) mode: Option<Mode>,
    /// How `tools` are written.
    #[serde(default)]
    pub(super) format: Format,
    /// Files that were touched, relative to the workspace.
    #[serde(default)]
    pub(super) touched: Vec<String>,
    /// What kind of project this is: `rust`, `node`.
    #[serde(default)]
    pub(super) project: Vec<String>,
    /// What was observed elsewhere. What calls of this session brought is known already.
    #[serde(default)]
    pub(super) evidence: Vec<String>,
    /// Most tokens that may be exposed this turn.
    #[serde(default)]
    #[schemars(range(max = 4_294_967_295_u32))]
    pub(super) budget: Option<u32>,
}

impl Body for NewTurn {
    const FIELDS: &'static [&'static str] = &[
        "goal", "mode", "format", "touched", "project", "evidence", "budget",
    ];
}

/// How tools are written.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    /// Chat completions with function tools.
    #[default]
    Openai,
    /// Messages with tools.
    Anthropic,
    /// `tools/list` of MCP.
    Mcp,
}

impl From<Format> for ToolFormat {
    fn from(it: Format) -> Self {
        match it {
            Format::Openai => ToolFormat::OpenAi,
            Format::Anthropic => ToolFormat::Anthropic,
            Format::Mcp => ToolFormat::Mcp,
        }
    }
}

/// A call to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NewCall {
    /// An id or a name of the turn.
    pub(super) id: String,
    /// The arguments.
    #[serde(default)]
    pub(super) input: Map<String, Value>,
    /// Seconds to wait for a person, where one has to say yes.
    #[serde(default)]
    #[schemars(range(max = 600))]
    pub(super) wait: u32,
}

impl Body for NewCall {
    const FIELDS: &'static [&'static str] = &["id", "input", "wait"];
}

/// An answer to what waits for a person.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NewAnswer {
    /// Yes to this call, to all such calls of this session or for good; or no.
    #[schemars(with = "AnswerWord")]
    pub(super) answer: Answer,
}

impl Body for NewAnswer {
    const FIELDS: &'static [&'static str] = &["answer"];
}
