//! A client that costs next to nothing: requests written by hand on connections that are kept
//! open, answers looked at no closer than it takes to know where they end.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::{Era, Outcome, PAYLOAD};

const STATELESS: &str = "2026-07-28";
const SESSIONS: &str = "2025-06-18";

/// Calls of one session that run at once must not have the same number.
static CALLS: AtomicU64 = AtomicU64::new(1);

/// A server that was said hello to, and how its tool is called there.
#[derive(Clone)]
pub(crate) struct Raw {
    authority: String,
    path: String,
    era: Era,
    session: Option<String>,
    tool: String,
}

impl Raw {
    /// Says hello, where that is done.
    pub(crate) async fn new(url: &str, era: Era, tool: &str) -> Outcome<Self> {
        let rest = url.strip_prefix("http://").ok_or("not http")?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let mut raw = Raw {
            authority: authority.to_owned(),
            path: format!("/{path}"),
            era,
            session: None,
            tool: tool.to_owned(),
        };
        if era == Era::Sessions {
            let mut connection = raw.connect().await?;
            let hello = json!({"protocolVersion": SESSIONS, "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"}});
            let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello});
            raw.session = connection.send(&raw.request(&hello)).await?.session;
            let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            connection.send(&raw.request(&ready)).await?;
        }
        Ok(raw)
    }

    pub(crate) async fn connect(&self) -> Outcome<Connection> {
        let stream = TcpStream::connect(&self.authority).await?;
        stream.set_nodelay(true)?;
        Ok(Connection {
            stream: BufReader::new(stream),
            line: String::new(),
        })
    }

    /// One call of the tool.
    pub(crate) async fn call(&self, on: &mut Connection) -> Outcome {
        let mut params = json!({"name": self.tool, "arguments": {"text": PAYLOAD}});
        if let (Era::Stateless, Some(params)) = (self.era, params.as_object_mut()) {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            params.insert("_meta".to_owned(), meta);
        }
        let id = CALLS.fetch_add(1, Ordering::Relaxed);
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        let answer = on.send(&self.request(&call)).await?;
        // A refusal would be quick, and no measure.
        match answer.body.contains(PAYLOAD) {
            true => Ok(()),
            false => Err(format!("`{}` was answered with {}", self.tool, answer.body).into()),
        }
    }

    fn request(&self, message: &Value) -> String {
        let body = message.to_string();
        let more = match (&self.session, self.era) {
            (Some(id), _) => format!("mcp-session-id: {id}\r\n"),
            (None, Era::Sessions) => String::new(),
            (None, Era::Stateless) => format!(
                "mcp-protocol-version: {STATELESS}\r\nmcp-method: tools/call\r\nmcp-name: {}\r\n",
                self.tool
            ),
        };
        format!(
            "POST {} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{more}content-length: {}\r\n\r\n{body}",
            self.path,
            self.authority,
            body.len()
        )
    }
}

struct Answer {
    session: Option<String>,
    body: String,
}

/// A connection that is kept open.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    line: String,
}

impl Connection {
    /// A request, and the whole of its answer.
    async fn send(&mut self, request: &str) -> Outcome<Answer> {
        self.stream.write_all(request.as_bytes()).await?;
        let status = self.line().await?.to_owned();
        let (mut length, mut session) = (None, None);
        while let Some((name, value)) = self.line().await?.split_once(':') {
            if name.eq_ignore_ascii_case("content-length") {
                length = Some(value.trim().parse()?);
            } else if name.eq_ignore_ascii_case("mcp-session-id") {
                session = Some(value.trim().to_owned());
            }
        }
        let mut body = Vec::new();
        match length {
            Some(length) => self.take(length, &mut body).await?,
            None if status.contains(" 202 ") || status.contains(" 204 ") => {}
            None => self.chunks(&mut body).await?,
        }
        let body = String::from_utf8(body)?;
        match status.contains(" 200 ") || status.contains(" 202 ") {
            true => Ok(Answer { session, body }),
            false => Err(format!("{status}: {body}").into()),
        }
    }

    async fn chunks(&mut self, body: &mut Vec<u8>) -> Outcome {
        loop {
            let length = usize::from_str_radix(self.line().await?, 16)?;
            self.take(length, body).await?;
            self.line().await?;
            if length == 0 {
                return Ok(());
            }
        }
    }

    async fn take(&mut self, length: usize, body: &mut Vec<u8>) -> Outcome {
        let from = body.len();
        body.resize(from + length, 0);
        let rest = body.get_mut(from..).unwrap_or_default();
        self.stream.read_exact(rest).await?;
        Ok(())
    }

    async fn line(&mut self) -> Outcome<&str> {
        self.line.clear();
        if self.stream.read_line(&mut self.line).await? == 0 {
            return Err("the server closed the connection".into());
        }
        Ok(self.line.trim_end())
    }
}
