//! What happens in a session, as a stream: from the beginning, from anywhere, and as it happens.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::harness::{Api, free};
use crate::http::Request;
use crate::server::{Server, configured};

/// A stream somebody listens to.
struct Listener(BufReader<TcpStream>);

impl Listener {
    fn to(server: &Server, request: &Request) -> Self {
        let mut reader = BufReader::new(request.begin(server.address));
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.contains(" 200 "), "{line}");
        Listener(reader)
    }

    /// The next event: its number, its type and itself. Nothing at the end.
    fn next(&mut self) -> Option<(u64, String, Value)> {
        let (mut number, mut kind) = (None, None);
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let line = line.trim_end();
            if line == "0" {
                return None;
            }
            if let Some(it) = line.strip_prefix("id: ") {
                number = it.parse().ok();
            } else if let Some(it) = line.strip_prefix("event: ") {
                kind = Some(it.to_owned());
            } else if let Some(it) = line.strip_prefix("data: ") {
                let event = serde_json::from_str(it).unwrap();
                return Some((number.unwrap(), kind.unwrap(), event));
            }
        }
    }

    /// Reads until an event of this type; the numbers on the way.
    #[track_caller]
    fn until(&mut self, kind: &str) -> Vec<u64> {
        let mut numbers = Vec::new();
        while let Some((number, found, event)) = self.next() {
            assert_eq!(
                (event["seq"].as_u64(), &event["type"]),
                (Some(number), &json!(found))
            );
            numbers.push(number);
            if found == kind {
                return numbers;
            }
        }
        panic!("`{kind}` did not come");
    }
}

#[test]
fn events_come_live_and_again_from_anywhere() {
    let server = Server::start(configured(&free()), &[]);
    let api = Api::of(&server);
    let id = api.open(json!({}));
    let path = format!("/v1/sessions/{id}/events");
    let mut live = Listener::to(&server, &Request::get(&path));
    live.until("session.started");
    // Of another session nothing is heard.
    let other = api.open(json!({}));
    api.turn(&other, json!({}));
    api.turn(&id, json!({"goal": "write"}));
    live.until("capability.diff");
    api.call(
        &id,
        "files__write_file",
        json!({"path": "b.txt", "content": "x"}),
    );
    let of_call = live.until("tool.observation");
    let from = |request: Request| Listener::to(&server, &request).until("tool.observation");
    let after = of_call[0].to_string();
    let all = from(Request::get(&path));
    assert_eq!(all[all.len() - of_call.len()..], of_call);
    assert_eq!(
        from(Request::get(&format!("{path}?after={after}"))),
        of_call[1..]
    );
    let back = Request::get(&path).with("Last-Event-ID", &after);
    assert_eq!(from(back), of_call[1..]);
    api.expect(
        "endSession",
        Request::delete(&format!("/v1/sessions/{id}")),
        204,
    );
    live.until("session.ended");
    assert!(live.next().is_none());
}

#[test]
fn streams_end_with_the_server_and_with_the_token() {
    let home = configured(&free());
    let token = crate::server::token(&home, "a");
    let mut server = Server::start(home, &[]);
    let id = Api::by(&server, &token).open(json!({}));
    let request = Request::get(&format!("/v1/sessions/{id}/events"));
    let request = Api::by(&server, &token).signed(request);
    let mut revoked = Listener::to(&server, &request);
    revoked.until("session.started");
    server
        .home
        .run(&["agents", "token", "a", "--revoke"])
        .exits(0);
    assert!(revoked.next().is_none());
    let token = crate::server::token(&server.home, "a");
    let request = Request::get(&format!("/v1/sessions/{id}/events"));
    let request = Api::by(&server, &token).signed(request);
    server.becomes(
        &Api::by(&server, &token).signed(Request::get(&format!("/v1/sessions/{id}"))),
        200,
    );
    let mut stopped = Listener::to(&server, &request);
    stopped.until("session.started");
    assert_eq!(server.stop(), 0);
    assert!(stopped.next().is_none());
}
