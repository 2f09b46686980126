//! When children start and end.

use std::time::Duration;

use ambit_mcp::{McpServer, ServerState};
use serde_json::json;

use crate::support::{Rig, group_members, spec, until_gone};

#[tokio::test]
async fn with_a_cache_nothing_starts_before_the_first_call() {
    let rig = Rig::listed([spec("fix", "normal")]).await.restarted().await;
    assert_eq!(rig.server().status().state, ServerState::NotConnected);
    assert!(!rig.resolvers[0].is_missing());
    assert_eq!(rig.text("mcp__fix__calls").await, "1");
    assert_eq!(rig.server().status().state, ServerState::Connected);
}

#[tokio::test]
async fn all_who_wait_share_one_child() {
    let rig = Rig::listed([spec("fix", "normal")]).await.restarted().await;
    let calls = (0..20).map(|_| rig.text("mcp__fix__calls"));
    let mut counts: Vec<usize> = futures_util::future::join_all(calls)
        .await
        .iter()
        .map(|it| it.parse().unwrap())
        .collect();
    counts.sort_unstable();
    assert_eq!(counts, (1..=20).collect::<Vec<_>>());
}

#[tokio::test]
async fn nothing_a_server_started_outlives_it() {
    let rig = Rig::listed([spec("fix", "normal")]).await;
    let group = rig.server().status().process.unwrap();
    let grandchild: u32 = rig.text("mcp__fix__spawn").await.parse().unwrap();
    assert!(group_members(group).contains(&grandchild));
    drop(rig);
    until_gone(group).await;
}

#[tokio::test]
async fn a_child_that_is_still_connecting_ends_with_its_server() {
    let mut slow = spec("fix", "mute");
    let folder = tempfile::tempdir().unwrap();
    if let ambit_mcp::Transport::Stdio { command, args, .. } = &mut slow.transport {
        let file = folder.path().join("pid");
        let script = format!(
            "echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000",
            file.display()
        );
        *command = "sh".to_owned();
        *args = vec!["-c".to_owned(), script];
    }
    let server = McpServer::new(slow);
    let file = folder.path().join("pid");
    let started = async {
        loop {
            if let Ok(text) = std::fs::read_to_string(&file) {
                return text.trim().parse::<u32>().unwrap();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let group = tokio::select! {
        group = started => group,
        listed = server.list() => panic!("{listed:?}"),
    };
    assert!(!group_members(group).is_empty());
    drop(server);
    until_gone(group).await;
}

#[tokio::test]
async fn an_idle_server_is_let_go_and_comes_back() {
    let mut short = spec("fix", "normal");
    short.timeouts.idle = Some(Duration::from_millis(100));
    let rig = Rig::listed([short]).await;
    let first = rig.server().status().process;
    if let Some(first) = first {
        until_gone(first).await;
    }
    assert_eq!(rig.server().status().last_error, None);
    assert_eq!(rig.text("mcp__fix__calls").await, "1");
}

#[tokio::test]
async fn too_many_calls_are_turned_away() {
    let mut narrow = spec("fix", "normal");
    narrow.concurrency = 1;
    let rig = Rig::listed([narrow]).await;
    let hang = "mcp__fix__hang".parse().unwrap();
    let echo = "mcp__fix__echo".parse().unwrap();
    let hanging = (0..9).map(|_| rig.server().call(&hang, json!({})));
    let late = async {
        // The nine before it have been polled once: one runs, eight wait.
        rig.server().call(&echo, json!({})).await
    };
    let hanging = futures_util::future::join_all(hanging);
    let failure = tokio::select! {
        biased;
        _ = hanging => panic!("they hang"),
        late = late => late.unwrap_err(),
    };
    assert!(failure.retryable);
    assert!(
        failure.message.contains("8 calls are waiting"),
        "{}",
        failure.message
    );
}
