//! Programs that run beside a test: found where cargo puts them, ended with the test.

use std::io::{BufRead as _, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// A program that does not say where it listens for so long hangs.
const HANGS: Duration = Duration::from_secs(60);

/// An example of the workspace, built beside the tests.
pub fn example(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.push("examples");
    path.push(name);
    assert!(
        path.exists(),
        "`cargo test` of the workspace builds {path:?}, `cargo test --test` alone does not"
    );
    path
}

/// A server of its own process, until dropped.
pub struct Served {
    child: Child,
    /// Where it listens.
    pub url: String,
}

impl Served {
    /// Starts it, and waits until it has said where it listens.
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (send, lines) = channel();
        relay(child.stdout.take().unwrap(), send.clone());
        relay(child.stderr.take().unwrap(), send);
        let mut said = Vec::new();
        loop {
            match lines.recv_timeout(HANGS) {
                Ok(line) => match address(&line) {
                    Some(url) => return Served { child, url },
                    None => said.push(line),
                },
                Err(error) => {
                    child.kill().ok();
                    panic!("{command:?} names no address ({error}): {said:#?}");
                }
            }
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Reads to the end, so that the program never waits for a reader.
fn relay(from: impl Read + Send + 'static, to: Sender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            // Nobody wants to hear more once the address is known.
            to.send(line).ok();
        }
    });
}

/// The address of an MCP endpoint in a line of a banner.
fn address(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("http://")?;
    let end = rest
        .find(|it: char| it.is_whitespace() || "\"'`,<>)".contains(it))
        .unwrap_or(rest.len());
    let url = rest.get(..end)?.trim_end_matches(['.', '/']);
    let (_, path) = url.split_once('/')?;
    (path == "mcp").then(|| format!("http://{url}"))
}

#[test]
fn a_banner_names_the_address() {
    for (line, expected) in [
        ("http://127.0.0.1:4000/mcp", "http://127.0.0.1:4000/mcp"),
        (
            "serving on http://127.0.0.1:4000/mcp.",
            "http://127.0.0.1:4000/mcp",
        ),
        (
            r#"{"url": "http://127.0.0.1:4000/mcp"}"#,
            "http://127.0.0.1:4000/mcp",
        ),
        ("health: http://127.0.0.1:4000/healthz", ""),
        ("nothing", ""),
    ] {
        assert_eq!(address(line).unwrap_or_default(), expected, "{line}");
    }
}
