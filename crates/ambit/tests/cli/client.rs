//! A raw MCP client: it writes lines of JSON and takes apart every line that comes back.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use ambit_testkit::Home;
use serde_json::{Value, json};

/// A server that says nothing for so long hangs.
const HANGS: Duration = Duration::from_secs(60);

pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    last: i64,
    /// Results for what the server asks, in order; without one it is told that nobody knows how.
    pub(crate) answers: VecDeque<Value>,
    /// What the server asked.
    pub(crate) asked: Vec<Value>,
    /// Methods of the notifications that came.
    pub(crate) notices: Vec<String>,
}

/// A client's name for itself.
pub(crate) fn named(name: &str) -> Value {
    json!({"name": name, "version": "1"})
}

/// Parameters of a request that stands for itself.
pub(crate) fn stateless(name: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": named(name),
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

impl Client {
    /// Starts `ambit mcp`, and says nothing yet.
    pub(crate) fn start(home: &Home, arguments: &[&str]) -> Self {
        let mut child = home
            .command(&[&["mcp"], arguments].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Client {
            stdin: child.stdin.take(),
            child,
            lines,
            last: 0,
            answers: VecDeque::new(),
            asked: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// Starts it and says hello, as a client of which nothing is known.
    pub(crate) fn connect(home: &Home, arguments: &[&str]) -> Self {
        let mut client = Client::start(home, arguments);
        client.initialize(named("raw"), json!({}));
        client
    }

    pub(crate) fn initialize(&mut self, info: Value, capabilities: Value) -> Value {
        let hello = self.request(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": info}),
        );
        assert_eq!(hello["result"]["protocolVersion"], "2025-06-18", "{hello}");
        assert_eq!(hello["result"]["serverInfo"]["name"], "ambit", "{hello}");
        self.notify("notifications/initialized", json!({}));
        hello
    }

    /// Sends a request; the answer is to be waited for.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> i64 {
        self.last += 1;
        self.write(json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        self.last
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.write(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// A request and its answer. What comes between is answered and kept.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        loop {
            let message = self.next_message();
            match (message["method"].as_str(), message["id"].as_i64()) {
                (None, answered) => {
                    assert_eq!(answered, Some(id), "{message}");
                    return message;
                }
                (Some(_), Some(asked)) => {
                    let answer = match self.answers.pop_front() {
                        Some(result) => json!({"jsonrpc": "2.0", "id": asked, "result": result}),
                        None => {
                            json!({"jsonrpc": "2.0", "id": asked, "error": {"code": -32601, "message": "what?"}})
                        }
                    };
                    self.asked.push(message);
                    self.write(answer);
                }
                (Some(method), None) => self.notices.push(method.to_owned()),
            }
        }
    }

    /// A tool call on one line: `ok TEXT`, `isError TEXT` or `error CODE MESSAGE`.
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> String {
        let answer = self.request("tools/call", json!({"name": name, "arguments": arguments}));
        if let Some(error) = answer.get("error") {
            let message = error["message"].as_str().unwrap_or_default();
            return format!("error {} {message}", error["code"]);
        }
        let result = &answer["result"];
        let blocks = result["content"].as_array().unwrap().iter();
        let text: String = blocks.filter_map(|it| it["text"].as_str()).collect();
        match result["isError"].as_bool() {
            Some(true) => format!("isError {text}"),
            _ => format!("ok {text}"),
        }
    }

    /// The names of the tools.
    pub(crate) fn tools(&mut self) -> Vec<String> {
        let listed = self.request("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().iter();
        tools
            .map(|it| it["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Asks for the list until it is as wanted.
    #[track_caller]
    pub(crate) fn until(&mut self, wanted: impl Fn(&[String]) -> bool) {
        let begun = Instant::now();
        while !wanted(&self.tools()) {
            assert!(begun.elapsed() < HANGS, "{:?}", self.tools());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The next line, which has to be a message: nothing else may be on standard output.
    pub(crate) fn next_message(&mut self) -> Value {
        let line = self.lines.recv_timeout(HANGS).unwrap();
        message(&line)
    }

    /// Closes the server's input and waits for its end.
    pub(crate) fn end(mut self) -> i32 {
        self.stdin.take();
        let code = self.child.wait().unwrap().code().unwrap_or(255);
        self.lines.iter().for_each(|line| drop(message(&line)));
        code
    }

    /// Tells the server to stop, its input still open.
    pub(crate) fn stop(mut self) -> i32 {
        let process = self.child.id().to_string();
        let told = std::process::Command::new("kill").arg(process).status();
        assert!(told.unwrap().success());
        self.child.wait().unwrap().code().unwrap_or(255)
    }

    fn write(&mut self, message: Value) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{message}").unwrap();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.stdin.take();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn message(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    message
}
