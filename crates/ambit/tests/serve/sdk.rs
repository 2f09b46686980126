//! Other people's clients.

use crate::server::{Server, home};

#[test]
fn the_python_sdk_is_served() {
    let Ok(python) = std::env::var("AMBIT_MCP_PYTHON") else {
        eprintln!("skipped: AMBIT_MCP_PYTHON names no Python with `mcp`");
        return;
    };
    let server = Server::start(home(), &["--style", "full"]);
    let script = server.home.write("client.py", include_str!("client.py"));
    let output = std::process::Command::new(python)
        .args([
            script.to_str().unwrap(),
            server.welcome["url"].as_str().unwrap(),
        ])
        .current_dir(server.home.work())
        .env("HOME", server.home.home())
        .env("NO_PROXY", "*")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.lines().count(), 3, "{output:?}");
}
