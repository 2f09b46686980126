//! The same clients against `ambit serve`, with a server behind it: they list and call, are told
//! no, read a resource and take a prompt.

use std::process::Output;

use ambit_testkit::{Home, Served, example};
use serde_json::json;

use crate::clients::{peer, run};
use crate::support::configured;

/// Ambit in front of the fixture.
struct Gateway {
    home: Home,
    served: Served,
}

impl Gateway {
    fn start() -> Self {
        let fixture = json!({"command": example("conformance_server"), "args": ["--stdio"]});
        let home = configured(json!({"mcpServers": {"fixture": fixture}}));
        let serve = ["serve", "--listen", "127.0.0.1:0", "--style", "full"];
        let served = Served::start(home.command(&serve));
        Gateway { home, served }
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        run(&self.home, program, arguments)
    }

    /// A script that checks for itself, and says a line for each way to begin.
    #[track_caller]
    fn check_script(&self, program: &str, arguments: &[&str]) {
        let output = self.run(program, &[arguments, &[&self.served.url]].concat());
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said.lines().count(), 3, "{output:?}");
    }
}

#[test]
fn the_python_sdk_is_served_over_http() {
    let Some(python) = peer("AMBIT_MCP_PYTHON") else {
        return;
    };
    let gateway = Gateway::start();
    let script = gateway
        .home
        .write("client.py", include_str!("http_client.py"));
    gateway.check_script(&python, &[script.to_str().unwrap()]);
}

#[test]
fn the_typescript_sdk_is_served_over_http() {
    let Some(sdk) = peer("AMBIT_MCP_TYPESCRIPT") else {
        return;
    };
    let gateway = Gateway::start();
    let script = gateway
        .home
        .write("client.mjs", include_str!("http_client.mjs"));
    gateway.check_script("node", &[script.to_str().unwrap(), &sdk]);
}

#[test]
fn the_inspector_is_served_over_http() {
    let (Some(node), Some(inspector)) = (peer("AMBIT_NODE24"), peer("AMBIT_MCP_INSPECTOR")) else {
        return;
    };
    /// What the inspector exits with when a tool said that it failed.
    const TOOL_ERROR: i32 = 5;
    const CASES: [(&str, &[&str], i32, &str); 5] = [
        ("tools/list", &[], 0, "fixture__test_simple_text"),
        (
            "tools/call",
            &["--tool-name", "fixture__test_simple_text"],
            0,
            "This is a simple text response",
        ),
        (
            "tools/call",
            &[
                "--tool-name",
                "files__write_file",
                "--tool-args-json",
                r#"{"path": "b.txt", "content": ""}"#,
            ],
            TOOL_ERROR,
            "approval_pending: ",
        ),
        (
            "resources/read",
            &["--uri", "test://static-text"],
            0,
            "This is the content of the static text resource.",
        ),
        (
            "prompts/get",
            &["--prompt-name", "fixture__test_simple_prompt"],
            0,
            "This is a simple prompt for testing.",
        ),
    ];
    let gateway = Gateway::start();
    let target = [
        &inspector,
        "--cli",
        &gateway.served.url,
        "--transport",
        "http",
    ];
    for era in ["legacy", "modern"] {
        for (method, more, code, says) in CASES {
            let asked = ["--protocol-era", era, "--method", method];
            let output = gateway.run(&node, &[&target[..], &asked, more].concat());
            assert_eq!(
                output.status.code(),
                Some(code),
                "{era} {method}: {output:?}"
            );
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            assert!(said.contains(says), "{era} {method}: {said}");
        }
    }
}
