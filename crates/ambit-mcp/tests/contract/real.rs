//! Servers others wrote, where they are installed: listed, started by the call that needs them and
//! no sooner, killed in mid-call, and started again.

use std::fs;
use std::path::Path;
use std::process::Command;

use ambit_core::code::Code;
use ambit_core::event::EventBody;
use ambit_mcp::{ServerSpec, ServerState, Transport};
use serde_json::{Value, json};

use crate::support::{Rig, text, until_gone};

/// A server, and a call of it whose answer is known.
struct Real {
    /// The variable that names what is to be run.
    variable: &'static str,
    /// What stands before it on the command line.
    interpreter: &'static [&'static str],
    arguments: Vec<String>,
    env: Vec<(String, String)>,
    tool: &'static str,
    input: Value,
    answer: &'static str,
}

impl Real {
    /// How it is started, each start leaving a line in a file; nothing where it is not installed.
    fn spec(&self, starts: &Path) -> Option<ServerSpec> {
        let Ok(program) = std::env::var(self.variable) else {
            use std::io::Write as _;
            let note = format!("skipped: {} is not set\n", self.variable);
            std::io::stderr().write_all(note.as_bytes()).unwrap();
            return None;
        };
        let counted = ["-c", "echo started >> \"$0\"; exec \"$@\""].map(str::to_owned);
        let started = [starts.to_str().unwrap().to_owned()];
        let interpreter = self.interpreter.iter().map(|it| (*it).to_owned());
        let args = counted.into_iter().chain(started).chain(interpreter);
        let args = args.chain([program]).chain(self.arguments.clone());
        let transport = Transport::Stdio {
            command: "sh".to_owned(),
            args: args.collect(),
            env: self.env.clone(),
            cwd: None,
        };
        Some(ServerSpec::new("real", transport))
    }
}

fn signal(process: u32, signal: &str) {
    let told = Command::new("kill")
        .args([signal, &process.to_string()])
        .status();
    assert!(told.unwrap().success());
}

async fn check(real: Real) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("starts");
    let starts = || fs::read_to_string(&file).map_or(0, |it| it.lines().count());
    let Some(spec) = real.spec(&file) else {
        return;
    };
    let id = format!("mcp__real__{}", real.tool);
    let rig = Rig::listed([spec]).await;
    let listed = starts();
    let status = rig.server().status();
    assert!(status.tools > 0 && listed > 0, "{status:?}");

    let rig = rig.restarted().await;
    assert!(rig.wire_names().contains(&format!("real__{}", real.tool)));
    assert_eq!(starts(), listed, "what was seen before is not started");
    assert_eq!(rig.server().status().state, ServerState::NotConnected);
    let call = || rig.call(&id, real.input.clone());
    assert_eq!(text(&call().await), real.answer);
    assert!(starts() > listed);

    // A server that was stopped cannot answer, so whenever it is killed is in mid-call.
    let process = rig.server().status().process.unwrap();
    signal(process, "-STOP");
    let started = |it: &EventBody| matches!(it, EventBody::ToolStarted { .. });
    let killed = async {
        rig.until_recorded(2, started).await;
        signal(process, "-KILL");
    };
    let (observation, ()) = tokio::join!(call(), killed);
    assert_eq!(
        observation.code(),
        Some(Code::ProviderUnreachable),
        "{observation:?}"
    );
    let failed = |it: &EventBody| matches!(it, EventBody::ToolObservation(it) if it.code == Some(Code::ProviderUnreachable));
    rig.until_recorded(1, failed).await;
    until_gone(process).await;

    let before = starts();
    assert_eq!(text(&call().await), real.answer);
    assert_eq!(starts(), before + 1, "started again, once");
}

#[tokio::test]
async fn server_everything() {
    check(Real {
        variable: "AMBIT_MCP_EVERYTHING",
        interpreter: &["node"],
        arguments: vec!["stdio".to_owned()],
        env: Vec::new(),
        tool: "echo",
        input: json!({"message": "hi"}),
        answer: "Echo: hi",
    })
    .await;
}

#[tokio::test]
async fn server_filesystem() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap().to_owned();
    fs::write(folder.path().join("a.txt"), "hello").unwrap();
    check(Real {
        variable: "AMBIT_MCP_FILESYSTEM",
        interpreter: &["node"],
        input: json!({"path": format!("{path}/a.txt")}),
        arguments: vec![path],
        env: Vec::new(),
        tool: "read_text_file",
        answer: "hello",
    })
    .await;
}

#[tokio::test]
async fn server_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.jsonl");
    let path = path.to_str().unwrap().to_owned();
    check(Real {
        variable: "AMBIT_MCP_MEMORY",
        interpreter: &["node"],
        arguments: Vec::new(),
        env: vec![("MEMORY_FILE_PATH".to_owned(), path)],
        tool: "open_nodes",
        input: json!({"names": ["nobody"]}),
        answer: "{\n  \"entities\": [],\n  \"relations\": []\n}",
    })
    .await;
}

#[tokio::test]
async fn a_server_written_with_fastmcp() {
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/contract/fastmcp_server.py"
    );
    check(Real {
        variable: "AMBIT_FASTMCP",
        interpreter: &[],
        arguments: vec![script.to_owned()],
        env: Vec::new(),
        tool: "add",
        input: json!({"a": 40, "b": 2}),
        answer: "42",
    })
    .await;
}
