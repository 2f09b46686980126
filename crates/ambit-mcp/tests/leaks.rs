//! Twenty of each fault leave nothing behind: no child, no zombie, no open descriptor. A process
//! of its own, since it counts its own.

// Checks and fixtures outside `#[test]` functions are test code, too.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    dead_code
)]

#[path = "contract/support.rs"]
mod support;

use std::time::Duration;

use ambit_mcp::McpServer;
use serde_json::json;
use support::{impatient, spec};

const TIMES: usize = 20;

/// Descriptors of this process that are not the runtime's own.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Children of this process, zombies among them.
fn children() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = tasks.filter_map(|it| std::fs::read_to_string(it.path().join("children")).ok());
    lists.map(|it| it.split_whitespace().count()).sum()
}

/// One server from its first need to its end, by way of this fault.
async fn suffer(fault: &str) {
    match fault {
        "mute" | "slow-list" => {
            let server = McpServer::new(impatient(fault, Duration::from_millis(100)));
            assert!(server.list().await.is_err());
        }
        "exit" | "endless" | "same-page" => {
            assert!(McpServer::new(spec("fix", fault)).list().await.is_err());
        }
        tool => {
            let server = McpServer::new(spec("fix", "normal"));
            server.list().await.unwrap();
            let id = format!("mcp__fix__{tool}").parse().unwrap();
            let call = server.call(&id, json!({}));
            let _ = tokio::time::timeout(Duration::from_millis(500), call).await;
        }
    }
}

#[tokio::test]
async fn faults_leave_nothing_behind() {
    // Whatever the runtime opens once is open after this.
    suffer("echo").await;
    settled(0, usize::MAX).await;
    let before = descriptors();
    for fault in [
        "mute",
        "slow-list",
        "exit",
        "endless",
        "same-page",
        "echo",
        "crash",
        "garble",
        "wrong_id",
        "huge",
        "hang",
        "spawn",
    ] {
        let all = (0..TIMES).map(|_| suffer(fault));
        futures_util::future::join_all(all).await;
        settled(0, before).await;
    }
}

/// Waits until so few are left.
async fn settled(few_children: usize, few_descriptors: usize) {
    let settling = async {
        while children() > few_children || descriptors() > few_descriptors {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let settled = tokio::time::timeout(Duration::from_secs(20), settling).await;
    assert!(
        settled.is_ok(),
        "{} children and {} descriptors are left of {few_descriptors}",
        children(),
        descriptors()
    );
}
