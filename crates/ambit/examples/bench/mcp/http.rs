//! The same client over streamable HTTP, for proxies that have no other front: one connection and
//! one thread for each call at once.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Calls, PAYLOAD};

/// How long a proxy may take to listen.
const PATIENCE: Duration = Duration::from_secs(30);

type Failure = Box<dyn Error + Send + Sync>;

pub(crate) struct HttpClient {
    child: Child,
    port: u16,
    session: Option<String>,
}

/// A port nobody listens on.
pub(crate) fn free_port() -> Result<u16, Box<dyn Error>> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

impl HttpClient {
    /// Starts a proxy that listens on this port, and says hello.
    pub(crate) fn start(mut command: Command, port: u16) -> Result<Self, Box<dyn Error>> {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = quiet.stderr(Stdio::null()).spawn()?;
        let mut client = HttpClient {
            child,
            port,
            session: None,
        };
        let begun = Instant::now();
        let mut connection = loop {
            match Connection::open(port) {
                Ok(connection) => break connection,
                Err(error) if begun.elapsed() > PATIENCE => return Err(error.into()),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"}});
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello});
        let answer = connection
            .post(&hello, None)
            .map_err(|it| it as Box<dyn Error>)?;
        client.session = answer.session;
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let session = client.session.as_deref();
        connection
            .post(&ready, session)
            .map_err(|it| it as Box<dyn Error>)?;
        Ok(client)
    }

    /// Calls a tool for some time, so many calls at once.
    pub(crate) fn calls(
        &mut self,
        tool: &str,
        at_once: usize,
        time: Duration,
    ) -> Result<Calls, Box<dyn Error>> {
        let begun = Instant::now();
        let (port, session) = (self.port, self.session.as_deref());
        let each = std::thread::scope(|scope| {
            let callers: Vec<_> = (0..at_once)
                .map(|caller| scope.spawn(move || caller_calls(port, session, tool, caller, time)))
                .collect();
            let mut each = Vec::new();
            for caller in callers {
                let calls = caller.join().map_err(|_| "a caller panicked")?;
                each.extend(calls.map_err(|it| it as Box<dyn Error>)?);
            }
            Ok::<_, Box<dyn Error>>(each)
        })?;
        Ok(Calls {
            each,
            all: begun.elapsed().as_secs_f64(),
        })
    }
}

impl Drop for HttpClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn caller_calls(
    port: u16,
    session: Option<&str>,
    tool: &str,
    caller: usize,
    time: Duration,
) -> Result<Vec<f64>, Failure> {
    let mut connection = Connection::open(port)?;
    let mut each = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < time {
        let params = json!({"name": tool, "arguments": {"text": PAYLOAD}});
        let id = format!("{caller}-{}", each.len());
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        let sent = Instant::now();
        let answer = connection.post(&call, session)?;
        each.push(sent.elapsed().as_secs_f64() * 1e3);
        if !answer.body.contains(PAYLOAD) {
            return Err(format!("`{tool}` was answered with {}", answer.body).into());
        }
    }
    Ok(each)
}

struct Answer {
    session: Option<String>,
    body: String,
}

/// One connection that is kept open.
struct Connection {
    to: TcpStream,
    from: BufReader<TcpStream>,
}

impl Connection {
    fn open(port: u16) -> std::io::Result<Self> {
        let to = TcpStream::connect(("127.0.0.1", port))?;
        to.set_nodelay(true)?;
        let from = BufReader::new(to.try_clone()?);
        Ok(Connection { to, from })
    }

    fn post(&mut self, message: &Value, session: Option<&str>) -> Result<Answer, Failure> {
        let body = message.to_string();
        let session = session.map_or_else(String::new, |it| format!("mcp-session-id: {it}\r\n"));
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{session}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.to.write_all(request.as_bytes())?;
        let mut length = None;
        let mut session = None;
        let status = self.line()?;
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = Some(value.trim().parse()?),
                "mcp-session-id" => session = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        let body = match length {
            Some(length) => self.take(length)?,
            None => self.chunks()?,
        };
        match status.contains(" 200 ") || status.contains(" 202 ") {
            true => Ok(Answer { session, body }),
            false => Err(format!("{status} {body}").into()),
        }
    }

    fn chunks(&mut self) -> Result<String, Failure> {
        let mut body = String::new();
        loop {
            let length = usize::from_str_radix(&self.line()?, 16)?;
            body.push_str(&self.take(length)?);
            self.line()?;
            if length == 0 {
                return Ok(body);
            }
        }
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    fn take(&mut self, length: usize) -> Result<String, Failure> {
        let mut bytes = vec![0; length];
        self.from.read_exact(&mut bytes)?;
        Ok(String::from_utf8(bytes)?)
    }
}
