//! Streamable HTTP, against a server of a few lines that answers with plain JSON.

use std::sync::Arc;

use ambit_core::observation::Content;
use ambit_mcp::{McpError, McpServer, ServerSpec, Transport};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

type Seen = Arc<Mutex<Vec<String>>>;

/// Serves until the test ends; answers only to this token.
async fn serve(token: &'static str) -> (String, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let seen = Seen::default();
    let heard = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer_one(stream, token, Arc::clone(&heard)));
        }
    });
    (url, seen)
}

async fn answer_one(stream: TcpStream, token: &str, seen: Seen) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_ascii_lowercase());
    }
    let header = |name: &str| {
        let start = format!("{name}: ");
        head.iter()
            .find_map(|it| it.strip_prefix(&start).map(str::to_owned))
    };
    let length = header("content-length")
        .and_then(|it| it.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let method = message["method"].as_str().unwrap_or_default();
    seen.lock().push(method.to_owned());
    let (status, body) = if header("authorization") != Some(format!("bearer {token}")) {
        (
            "401 Unauthorized\r\nwww-authenticate: Bearer",
            String::new(),
        )
    } else if message["id"].is_null() {
        let status = if head[0].starts_with("post") {
            "202 Accepted"
        } else {
            "405 Method Not Allowed"
        };
        (status, String::new())
    } else {
        ("200 OK", answer(&message, method).to_string())
    };
    let reply = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(reply.as_bytes()).await.ok()
}

fn answer(message: &Value, method: &str) -> Value {
    let outcome = match method {
        "initialize" => json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "web", "version": "0.1.0"},
        }),
        "tools/list" => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
        "tools/call" => {
            json!({"content": [{"type": "text", "text": message["params"]["arguments"]["text"]}]})
        }
        _ => {
            let error = json!({"code": -32601, "message": "no"});
            return json!({"jsonrpc": "2.0", "id": message["id"], "error": error});
        }
    };
    json!({"jsonrpc": "2.0", "id": message["id"], "result": outcome})
}

fn web(url: &str, token: &str) -> Arc<McpServer> {
    McpServer::new(ServerSpec::new(
        "web",
        Transport::Http {
            url: url.to_owned(),
            headers: vec![("Authorization".to_owned(), format!("Bearer {token}"))],
        },
    ))
}

#[tokio::test]
async fn a_remote_server_is_listed_and_called() {
    let (url, seen) = serve("right").await;
    let server = web(&url, "right");
    assert!(
        seen.lock().is_empty(),
        "nothing is dialled before it is needed"
    );
    let offered = server.list().await.unwrap();
    assert_eq!(offered[0].effects.to_string(), "reads writes open-world");
    let output = server
        .call(&offered[0].id, json!({"text": "over the wire"}))
        .await
        .unwrap();
    assert_eq!(output.content, [Content::text("over the wire")]);
    assert_eq!(server.status().protocol.as_deref(), Some("2025-06-18"));
}

#[tokio::test]
async fn a_remote_server_that_wants_authorization_says_so() {
    let (url, _) = serve("right").await;
    let error = web(&url, "wrong").list().await.unwrap_err();
    assert!(matches!(*error, McpError::LoginNeeded { .. }), "{error}");
}

#[tokio::test]
async fn a_remote_server_that_is_not_there_is_unreachable() {
    let error = web("http://127.0.0.1:1/mcp", "x").list().await.unwrap_err();
    assert!(matches!(*error, McpError::Connect { .. }), "{error}");
}
