//! Clients that mean no good: others are served meanwhile, and memory stays bounded.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use crate::http::{Request, try_read};
use crate::server::{Server, configured, hello, home, read_file, stateless_read, text, within};

/// Kilobytes it may grow by, whatever is done to it.
const BOUND: usize = 160 << 10;

/// Somebody who means well is served in both eras.
#[track_caller]
fn serves(server: &Server) {
    assert_eq!(text(&server.send(&stateless_read("/mcp"))), "hello");
    let session = server.open(&hello("/mcp", "good"));
    assert_eq!(text(&server.send(&read_file("/mcp", &session))), "hello");
}

#[track_caller]
fn stays_within(server: &Server, before: usize, what: &str) {
    let now = server.memory();
    eprintln!("{what}: {before} kB, then {now} kB");
    assert!(now < before + BOUND, "{what}: {before} kB, then {now} kB");
}

/// Files this process needs for other things than idle connections.
const OWN_FILES: u64 = 2_000;

/// Open connections, as many as the system lets this process have.
fn connections(server: &Server, most: usize) -> Vec<TcpStream> {
    let files = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: files.maximum,
        ..files
    };
    let files = setrlimit(Resource::Nofile, raised).map_or(files.current, |()| files.maximum);
    let room = files.map_or(u64::MAX, |it| it.saturating_sub(OWN_FILES));
    let most = most.min(usize::try_from(room).unwrap());

    (0..most)
        .map_while(|_| TcpStream::connect(server.address).ok())
        .collect()
}

#[test]
fn ten_thousand_idle_connections() {
    let server = Server::start(home(), &[]);
    serves(&server);
    let before = server.memory();
    let mut idle = connections(&server, 10_000);
    eprintln!("{} idle connections", idle.len());
    serves(&server);
    // Half of them begin to speak and do not go on.
    for stream in idle.iter_mut().step_by(2) {
        let _ = stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: local");
    }
    serves(&server);
    stays_within(&server, before, "idle connections");
}

#[test]
fn slow_heads_and_bodies() {
    let config = json!({"serve": {"connectionIdleSeconds": 1, "bodySeconds": 1}});
    let server = Server::start(configured(&config), &[]);
    serves(&server);
    let before = server.memory();
    let mut heads = connections(&server, 500);
    for stream in &mut heads {
        stream
            .write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ")
            .unwrap();
    }
    let large = Request::post("/mcp", vec![b' '; 1 << 20]);
    let bodies: Vec<TcpStream> = (0..500)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address).unwrap();
            let head = format!(
                "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Length: 4000000\r\n\r\n[",
                server.address
            );
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    serves(&server);
    assert_eq!(server.send(&large).status, 400, "large and whole");
    // Each is let go in the end: a slow body with a reason, a slow head without.
    for stream in bodies {
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        assert_eq!(try_read(stream).unwrap().status, 408);
    }
    for stream in heads {
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let answer = try_read(stream);
        assert!(answer.is_err() || answer.is_ok_and(|it| it.status == 408));
    }
    serves(&server);
    stays_within(&server, before, "slow clients");
}

#[test]
fn oversized_bodies() {
    let server = Server::start(home(), &[]);
    serves(&server);
    let before = server.memory();
    for _ in 0..20 {
        let answer = try_read(Request::post("/mcp", vec![b' '; 5 << 20]).begin(server.address));
        // Who is still sending may find the door shut before the answer is read.
        assert!(answer.is_err() || answer.is_ok_and(|it| it.status == 413));
    }
    // Without saying how much is to come.
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\n\r\n",
        server.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = [b"10000\r\n".to_vec(), vec![b' '; 0x10000], b"\r\n".to_vec()].concat();
    while stream.write_all(&chunk).is_ok() {}
    // Many that are just small enough, none of which ever ends.
    let holding: Vec<TcpStream> = (0..100)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address).unwrap();
            let head = format!(
                "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Length: 4000001\r\n\r\n",
                server.address
            );
            stream.write_all(head.as_bytes()).unwrap();
            stream.set_nonblocking(true).unwrap();
            let body = vec![b' '; 4_000_000];
            let mut sent = 0;
            while let Ok(more) = stream.write(&body[sent..]) {
                sent += more;
                if more == 0 || sent == body.len() {
                    break;
                }
            }
            stream
        })
        .collect();
    serves(&server);
    stays_within(&server, before, "oversized bodies");
    drop(holding);
}

#[test]
fn a_thousand_sessions_and_more() {
    let server = Server::start(home(), &[]);
    serves(&server);
    let mine = server.open(&hello("/mcp", "good"));
    assert_eq!(text(&server.send(&read_file("/mcp", &mine))), "hello");
    let before = server.memory();
    for n in 0..1_100 {
        server.open(&hello("/mcp", &format!("client {n}")));
    }
    // Who has used his session keeps it before those who only said hello.
    assert_eq!(text(&server.send(&read_file("/mcp", &mine))), "hello");
    serves(&server);
    let page = server.send(&Request::get("/metrics")).body;
    assert!(page.contains("\nambit_sessions 1024\n"), "{page}");
    stays_within(&server, before, "sessions");
}

#[test]
fn a_thousand_names() {
    let server = Server::start(home(), &[]);
    serves(&server);
    let before = server.memory();
    for n in 0..1_000 {
        let mut params = json!({});
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": format!("client {n}"), "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params});
        let request = Request::post("/mcp", message.to_string())
            .with("Mcp-Protocol-Version", "2026-07-28")
            .with("Mcp-Method", "tools/list");
        assert_eq!(server.send(&request).status, 200);
    }
    serves(&server);
    stays_within(&server, before, "names");
}

#[test]
fn what_makes_no_sense() {
    let server = Server::start(home(), &[]);
    let session = server.open(&hello("/mcp", "raw"));
    let before = server.memory();
    let deep = "[".repeat(100_000);
    let nonsense: [&[u8]; 8] = [
        b"\x00\x01\x02",
        b"GET",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n[]",
        b"POST /mcp HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nA B: c\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ];
    for bytes in nonsense {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let answer = try_read(stream);
        assert!(
            answer.is_err() || answer.is_ok_and(|it| it.status >= 400),
            "{bytes:?}"
        );
    }
    for body in [
        deep.as_bytes(),
        b"\xff\xfe",
        b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":3}",
    ] {
        let request = Request::post("/mcp", body).with("Mcp-Session-Id", &session);
        assert_eq!(server.send(&request).status, 400);
    }
    let long = Request::get(&format!("/mcp/{}", "a".repeat(100_000)));
    assert!(server.send(&long).status >= 400);
    let params = json!({"name": "x".repeat(10_000), "arguments": {"a": "b".repeat(1 << 20)}});
    let answer = server.send(&within("/mcp", &session, "tools/call", params));
    assert_eq!(answer.message()["error"]["code"], -32602);
    serves(&server);
    stays_within(&server, before, "nonsense");
}
