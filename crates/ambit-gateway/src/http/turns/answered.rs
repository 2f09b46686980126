//! What answers look like, for the reference: only the schemas of these types are used. The tests of
//! `ambit serve` hold real answers against them.
#![allow(dead_code, reason = "only their schemas are used")]

use schemars::JsonSchema;
use serde_json::{Map, Value};

/// How freely an agent may act.
#[derive(JsonSchema)]
#[schemars(rename = "Mode", rename_all = "kebab-case")]
pub(super) enum ModeWord {
    /// Whatever changes something is hidden.
    ReadOnly,
    /// Changes are visible, and a person is asked per call.
    Ask,
    /// Nothing is asked; high-risk writes outside this machine are hidden instead.
    Auto,
}

/// A person's answer.
#[derive(JsonSchema)]
#[schemars(rename = "Answer", rename_all = "lowercase")]
pub(super) enum AnswerWord {
    /// Yes, to this call.
    Once,
    /// Yes, until the session ends.
    Session,
    /// Yes, to this agent and this definition.
    Always,
    /// No.
    Deny,
}

/// How much of an entry a model sees.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub(super) enum Layer {
    /// Nothing: whoever knows of it may ask for it.
    Unlisted,
    /// Its name and one sentence.
    Index,
    /// What it does and what it takes, in a few lines.
    Card,
    /// Its whole definition.
    Full,
}

/// Why something is visible: a signal and its points.
#[derive(JsonSchema)]
pub(super) struct Reason {
    /// `goal`, `evidence`, `called`, …
    signal: String,
    /// How many points.
    weight: i32,
}

/// Something that may be called in a turn.
#[derive(JsonSchema)]
pub(super) struct Visible {
    /// Which, in full.
    id: String,
    /// What the model calls it.
    name: String,
    /// How much of it is shown.
    layer: Layer,
    /// What that costs.
    tokens: u32,
    /// Why it is there.
    reasons: Vec<Reason>,
}

/// What changed since the turn before, as the event `capability.diff` has it.
#[derive(JsonSchema)]
pub(super) struct Diff {
    /// Newly visible, with reasons.
    added: Vec<Value>,
    /// No longer visible, with why.
    removed: Vec<Value>,
    /// Visible before and after, and not the same.
    #[serde(default)]
    changed: Vec<Value>,
    /// The new order, where new entries are not just at the end.
    #[serde(default)]
    order: Option<Vec<String>>,
}

/// What a turn costs in tokens.
#[derive(JsonSchema)]
pub(super) struct Tokens {
    /// Of what is shown.
    exposed: u32,
    /// Of all that is granted, defined in full.
    catalog: u32,
}

/// A turn: what the model is given, and why.
#[derive(JsonSchema)]
pub(super) struct Turn {
    /// Counts turns of the session.
    turn: u32,
    /// The mode that holds in it.
    mode: ModeWord,
    /// Definitions, in the format that was asked for.
    tools: Vec<Map<String, Value>>,
    /// Skills that can be loaded with `load_skill`, a line each.
    skills: Vec<String>,
    /// Resources that can be read with `read_resource`, a line each.
    resources: Vec<String>,
    /// Tools that are callable but not defined here: lines and cards.
    deferred: Vec<String>,
    /// Everything that may be called, in the order a model sees it.
    visible: Vec<Visible>,
    /// What changed since the turn before.
    diff: Diff,
    /// What it costs.
    tokens: Tokens,
}

/// How a call ended.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub(super) enum Status {
    /// It ran.
    Completed,
    /// It was not allowed to run, or its result was withheld.
    Denied,
    /// It was allowed and did not succeed.
    Failed,
}

/// Numbers of events; `null` where they are not written yet.
#[derive(JsonSchema)]
pub(super) struct EventRange {
    /// The first.
    first: Option<u64>,
    /// The last.
    last: Option<u64>,
}

/// How a call ended, as `ambit call --json` prints it.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct Observation {
    /// Whether it ran.
    status: Status,
    /// The stable code, unless it completed: `docs/codes.md` lists them.
    code: Option<String>,
    /// The reason, unless it completed.
    reason: Option<String>,
    /// What it brought: blocks as MCP has them.
    content: Vec<Map<String, Value>>,
    /// The structured result, where the capability promises one.
    structured_content: Option<Value>,
    /// Whether this is not the whole result.
    truncated: bool,
    /// Where the whole is, for `read_result`.
    result_ref: Option<String>,
    /// Whether it came from outside and must be read as data, never as instructions.
    untrusted: bool,
    /// What hooks had to say.
    notes: Vec<String>,
    /// From intent to observation.
    duration_ms: f64,
    /// The session.
    session: String,
    /// Its name in the journal.
    call: String,
    /// Where it is on record.
    events: EventRange,
    /// What waits for a person, for `POST /v1/approvals/{number}`; only with `approval_pending`.
    #[serde(default)]
    approval: Option<i64>,
}

/// A call that waits for a person.
#[derive(JsonSchema)]
pub(super) struct Waiting {
    /// Its number.
    number: i64,
    /// The agent that wants it.
    agent: String,
    /// In which session.
    session: String,
    /// What it wants to call.
    id: String,
    /// With what, secrets taken out.
    arguments: Value,
    /// Why a person is asked.
    why: String,
    /// Since when, in UTC.
    at: String,
}

/// What waits, oldest first.
#[derive(JsonSchema)]
pub(super) struct Approvals {
    /// What waits.
    pending: Vec<Waiting>,
}

/// An answer that was taken.
#[derive(JsonSchema)]
pub(super) struct Decided {
    /// Of which request.
    number: i64,
    /// What it was about.
    id: String,
    /// In which session.
    session: Option<String>,
    /// The answer.
    answer: AnswerWord,
}

/// What went wrong.
#[derive(JsonSchema)]
pub(super) struct ErrorDetail {
    /// A stable word.
    code: String,
    /// What happened.
    message: String,
    /// What to do next.
    hints: Vec<String>,
}

/// A request that was not served.
#[derive(JsonSchema)]
pub(super) struct Error {
    /// What went wrong.
    error: ErrorDetail,
}
