//! Both eras of the protocol on one endpoint.

use serde_json::json;

use crate::http::Request;
use crate::server::{Server, hello, home, read_file, stateless, stateless_read, text, within};

#[test]
fn a_session_is_opened_used_and_ended() {
    let server = Server::start(home(), &[]);
    let answer = server.send(&hello("/mcp", "raw"));
    let message = answer.message();
    assert_eq!(message["result"]["serverInfo"]["name"], "ambit");
    let session = answer.header("mcp-session-id").unwrap();
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    let ready = Request::post("/mcp", ready).with("Mcp-Session-Id", session);
    assert_eq!(server.send(&ready).status, 202);
    let listed = server.send(&within("/mcp", session, "tools/list", json!({})));
    assert!(listed.body.contains("files__read_file"), "{listed:?}");
    assert_eq!(text(&server.send(&read_file("/mcp", session))), "hello");
    let end = Request::delete("/mcp").with("Mcp-Session-Id", session);
    assert_eq!(server.send(&end).status, 202);
    for request in [end, read_file("/mcp", session)] {
        assert_eq!(server.send(&request).status, 404);
    }
}

#[test]
fn a_request_without_a_session_stands_for_itself() {
    let mut server = Server::start(home(), &[]);
    let discovered = server.send(&stateless("/mcp", "server/discover", json!({})));
    let versions = discovered.message()["result"]["supportedVersions"].to_string();
    assert!(versions.contains("2026-07-28"), "{discovered:?}");
    for _ in 0..3 {
        let read = server.send(&stateless_read("/mcp"));
        assert_eq!(read.header("content-type"), Some("application/json"));
        assert_eq!(text(&read), "hello");
        // An id of a time when there were sessions means nothing.
        let with_id = stateless_read("/mcp").with("Mcp-Session-Id", "x");
        assert_eq!(text(&server.send(&with_id)), "hello");
    }
    // Reads are recorded behind the call.
    assert_eq!(server.stop(), 0);
    let sessions = server.home.run(&["log", "sessions", "--json"]).exits(0);
    let sessions = sessions.json()["sessions"].as_array().unwrap().len();
    assert_eq!(sessions, 1, "clients of one name share one");
}

#[test]
fn what_is_not_of_the_protocol_is_refused_in_its_words() {
    let server = Server::start(home(), &[]);
    let session = server.open(&hello("/mcp", "raw"));
    let post = |body: &str| Request::post("/mcp", body).with("Mcp-Session-Id", &session);
    let call = stateless_read("/mcp");
    for (request, status, code) in [
        (post("{"), 400, -32700),
        (post("\u{0}"), 400, -32700),
        (post(""), 400, -32700),
        (post("[]"), 400, -32600),
        (post("{}"), 400, -32600),
        (post("null"), 400, -32600),
        (
            post("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"tools/list\"}"),
            400,
            -32600,
        ),
        (call.clone().with("Mcp-Method", "tools/list"), 400, -32020),
        (call.with("Mcp-Name", "files__write_file"), 400, -32020),
        (within("/mcp", &session, "no/such", json!({})), 200, -32601),
    ] {
        let answer = server.send(&request);
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(answer.message()["error"]["code"], code, "{answer:?}");
    }
    for (request, status) in [
        (post("{}").with("Content-Type", "text/plain"), 400),
        (Request::get("/mcp"), 406),
        (
            Request::get("/mcp").with("Accept", "text/event-stream"),
            400,
        ),
        (Request::delete("/mcp"), 400),
        (within("/mcp", "no-such", "tools/list", json!({})), 404),
    ] {
        let answer = server.send(&request);
        assert_eq!(answer.status, status, "{answer:?}");
    }
    assert_eq!(text(&server.send(&read_file("/mcp", &session))), "hello");
}
