//! A raw HTTP client: one request, one connection, and every byte of the answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// A server that says nothing for so long hangs.
const HANGS: Duration = Duration::from_secs(60);

/// A request to be.
#[derive(Clone)]
pub(crate) struct Request {
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn get(path: &str) -> Self {
        Request {
            method: "GET",
            path: path.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// A message of the protocol.
    pub(crate) fn post(path: &str, body: impl Into<Vec<u8>>) -> Self {
        let request = Request {
            method: "POST",
            body: body.into(),
            ..Request::get(path)
        };
        request
            .with("Content-Type", "application/json")
            .with("Accept", "application/json, text/event-stream")
    }

    pub(crate) fn options(path: &str) -> Self {
        Request {
            method: "OPTIONS",
            ..Request::get(path)
        }
    }

    pub(crate) fn delete(path: &str) -> Self {
        Request {
            method: "DELETE",
            ..Request::get(path)
        }
    }

    /// With a header; `Host` in place of the usual one.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn head(&self, address: SocketAddr) -> String {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        if !self.headers.iter().any(|(name, _)| name == "Host") {
            head.push_str(&format!("Host: {address}\r\n"));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", self.body.len()));
        head
    }

    /// Sends it, and the connection with the answer still to come.
    pub(crate) fn begin(&self, address: SocketAddr) -> TcpStream {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(HANGS)).unwrap();
        stream.write_all(self.head(address).as_bytes()).unwrap();
        // A server may answer, and close, before it has read everything.
        let _ = stream.write_all(&self.body);
        stream
    }

    /// Sends it and reads the whole answer.
    pub(crate) fn send(&self, address: SocketAddr) -> Answer {
        let request = self.clone().with("Connection", "close");
        read(request.begin(address))
    }
}

/// Reads one answer to its end.
pub(crate) fn read(stream: TcpStream) -> Answer {
    try_read(stream).unwrap()
}

/// Reads one answer, if one comes.
pub(crate) fn try_read(stream: TcpStream) -> std::io::Result<Answer> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|it| it.parse().ok());
    let status = status.ok_or(std::io::ErrorKind::UnexpectedEof)?;
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push((name.to_lowercase(), value.trim().to_owned())),
            None => break,
        }
    }
    let answer = Answer {
        status,
        headers,
        body: String::new(),
    };
    let body = match (
        answer.header("transfer-encoding"),
        answer.header("content-length"),
    ) {
        (Some(_), _) => chunks(&mut stream)?,
        (None, Some(length)) => {
            let mut body = vec![0; length.parse().unwrap()];
            stream.read_exact(&mut body)?;
            body
        }
        (None, None) => Vec::new(),
    };
    Ok(Answer {
        body: String::from_utf8(body).unwrap(),
        ..answer
    })
}

fn chunks(stream: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut size = String::new();
        stream.read_line(&mut size)?;
        let size = usize::from_str_radix(size.trim(), 16).map_err(std::io::Error::other)?;
        let mut chunk = vec![0; size + 2];
        stream.read_exact(&mut chunk)?;
        if size == 0 {
            return Ok(body);
        }
        body.extend_from_slice(&chunk[..size]);
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(it, _)| it == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The message in it, as JSON or as the last event of a stream.
    #[track_caller]
    pub(crate) fn message(&self) -> Value {
        let mut events = self.body.lines().filter_map(|it| it.strip_prefix("data: "));
        let event = events.rfind(|it| !it.trim().is_empty());
        let text = event.unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|_| panic!("{self:?}"))
    }
}
