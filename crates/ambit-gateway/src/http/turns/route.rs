//! What a method and a path ask for.

use http::Method;

use super::problem::Problem;

/// What can be asked for. Ids are as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    OpenSession,
    ReadSession(String),
    EndSession(String),
    Turn(String),
    Call(String),
    Events(String),
    Approvals,
    Answer(i64),
}

/// Finds it.
pub(super) fn route(method: &Method, path: &str) -> Result<Operation, Problem> {
    let rest = path.strip_prefix("/v1/").ok_or_else(Problem::no_path)?;
    let parts: Vec<&str> = rest.split('/').collect();
    let is = |it: &Method| method == it;
    match parts.as_slice() {
        ["sessions"] if is(&Method::POST) => Ok(Operation::OpenSession),
        ["sessions"] => Err(Problem::no_method("POST")),
        ["sessions", id] if is(&Method::GET) => Ok(Operation::ReadSession((*id).to_owned())),
        ["sessions", id] if is(&Method::DELETE) => Ok(Operation::EndSession((*id).to_owned())),
        ["sessions", _] => Err(Problem::no_method("GET, DELETE")),
        ["sessions", id, "turns"] if is(&Method::POST) => Ok(Operation::Turn((*id).to_owned())),
        ["sessions", id, "calls"] if is(&Method::POST) => Ok(Operation::Call((*id).to_owned())),
        ["sessions", _, "turns" | "calls"] => Err(Problem::no_method("POST")),
        ["sessions", id, "events"] if is(&Method::GET) => Ok(Operation::Events((*id).to_owned())),
        ["sessions", _, "events"] => Err(Problem::no_method("GET")),
        ["approvals"] if is(&Method::GET) => Ok(Operation::Approvals),
        ["approvals"] => Err(Problem::no_method("GET")),
        ["approvals", number] => match number.parse() {
            Ok(number) if is(&Method::POST) => Ok(Operation::Answer(number)),
            Ok(_) => Err(Problem::no_method("POST")),
            Err(_) => Err(Problem::no_path()),
        },
        _ => Err(Problem::no_path()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_paths() {
        for (method, path, expected) in [
            ("POST", "/v1/sessions", "OpenSession"),
            ("GET", "/v1/sessions", "405"),
            ("GET", "/v1/sessions/a", "ReadSession(\"a\")"),
            ("DELETE", "/v1/sessions/a", "EndSession(\"a\")"),
            ("PUT", "/v1/sessions/a", "405"),
            ("POST", "/v1/sessions/a/turns", "Turn(\"a\")"),
            ("POST", "/v1/sessions/a/calls", "Call(\"a\")"),
            ("GET", "/v1/sessions/a/calls", "405"),
            ("GET", "/v1/sessions/a/events", "Events(\"a\")"),
            ("POST", "/v1/sessions/a/events", "405"),
            ("POST", "/v1/sessions/a/other", "404"),
            ("POST", "/v1/sessions/a/turns/b", "404"),
            ("GET", "/v1/approvals", "Approvals"),
            ("POST", "/v1/approvals/7", "Answer(7)"),
            ("GET", "/v1/approvals/7", "405"),
            ("POST", "/v1/approvals/x", "404"),
            ("GET", "/v1/", "404"),
            ("GET", "/v1", "404"),
            ("GET", "/v2/sessions", "404"),
        ] {
            let found = match route(&method.parse().unwrap(), path) {
                Ok(operation) => format!("{operation:?}"),
                Err(problem) => problem.answer().status().as_u16().to_string(),
            };
            assert_eq!(found, expected, "{method} {path}");
        }
    }
}
