//! A server others wrote: npm's `server-everything`, where it is installed.

use ambit_mcp::{ServerSpec, Transport};
use serde_json::json;

use crate::support::{Rig, text};

#[tokio::test]
async fn server_everything_is_listed_and_called() {
    let Ok(entry) = std::env::var("AMBIT_MCP_EVERYTHING") else {
        use std::io::Write as _;
        let note = b"skipped: AMBIT_MCP_EVERYTHING does not name server-everything's entry\n";
        std::io::stderr().write_all(note).unwrap();
        return;
    };
    let rig = Rig::listed([ServerSpec::new(
        "everything",
        Transport::Stdio {
            command: "node".to_owned(),
            args: vec![entry, "stdio".to_owned()],
            env: Vec::new(),
            cwd: None,
        },
    )])
    .await;
    let status = rig.server().status();
    assert!(status.tools > 5, "{status:?}");
    let echoed = rig
        .call("mcp__everything__echo", json!({"message": "hi"}))
        .await;
    assert_eq!(text(&echoed), "Echo: hi");
}
