//! A running `ambit serve` in a home of its own, and clients of both eras.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::http::{Answer, Request};

/// What takes longer does not come.
const COMES: Duration = Duration::from_secs(60);

pub(crate) struct Server {
    pub(crate) home: Home,
    pub(crate) address: SocketAddr,
    /// What it said when it was up.
    pub(crate) welcome: Value,
    child: Child,
    log: Receiver<String>,
    heard: Vec<String>,
}

/// A home with a file in it.
pub(crate) fn home() -> Home {
    let home = Home::new(env!("CARGO_BIN_EXE_ambit"));
    home.write("a.txt", "hello");
    home
}

/// A home whose user wrote this config.
pub(crate) fn configured(config: &Value) -> Home {
    let home = home();
    home.user_config(&config.to_string());
    home
}

/// A new token for an agent.
pub(crate) fn token(home: &Home, agent: &str) -> String {
    let issued = home.run(&["agents", "token", agent, "--json"]).exits(0);
    issued.json()["token"].as_str().unwrap().to_owned()
}

impl Server {
    pub(crate) fn start(home: Home, arguments: &[&str]) -> Self {
        let anywhere: &[&str] = match arguments.contains(&"--listen") {
            true => &[],
            false => &["--listen", "127.0.0.1:0"],
        };
        let always = ["serve", "--json", "--log-format", "json"];
        let arguments = [&always[..], anywhere, arguments];
        let mut child = home
            .command(&arguments.concat())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut welcome = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut welcome).unwrap();
        let welcome: Value = serde_json::from_str(&welcome).unwrap_or_else(|_| panic!("{welcome}"));
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (send, log) = channel();
        std::thread::spawn(move || {
            let lines = stderr.lines().map_while(Result::ok);
            lines.for_each(|line| drop(send.send(line)));
        });
        Server {
            address: welcome["address"].as_str().unwrap().parse().unwrap(),
            home,
            welcome,
            child,
            log,
            heard: Vec::new(),
        }
    }

    pub(crate) fn send(&self, request: &Request) -> Answer {
        request.send(self.address)
    }

    /// Waits until the log says this.
    #[track_caller]
    pub(crate) fn says(&mut self, what: &str) -> Value {
        let until = Instant::now() + COMES;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.log.recv_timeout(left) {
                Ok(line) if line.contains(what) => return serde_json::from_str(&line).unwrap(),
                Ok(line) => self.heard.push(line),
                Err(_) => panic!("`{what}` was not said: {:#?}", self.heard),
            }
        }
    }

    /// Asks again and again until the answer is this.
    #[track_caller]
    pub(crate) fn becomes(&self, request: &Request, status: u16) {
        let until = Instant::now() + COMES;
        loop {
            let answer = self.send(request);
            if answer.status == status {
                return;
            }
            assert!(Instant::now() < until, "{answer:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until its page of numbers has this line.
    #[track_caller]
    pub(crate) fn counts(&self, line: &str) {
        let until = Instant::now() + COMES;
        loop {
            let page = self.send(&Request::get("/metrics")).body;
            if page.lines().any(|it| it == line) {
                return;
            }
            assert!(Instant::now() < until, "{line}\n{page}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kilobytes of memory in use.
    pub(crate) fn memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status
            .lines()
            .find_map(|it| it.strip_prefix("VmRSS:"))
            .unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Tells it to stop.
    pub(crate) fn tell_to_stop(&self) {
        let process = self.child.id().to_string();
        let told = std::process::Command::new("kill").arg(process).status();
        assert!(told.unwrap().success());
    }

    /// Waits for its end.
    pub(crate) fn ended(&mut self) -> i32 {
        self.child.wait().unwrap().code().unwrap_or(255)
    }

    /// Kills it, and what is left of it.
    pub(crate) fn killed(mut self) -> Home {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::mem::replace(&mut self.home, Home::new(env!("CARGO_BIN_EXE_ambit")))
    }

    /// Tells it to stop and waits for its end.
    pub(crate) fn stop(&mut self) -> i32 {
        self.tell_to_stop();
        self.ended()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request of the session era that says hello.
pub(crate) fn hello(path: &str, name: &str) -> Request {
    let params = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": name, "version": "1"},
    });
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    Request::post(path, message.to_string())
}

/// A request in a session.
pub(crate) fn within(path: &str, session: &str, method: &str, params: Value) -> Request {
    let message = json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": params});
    Request::post(path, message.to_string()).with("Mcp-Session-Id", session)
}

/// A tool call in a session.
pub(crate) fn read_file(path: &str, session: &str) -> Request {
    let params = json!({"name": "files__read_file", "arguments": {"path": "a.txt"}});
    within(path, session, "tools/call", params)
}

/// A request that stands for itself.
pub(crate) fn stateless(path: &str, method: &str, mut params: Value) -> Request {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let name = params["name"].as_str().map(str::to_owned);
    let message = json!({"jsonrpc": "2.0", "id": 3, "method": method, "params": params});
    let request = Request::post(path, message.to_string())
        .with("Mcp-Protocol-Version", "2026-07-28")
        .with("Mcp-Method", method);
    match name {
        Some(name) => request.with("Mcp-Name", &name),
        None => request,
    }
}

/// A tool call that stands for itself.
pub(crate) fn stateless_read(path: &str) -> Request {
    let arguments = json!({"name": "files__read_file", "arguments": {"path": "a.txt"}});
    let params = json!({"name": "call_tool", "arguments": arguments});
    stateless(path, "tools/call", params)
}

impl Server {
    /// Opens a session with this hello, and says its id.
    #[track_caller]
    pub(crate) fn open(&self, hello: &Request) -> String {
        let answer = self.send(hello);
        let id = answer.header("mcp-session-id");
        id.unwrap_or_else(|| panic!("{answer:?}")).to_owned()
    }
}

/// The text of a tool's result.
#[track_caller]
pub(crate) fn text(answer: &Answer) -> String {
    let message = answer.message();
    let text = message["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}
