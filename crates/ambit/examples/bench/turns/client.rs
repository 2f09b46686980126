//! A client that costs next to nothing, and the servers it asks.

use std::io::{BufRead, BufReader as Lines};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::Outcome;
use crate::mcp::contenders::beside;
use crate::sample::Sample;

/// A server of its own process, until dropped.
pub(super) struct Server {
    authority: String,
    child: Child,
}

impl Server {
    /// `ambit serve` in a sample's home.
    pub(super) fn ambit(sample: &Sample) -> Outcome<Self> {
        let mut serve = Command::new(beside("ambit")?);
        serve.args(["serve", "--listen", "127.0.0.1:0"]);
        serve.env_clear().env("HOME", sample.home());
        Self::start(serve.current_dir(sample.folder()))
    }

    /// What answers with what it is sent.
    pub(super) fn echo() -> Outcome<Self> {
        Self::start(&mut Command::new(beside("examples/bench_axum")?))
    }

    fn start(command: &mut Command) -> Outcome<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn()?;
        let stdout = Lines::new(child.stdout.take().ok_or("no output to read")?);
        let mut lines = stdout.lines().map_while(Result::ok);
        let said = lines.find_map(|line| Some(line.split_once("http://")?.1.to_owned()));
        let said = said.ok_or("a server does not say where it listens")?;
        let end = said.find(['/', ' ']).unwrap_or(said.len());
        let authority = said.get(..end).unwrap_or_default().to_owned();
        Ok(Server { authority, child })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How long each request took, in milliseconds, and all of them, in seconds.
#[derive(Default)]
pub(super) struct Measured {
    pub(super) each: Vec<f64>,
    all: f64,
}

impl Measured {
    pub(super) fn add(&mut self, other: Measured) {
        self.each.extend(other.each);
        self.all += other.all;
    }

    pub(super) fn rate(&self) -> f64 {
        self.each.len() as f64 / self.all
    }
}

/// One request, on as many connections as ask at once.
pub(super) struct Subject(Vec<Asker>);

struct Asker {
    stream: BufReader<TcpStream>,
    request: String,
    line: String,
}

impl Subject {
    /// Something asked of a session; each connection has one of its own, its first turn begun.
    pub(super) async fn in_sessions(
        server: &Server,
        most: usize,
        what: &str,
        body: &Value,
    ) -> Outcome<Self> {
        let mut askers = Vec::new();
        for _ in 0..most {
            let mut asker = Asker::connect(server).await?;
            let opened = asker.send(&request(server, "/v1/sessions", "{}")).await?;
            let opened: Value = serde_json::from_slice(&opened)?;
            let id = opened.get("id").and_then(Value::as_str);
            let id = id.ok_or("no session was opened")?;
            let at = format!("/v1/sessions/{id}");
            asker
                .send(&request(server, &format!("{at}/turns"), "{}"))
                .await?;
            asker.request = request(server, &format!("{at}/{what}"), &body.to_string());
            askers.push(asker);
        }
        Ok(Subject(askers))
    }

    /// The same bytes to whoever just answers with them.
    pub(super) async fn plain(server: &Server, most: usize, body: &Value) -> Outcome<Self> {
        let mut askers = Vec::new();
        for _ in 0..most {
            let mut asker = Asker::connect(server).await?;
            asker.request = request(server, "/", &body.to_string());
            askers.push(asker);
        }
        Ok(Subject(askers))
    }

    /// Asks for some time.
    pub(super) async fn ask(&mut self, at_once: usize, time: Duration) -> Outcome<Measured> {
        let begun = Instant::now();
        let rest = self.0.split_off(at_once.min(self.0.len()));
        let mut asking = JoinSet::new();
        for mut asker in self.0.drain(..) {
            asking.spawn_local(async move {
                let mut each = Vec::new();
                let request = asker.request.clone();
                while begun.elapsed() < time {
                    let sent = Instant::now();
                    asker.send(&request).await?;
                    each.push(sent.elapsed().as_secs_f64() * 1e3);
                }
                Outcome::Ok((each, asker))
            });
        }
        let mut measured = Measured::default();
        while let Some(ended) = asking.join_next().await {
            let (each, asker) = ended??;
            measured.each.extend(each);
            self.0.push(asker);
        }
        measured.all = begun.elapsed().as_secs_f64();
        self.0.extend(rest);
        Ok(measured)
    }
}

fn request(server: &Server, path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        server.authority,
        body.len()
    )
}

impl Asker {
    async fn connect(server: &Server) -> Outcome<Self> {
        let stream = TcpStream::connect(&server.authority).await?;
        stream.set_nodelay(true)?;
        Ok(Asker {
            stream: BufReader::new(stream),
            request: String::new(),
            line: String::new(),
        })
    }

    /// A request, and the body of its answer.
    async fn send(&mut self, request: &str) -> Outcome<Vec<u8>> {
        self.stream.write_all(request.as_bytes()).await?;
        let status = self.line().await?.to_owned();
        let mut length = 0;
        while let Some((name, value)) = self.line().await?.split_once(':') {
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await?;
        // A refusal would be quick, and no measure.
        match status.contains(" 200 ") || status.contains(" 201 ") {
            true => Ok(body),
            false => Err(format!("{status}: {}", String::from_utf8_lossy(&body)).into()),
        }
    }

    async fn line(&mut self) -> Outcome<&str> {
        self.line.clear();
        if self.stream.read_line(&mut self.line).await? == 0 {
            return Err("the server closed the connection".into());
        }
        Ok(self.line.trim_end())
    }
}
