//! What others make of the OpenAPI document, where they are installed: a validator of the format,
//! and a program that makes up requests from it, right ones and wrong ones, and holds the answers
//! against it.

use std::process::Command;

use crate::server::{Server, home};

/// The program a variable names.
fn peer(variable: &str) -> Option<String> {
    let named = std::env::var(variable).ok();
    if named.is_none() {
        eprintln!("skipped: {variable} is not set");
    }
    named
}

#[test]
fn the_document_is_valid() {
    let Some(python) = peer("AMBIT_OPENAPI_VALIDATOR") else {
        return;
    };
    let home = home();
    let document = include_str!("../../../../docs/openapi.json");
    let document = home.write("openapi.json", document);
    let validated = Command::new(python)
        .args(["-m", "openapi_spec_validator"])
        .arg(document)
        .output()
        .unwrap();
    assert!(validated.status.success(), "{validated:?}");
}

/// A session that has ended and a mode that is too loose are no faults of the document.
const SETTINGS: &str = "
[checks]
positive_data_acceptance.expected-statuses = [\"2xx\", 401, 403, 404, 409, 410, 422]
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 410, 413, 422]
";

#[test]
fn made_up_requests_are_answered_as_documented() {
    let Some(schemathesis) = peer("AMBIT_SCHEMATHESIS") else {
        return;
    };
    let server = Server::start(home(), &[]);
    server.home.write("schemathesis.toml", SETTINGS);
    let tested = Command::new(schemathesis)
        .arg("run")
        .arg(format!("http://{}/v1/openapi.json", server.address))
        // A stream has no end to wait for.
        .args(["--exclude-operation-id", "readEvents"])
        .args(["--max-examples", "10", "--seed", "1", "--no-color"])
        .args(["--suppress-health-check", "all"])
        .current_dir(server.home.work())
        .env("HOME", server.home.home())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&tested.stdout);
    assert!(tested.status.success(), "{said}");
}
