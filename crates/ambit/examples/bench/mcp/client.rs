//! A client that costs next to nothing: lines of JSON written and read by one thread, and looked
//! at no closer than it takes to know which call was answered.

use std::collections::HashMap;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// What is echoed: 64 bytes.
pub(crate) const PAYLOAD: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

pub(crate) struct Client {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    last: u64,
    line: String,
}

/// Calls of one tool over some time.
#[derive(Default)]
pub(crate) struct Calls {
    /// How long each took, in milliseconds.
    pub(crate) each: Vec<f64>,
    /// How long all of them took, in seconds.
    pub(crate) all: f64,
}

impl Client {
    /// Starts a server. It is not spoken to yet.
    pub(crate) fn start(mut command: Command) -> Result<Self, Box<dyn Error>> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{command:?}: {error}"))?;
        let from = child.stdout.take().ok_or("no output to read")?;
        Ok(Client {
            to: child.stdin.take(),
            from: BufReader::with_capacity(1 << 16, from),
            child,
            last: 0,
            line: String::new(),
        })
    }

    /// Says hello, as a client of the session era.
    pub(crate) fn hello(&mut self) -> Result<(), Box<dyn Error>> {
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"}});
        self.request("initialize", &hello)?;
        self.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string())
    }

    /// Sends a request; its number.
    pub(crate) fn send(&mut self, method: &str, params: &Value) -> Result<u64, Box<dyn Error>> {
        self.last += 1;
        let id = self.last;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(&request.to_string())?;
        Ok(id)
    }

    /// A request and the line that answers it.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Result<&str, Box<dyn Error>> {
        let id = self.send(method, params)?;
        while self.read()? != Some(id) {}
        Ok(&self.line)
    }

    /// Calls a tool for some time, so many calls at once.
    pub(crate) fn calls(
        &mut self,
        tool: &str,
        at_once: usize,
        time: Duration,
    ) -> Result<Calls, Box<dyn Error>> {
        let mut calls = Calls::default();
        let mut sent = HashMap::with_capacity(at_once);
        let begun = Instant::now();
        for _ in 0..at_once {
            self.call(tool, &mut sent)?;
        }
        while !sent.is_empty() {
            let answered = self.read()?;
            let Some(at) = answered.and_then(|id| sent.remove(&id)) else {
                continue;
            };
            calls.each.push(at.elapsed().as_secs_f64() * 1e3);
            // A refusal would be quick, and no measure.
            if !self.line.contains(PAYLOAD) {
                return Err(format!("`{tool}` was answered with {}", self.line.trim()).into());
            }
            if begun.elapsed() < time {
                self.call(tool, &mut sent)?;
            }
        }
        calls.all = begun.elapsed().as_secs_f64();
        Ok(calls)
    }

    /// The server's process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    fn call(&mut self, tool: &str, sent: &mut HashMap<u64, Instant>) -> Result<(), Box<dyn Error>> {
        self.last += 1;
        let id = self.last;
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"text":"{PAYLOAD}"}}}}}}"#
        );
        sent.insert(id, Instant::now());
        self.write(&line)
    }

    fn write(&mut self, line: &str) -> Result<(), Box<dyn Error>> {
        let to = self.to.as_mut().ok_or("its input is closed")?;
        Ok(to.write_all(format!("{line}\n").as_bytes())?)
    }

    /// Reads a line; the number of the request it answers, if it answers one.
    fn read(&mut self) -> Result<Option<u64>, Box<dyn Error>> {
        self.line.clear();
        if self.from.read_line(&mut self.line)? == 0 {
            return Err("the server went away".into());
        }
        let id = self.line.split_once(r#""id":"#).map(|(_, rest)| rest);
        let digits = id.and_then(|it| {
            it.trim_start()
                .split(|it: char| !it.is_ascii_digit())
                .next()
        });
        Ok(digits.and_then(|it| it.parse().ok()))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.to.take();
        // Whoever does not leave when its input ends is not waited for.
        for _ in 0..100 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
