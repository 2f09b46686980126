//! The reference of the turn API, as OpenAPI 3.1. What requests may say is made from the types that
//! read them; what answers say is held against real answers by the tests of `ambit serve`.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use super::shapes::{NewAnswer, NewCall, NewSession, NewTurn, SessionDocument};

/// How freely an agent may act.
#[derive(JsonSchema)]
#[schemars(rename = "Mode", rename_all = "kebab-case")]
#[allow(dead_code, reason = "only its schema is used")]
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
#[allow(dead_code, reason = "only its schema is used")]
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
#[allow(dead_code, reason = "only its schema is used")]
enum Layer {
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
#[allow(dead_code, reason = "only its schema is used")]
struct Reason {
    /// `goal`, `evidence`, `called`, …
    signal: String,
    /// How many points.
    weight: i32,
}

/// Something that may be called in a turn.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Visible {
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
#[allow(dead_code, reason = "only its schema is used")]
struct Diff {
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
#[allow(dead_code, reason = "only its schema is used")]
struct Tokens {
    /// Of what is shown.
    exposed: u32,
    /// Of all that is granted, defined in full.
    catalog: u32,
}

/// A turn: what the model is given, and why.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Turn {
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
#[allow(dead_code, reason = "only its schema is used")]
enum Status {
    /// It ran.
    Completed,
    /// It was not allowed to run, or its result was withheld.
    Denied,
    /// It was allowed and did not succeed.
    Failed,
}

/// Numbers of events; `null` where they are not written yet.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct EventRange {
    /// The first.
    first: Option<u64>,
    /// The last.
    last: Option<u64>,
}

/// How a call ended, as `ambit call --json` prints it.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[allow(dead_code, reason = "only its schema is used")]
struct Observation {
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
#[allow(dead_code, reason = "only its schema is used")]
struct Waiting {
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
#[allow(dead_code, reason = "only its schema is used")]
struct Approvals {
    /// What waits.
    pending: Vec<Waiting>,
}

/// An answer that was taken.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Decided {
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
#[allow(dead_code, reason = "only its schema is used")]
struct ErrorDetail {
    /// A stable word.
    code: String,
    /// What happened.
    message: String,
    /// What to do next.
    hints: Vec<String>,
}

/// A request that was not served.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Error {
    /// What went wrong.
    error: ErrorDetail,
}

/// The document.
pub fn openapi() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|it| {
        it.definitions_path = "/components/schemas".into();
        it.meta_schema = None;
    });
    let mut schemas = settings.into_generator();
    let paths = paths(&mut schemas);
    let error = document(&mut schemas, schema::<Error>);
    let definitions = schemas.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Ambit turn API",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "description": "For harnesses that bring their own model. Each turn they say what is wanted and are given the tools that matter now; each call goes through both gates and is on record. Every document has a `schemaVersion`; fields may be added to answers.",
        },
        "servers": [{"url": "/", "description": "where `ambit serve` listens"}],
        "security": [{"token": []}, {}],
        "tags": [
            {"name": "sessions", "description": "One agent at work. A session outlives the server."},
            {"name": "approvals", "description": "What waits for a person."},
        ],
        "paths": paths,
        "components": {
            "schemas": definitions,
            "securitySchemes": {"token": {
                "type": "http", "scheme": "bearer",
                "description": "Of the agent, `ambit agents token NAME`; to answer for a person an operator's, `ambit agents token --operator`. An agent without tokens is open to this machine.",
            }},
            "responses": {"Problem": {
                "description": "It was not served; the `error` says why and what to do.",
                "content": {"application/json": {"schema": error}},
            }},
        },
    })
}

type Maker = fn(&mut SchemaGenerator) -> Schema;

fn schema<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Schema {
    schemas.subschema_for::<T>()
}

/// A document: its version beside what it says.
fn document(schemas: &mut SchemaGenerator, of: Maker) -> Value {
    json!({
        "allOf": [of(schemas)],
        "properties": {"schemaVersion": {"const": 1}},
        "required": ["schemaVersion"],
    })
}

/// One operation: how it is called, what it does, what it takes and what it brings.
struct Described {
    id: &'static str,
    tag: &'static str,
    summary: &'static str,
    description: &'static str,
    parameters: Value,
    takes: Option<Maker>,
    brings: (&'static str, &'static str, Option<Maker>),
    problems: &'static [&'static str],
}

impl Described {
    fn write(&self, schemas: &mut SchemaGenerator) -> Value {
        let (status, what, of) = self.brings;
        let mut answer = json!({"description": what});
        if let (Some(of), Some(map)) = (of, answer.as_object_mut()) {
            let content = json!({"application/json": {"schema": document(schemas, of)}});
            map.insert("content".to_owned(), content);
        }
        let mut answers = Map::from_iter([(status.to_owned(), answer)]);
        for status in self.problems {
            let problem = json!({"$ref": "#/components/responses/Problem"});
            answers.insert((*status).to_owned(), problem);
        }
        let mut written = json!({
            "operationId": self.id,
            "tags": [self.tag],
            "summary": self.summary,
            "description": self.description,
            "parameters": self.parameters,
            "responses": answers,
        });
        if let (Some(of), Some(map)) = (self.takes, written.as_object_mut()) {
            let content = json!({"application/json": {"schema": of(schemas)}});
            map.insert("requestBody".to_owned(), json!({"required": true, "content": content}));
        }
        written
    }
}

/// What every request may be refused for.
const ALWAYS: &[&str] = &["400", "401", "403", "404", "413", "503"];
/// In a session that was.
const SESSION: &[&str] = &["400", "401", "403", "404", "409", "410", "413", "422", "503"];

fn session_id() -> Value {
    json!([{
        "name": "id", "in": "path", "required": true,
        "description": "The session.", "schema": {"type": "string"},
    }])
}

fn and(first: Value, more: Value) -> Value {
    match (first, more) {
        (Value::Array(mut all), more) => {
            all.push(more);
            Value::Array(all)
        }
        (other, _) => other,
    }
}

fn paths(schemas: &mut SchemaGenerator) -> Value {
    let open = Described {
        id: "openSession",
        tag: "sessions",
        summary: "Begin a session",
        description: "For the agent that was named, or the one the token opens. Its mode is the agent's own or a narrower one; a looser one is refused with `mode_too_loose`.",
        parameters: json!([]),
        takes: Some(schema::<NewSession>),
        brings: ("201", "It has begun.", Some(schema::<SessionDocument>)),
        problems: &["400", "401", "403", "404", "409", "413", "422", "503"],
    };
    let read = Described {
        id: "readSession",
        tag: "sessions",
        summary: "Look at a session",
        description: "A session of another agent is unknown, as one that never was.",
        parameters: session_id(),
        takes: None,
        brings: ("200", "It is there.", Some(schema::<SessionDocument>)),
        problems: SESSION,
    };
    let end = Described {
        id: "endSession",
        tag: "sessions",
        summary: "End a session for good",
        description: "Its record stays; nobody can go on with it.",
        parameters: session_id(),
        takes: None,
        brings: ("204", "It has ended.", None),
        problems: SESSION,
    };
    let turn = Described {
        id: "beginTurn",
        tag: "sessions",
        summary: "Begin a turn",
        description: "Selects what the model sees now, from the goal, touched files, evidence, and what the session has found, called and heard. A mode narrows the session's own for this turn, and never widens it.",
        parameters: session_id(),
        takes: Some(schema::<NewTurn>),
        brings: ("200", "What the model is given, and why.", Some(schema::<Turn>)),
        problems: SESSION,
    };
    let key = json!({
        "name": "Idempotency-Key", "in": "header", "required": false,
        "description": "Makes trying again safe: what was begun under a key is not begun again, and its outcome is given again, also after a crash. Where the outcome of an effect is not known, the code is `outcome_unknown`. What was refused before it began is asked about anew.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    });
    let call = Described {
        id: "call",
        tag: "sessions",
        summary: "Make a call",
        description: "Through both gates of the session's current turn. However it ends, the answer is 200 and an observation; a refusal is data. Where a person has to say yes the code is `approval_pending` and `approval` names the request; with `wait` the answer waits for that person so many seconds.",
        parameters: and(session_id(), key),
        takes: Some(schema::<NewCall>),
        brings: ("200", "How it ended.", Some(schema::<Observation>)),
        problems: SESSION,
    };
    let after = json!({
        "name": "after", "in": "query", "required": false,
        "description": "Only events after this number.",
        "schema": {"type": "integer", "minimum": 0},
    });
    let last = json!({
        "name": "Last-Event-ID", "in": "header", "required": false,
        "description": "The same, as browsers send it when they come back; it goes before `after`.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    });
    let events = Described {
        id: "readEvents",
        tag: "sessions",
        summary: "Listen to what happens",
        description: "Server-sent events from the journal, live: `id` is the event's number, `event` its type, `data` the event as `ambit log --json` prints it (`docs/events.md`). Ends after `session.ended`.",
        parameters: and(and(session_id(), after), last),
        takes: None,
        brings: ("200", "The events.", None),
        problems: SESSION,
    };
    let approvals = Described {
        id: "listApprovals",
        tag: "approvals",
        summary: "See what waits for a person",
        description: "With an agent's token, what waits for that agent; with an operator's, everything that is served. The same as `ambit approvals` lists.",
        parameters: json!([]),
        takes: None,
        brings: ("200", "What waits.", Some(schema::<Approvals>)),
        problems: ALWAYS,
    };
    let answer = Described {
        id: "answerApproval",
        tag: "approvals",
        summary: "Answer for a person",
        description: "Takes an operator's token: an agent cannot allow itself anything. The call that waits goes on; one that does not wait is made again.",
        parameters: json!([{
            "name": "number", "in": "path", "required": true,
            "description": "The request.", "schema": {"type": "integer"},
        }]),
        takes: Some(schema::<NewAnswer>),
        brings: ("200", "The answer was taken.", Some(schema::<Decided>)),
        problems: ALWAYS,
    };
    let mut stream = events.write(schemas);
    if let Some(answer) = stream.pointer_mut("/responses/200").and_then(Value::as_object_mut) {
        let text = json!({"text/event-stream": {"schema": {"type": "string"}}});
        answer.insert("content".to_owned(), text);
    }
    json!({
        "/v1/sessions": {"post": open.write(schemas)},
        "/v1/sessions/{id}": {"get": read.write(schemas), "delete": end.write(schemas)},
        "/v1/sessions/{id}/turns": {"post": turn.write(schemas)},
        "/v1/sessions/{id}/calls": {"post": call.write(schemas)},
        "/v1/sessions/{id}/events": {"get": stream},
        "/v1/approvals": {"get": approvals.write(schemas)},
        "/v1/approvals/{number}": {"post": answer.write(schemas)},
        "/v1/openapi.json": {"get": {
            "operationId": "readOpenApi",
            "tags": ["sessions"],
            "summary": "This document",
            "description": "Open to whoever can reach the server.",
            "security": [{}],
            "responses": {"200": {
                "description": "OpenAPI 3.1.",
                "content": {"application/json": {"schema": {"type": "object"}}},
            }},
        }},
    })
}
