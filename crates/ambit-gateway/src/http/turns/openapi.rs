//! The reference of the turn API, as OpenAPI 3.1. What requests may say is made from the types that
//! read them; what answers say is held against real answers by the tests of `ambit serve`.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use super::answered::{Approvals, Decided, Error, Observation, Turn};
use super::shapes::{NewAnswer, NewCall, NewSession, NewTurn, SessionDocument};

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

/// Whether a request must have a body: not where everything in it can be left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Body,
    Nothing,
}

/// One operation: how it is called, what it does, what it takes and what it brings.
struct Described {
    id: &'static str,
    tag: &'static str,
    summary: &'static str,
    description: &'static str,
    parameters: Value,
    takes: Option<Maker>,
    needs: Needs,
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
            let required = self.needs == Needs::Body;
            map.insert(
                "requestBody".to_owned(),
                json!({"required": required, "content": content}),
            );
        }
        written
    }
}

/// What every request may be refused for.
const ALWAYS: &[&str] = &["400", "401", "403", "404", "413", "503"];
/// In a session that was.
const SESSION: &[&str] = &[
    "400", "401", "403", "404", "409", "410", "413", "422", "503",
];

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
        needs: Needs::Nothing,
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
        needs: Needs::Nothing,
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
        needs: Needs::Nothing,
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
        needs: Needs::Nothing,
        brings: (
            "200",
            "What the model is given, and why.",
            Some(schema::<Turn>),
        ),
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
        needs: Needs::Body,
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
        needs: Needs::Nothing,
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
        needs: Needs::Nothing,
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
        needs: Needs::Body,
        brings: ("200", "The answer was taken.", Some(schema::<Decided>)),
        problems: ALWAYS,
    };
    let mut stream = events.write(schemas);
    if let Some(answer) = stream
        .pointer_mut("/responses/200")
        .and_then(Value::as_object_mut)
    {
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
