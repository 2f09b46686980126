//! The port a browser comes back to. It listens on this machine only, for one login, and takes
//! no other request for its answer.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

const PATH: &str = "/callback";
/// The longest beginning of a request: authorization servers send long codes.
const LONGEST: usize = 16 << 10;
/// How long a browser may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);

const DONE: &str = "Ambit has what it needs. You can close this page.";
const OTHER: &str = "This is not the answer Ambit waits for.";

pub(super) struct Callback {
    listener: TcpListener,
    url: String,
}

impl Callback {
    /// Listens on this port, or on any.
    pub(super) async fn listen(port: Option<u16>) -> io::Result<Callback> {
        let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await?;
        let url = format!("http://{}{PATH}", listener.local_addr()?);
        Ok(Callback { listener, url })
    }

    /// Where a browser is to come back to.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// The first request that is an answer, as an address.
    pub(super) async fn answer(&self, is_answer: impl Fn(&str) -> bool) -> String {
        loop {
            let Ok((mut stream, _)) = self.listener.accept().await else {
                // Out of descriptors, say: not for long, or for good.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            let target = timeout(PATIENCE, target(&mut stream)).await;
            let Ok(Some(target)) = target else {
                continue;
            };
            let answer = target
                .strip_prefix(PATH)
                .map(|it| format!("{}{it}", self.url));
            match answer.filter(|it| is_answer(it)) {
                Some(answer) => {
                    reply(&mut stream, "200 OK", DONE).await;
                    return answer;
                }
                None => reply(&mut stream, "404 Not Found", OTHER).await,
            }
        }
    }
}

/// What a GET asks for.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= LONGEST {
            return None;
        }
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    (words.next() == Some("GET")).then(|| words.next().map(str::to_owned))?
}

async fn reply(stream: &mut TcpStream, status: &str, text: &str) {
    let reply = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n{text}",
        text.len()
    );
    // A browser that is gone has nothing to be told.
    let _ = stream.write_all(reply.as_bytes()).await;
    let _ = stream.shutdown().await;
}
