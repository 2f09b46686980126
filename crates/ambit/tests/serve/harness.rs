//! A harness of the turn API: asks, and holds each answer against the OpenAPI document.

use std::collections::BTreeSet;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::http::{Answer, Request};
use crate::server::Server;

/// Operations that were exercised by [`Api`], by id.
pub(crate) static EXERCISED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// A harness: asks, and checks each answer against the document.
pub(crate) struct Api<'a> {
    pub(crate) server: &'a Server,
    pub(crate) token: Option<String>,
    pub(crate) document: Value,
}

impl<'a> Api<'a> {
    pub(crate) fn of(server: &'a Server) -> Self {
        let document = server.send(&Request::get("/v1/openapi.json"));
        assert_eq!(document.status, 200);
        Api {
            server,
            token: None,
            document: serde_json::from_str(&document.body).unwrap(),
        }
    }

    pub(crate) fn by(server: &'a Server, token: &str) -> Self {
        Api {
            token: Some(token.to_owned()),
            ..Api::of(server)
        }
    }

    /// Sends a request with this harness's token.
    pub(crate) fn send(&self, request: Request) -> Answer {
        self.server.send(&self.signed(request))
    }

    pub(crate) fn signed(&self, request: Request) -> Request {
        match &self.token {
            Some(token) => request.with("Authorization", &format!("Bearer {token}")),
            None => request,
        }
    }

    /// The answer, which must have this status and be as documented for this operation.
    #[track_caller]
    pub(crate) fn expect(&self, operation: &str, request: Request, status: u16) -> Value {
        let answer = self.send(request);
        assert_eq!(answer.status, status, "{operation}: {answer:?}");
        self.documented(operation, &answer)
    }

    /// What was answered, if the document says that it may be.
    #[track_caller]
    pub(crate) fn documented(&self, operation: &str, answer: &Answer) -> Value {
        let paths = self.document["paths"].as_object().unwrap();
        let operations = paths
            .values()
            .flat_map(|it| it.as_object().unwrap().values());
        let found = operations
            .filter(|it| it["operationId"] == operation)
            .collect::<Vec<_>>();
        assert_eq!(found.len(), 1, "{operation}");
        let mut described = &found[0]["responses"][answer.status.to_string()];
        if let Some(at) = described["$ref"].as_str() {
            described = self.document.pointer(at.trim_start_matches('#')).unwrap();
        }
        assert!(
            described.is_object(),
            "{operation} {} is not documented",
            answer.status
        );
        EXERCISED.lock().unwrap().insert(operation.to_owned());
        if answer.body.is_empty() {
            assert!(described["content"].is_null(), "{operation}");
            return Value::Null;
        }
        let mut schema = described["content"]["application/json"]["schema"].clone();
        schema["components"] = self.document["components"].clone();
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let problems: Vec<String> = validator
            .iter_errors(&body)
            .map(|it| format!("{}: {it}", it.instance_path()))
            .collect();
        assert_eq!(problems, Vec::<String>::new(), "{operation}: {body}");
        body
    }

    #[track_caller]
    pub(crate) fn open(&self, body: Value) -> String {
        let request = Request::post("/v1/sessions", body.to_string());
        let session = self.expect("openSession", request, 201);
        session["id"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn turn(&self, session: &str, body: Value) -> Value {
        let path = format!("/v1/sessions/{session}/turns");
        self.expect("beginTurn", Request::post(&path, body.to_string()), 200)
    }

    #[track_caller]
    pub(crate) fn call(&self, session: &str, id: &str, input: Value) -> Value {
        self.expect(
            "call",
            call(session, json!({"id": id, "input": input})),
            200,
        )
    }
}

/// A call to make.
pub(crate) fn call(session: &str, body: Value) -> Request {
    Request::post(&format!("/v1/sessions/{session}/calls"), body.to_string())
}

/// One agent that may do everything with files, without being asked.
pub(crate) fn free() -> Value {
    json!({"agents": {"a": {"capabilities": {"files": {}}, "mode": "auto"}}})
}
