//! MCP clients others wrote, where they are installed, against `ambit mcp` in both eras of the
//! protocol: they list, call, and are told no.

use std::process::{Command, Output};

use ambit_testkit::Home;

use crate::support::{fresh, home, skipped};

const AMBIT: &str = env!("CARGO_BIN_EXE_ambit");

fn with_file(home: Home) -> Home {
    home.write("a.txt", "hello");
    home
}

/// The program a variable names.
pub(crate) fn peer(variable: &str) -> Option<String> {
    let named = std::env::var(variable).ok();
    if named.is_none() {
        skipped(&format!("{variable} is not set"));
    }
    named
}

pub(crate) fn run(home: &Home, program: &str, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .current_dir(home.work())
        .env("HOME", home.home())
        .output()
        .unwrap()
}

/// A script that checks for itself, and says a line for each era and style.
fn check_script(home: &Home, program: &str, arguments: &[&str]) {
    let output = run(home, program, arguments);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.lines().count(), 6, "{output:?}");
}

#[test]
fn the_python_sdk_is_served() {
    let Some(python) = peer("AMBIT_MCP_PYTHON") else {
        return;
    };
    let home = with_file(fresh());
    let script = home.write("client.py", include_str!("client.py"));
    check_script(&home, &python, &[script.to_str().unwrap(), AMBIT]);
}

#[test]
fn the_typescript_sdk_is_served() {
    let Some(sdk) = peer("AMBIT_MCP_TYPESCRIPT") else {
        return;
    };
    let home = with_file(home());
    let script = home.write("client.mjs", include_str!("client.mjs"));
    check_script(&home, "node", &[script.to_str().unwrap(), &sdk, AMBIT]);
}

#[test]
fn the_inspector_is_served() {
    let (Some(node), Some(inspector)) = (peer("AMBIT_NODE24"), peer("AMBIT_MCP_INSPECTOR")) else {
        return;
    };
    /// What the inspector exits with when a tool said that it failed.
    const TOOL_ERROR: i32 = 5;
    let read = [
        "--tool-name",
        "files__read_file",
        "--tool-arg",
        "path=a.txt",
    ];
    let written = r#"{"path": "b.txt", "content": ""}"#;
    let write = [
        "--tool-name",
        "files__write_file",
        "--tool-args-json",
        written,
    ];
    for era in ["legacy", "modern"] {
        for (method, more, code, says) in [
            ("tools/list", &[][..], 0, "files__read_file"),
            ("tools/call", &read[..], 0, "\"text\": \"hello\""),
            ("tools/call", &write[..], TOOL_ERROR, "approval_pending: "),
        ] {
            let home = with_file(home());
            let served = [&inspector, "--cli", AMBIT, "mcp", "--style", "full"];
            let asked = ["--protocol-era", era, "--method", method];
            let output = run(&home, &node, &[&served[..], &asked, more].concat());
            assert_eq!(output.status.code(), Some(code), "{era}: {output:?}");
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            assert!(said.contains(says), "{era}: {said}");
        }
    }
}
