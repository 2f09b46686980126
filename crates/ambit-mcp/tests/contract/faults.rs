//! What is left of a call, and of a child, when a server misbehaves.

use std::sync::Arc;
use std::time::Duration;

use ambit_core::code::Code;
use ambit_core::observation::Observation;
use ambit_mcp::{
    McpError, McpResolver, McpServer, MemoryPins, ServerSpec, Transport, refresh_missing,
};
use ambit_runtime::cache::DescriptorCache;
use parking_lot::Mutex;
use serde_json::json;

use crate::support::{Rig, impatient, spec, until_gone};

/// Connecting fails with this.
async fn check_connect(spec: ServerSpec, expected: &str) {
    let server = McpServer::new(spec);
    let error = server.list().await.unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
    assert_eq!(server.status().last_error.as_ref(), Some(&error));
}

#[tokio::test]
async fn a_server_that_cannot_be_connected_says_why() {
    let moment = Duration::from_millis(700);
    check_connect(impatient("mute", moment), "was not ready within 700 ms").await;
    check_connect(
        impatient("slow-list", moment),
        "was not ready within 700 ms",
    )
    .await;
    check_connect(spec("fix", "exit"), "it ended with exit status: 7").await;
    check_connect(spec("fix", "endless"), "lists more than 256 pages").await;
    check_connect(spec("fix", "same-page"), "one page, over and over").await;
    let mut missing = spec("fix", "");
    missing.transport = Transport::Stdio {
        command: "/no/such/program".to_owned(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: None,
    };
    check_connect(missing, "`/no/such/program` cannot be started").await;
}

#[tokio::test]
async fn stderr_is_kept_for_the_doctor() {
    let server = McpServer::new(spec("fix", "exit"));
    assert!(server.list().await.is_err());
    assert!(server.status().stderr.ends_with("no token, no service\n"));
}

#[tokio::test]
async fn garbage_on_stdout_hurts_nobody() {
    let rig = Rig::listed([spec("fix", "garbage")]).await;
    assert_eq!(rig.text("mcp__fix__garble").await, "after garbage");
    assert_eq!(rig.text("mcp__fix__wrong_id").await, "the right one");
    assert_eq!(rig.text("mcp__fix__talk").await, "talked");
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_started_again() {
    let rig = Rig::listed([spec("fix", "normal")]).await;
    let first = rig.server().status().process.unwrap();
    let Observation::Failed(failure) = rig.call("mcp__fix__crash", json!({})).await else {
        panic!("it crashed");
    };
    assert_eq!(
        (failure.code, failure.retryable),
        (Code::ProviderUnreachable, true)
    );
    assert!(
        failure.message.contains("exit status: 3"),
        "{}",
        failure.message
    );
    until_gone(first).await;
    assert_eq!(rig.text("mcp__fix__calls").await, "1");
    assert_ne!(rig.server().status().process, Some(first));
}

#[tokio::test]
async fn a_message_without_end_ends_the_connection_and_not_the_memory() {
    let rig = Rig::listed([spec("fix", "normal")]).await;
    let observation = rig.call("mcp__fix__huge", json!({})).await;
    assert_eq!(observation.code(), Some(Code::ProviderUnreachable));
    assert!(
        observation.reason().unwrap().contains("larger than"),
        "{observation:?}"
    );
    assert_eq!(rig.text("mcp__fix__calls").await, "1");
}

#[tokio::test]
async fn a_call_nobody_waits_for_is_cancelled_and_the_connection_stays() {
    let rig = Rig::listed([spec("fix", "normal")]).await;
    let process = rig.server().status().process;
    rig.abandoned().await;
    assert_eq!(rig.text("mcp__fix__cancelled").await, "1");
    assert_eq!(rig.server().status().process, process);
}

#[tokio::test]
async fn a_call_ends_at_its_deadline() {
    let short = Duration::from_millis(200);
    let rig = Rig::listed_within(short, [spec("fix", "normal")]).await;
    let observation = rig.call("mcp__fix__hang", json!({})).await;
    assert_eq!(observation.code(), Some(Code::DeadlineExceeded));
}

#[tokio::test]
async fn a_server_that_answers_nothing_any_more_is_replaced() {
    let rig = Rig::listed([spec("fix", "normal")]).await;
    let first = rig.server().status().process.unwrap();
    for _ in 0..3 {
        rig.abandoned().await;
    }
    until_gone(first).await;
    assert_eq!(rig.text("mcp__fix__calls").await, "1");
}

#[tokio::test]
async fn a_server_that_keeps_failing_is_left_alone() {
    let server = McpServer::new(spec("fix", "exit"));
    let mut errors = Vec::new();
    for _ in 0..6 {
        errors.push(server.list().await.unwrap_err());
    }
    assert!(matches!(*errors[4], McpError::Connect { .. }));
    assert!(matches!(
        *errors[5],
        McpError::CircuitOpen { failures: 5, .. }
    ));
    assert!(server.unavailable().is_some());
}

#[tokio::test]
async fn a_slow_server_delays_nobody() {
    let cache = DescriptorCache::in_memory().unwrap();
    let resolver = |spec| {
        Arc::new(McpResolver::new(
            McpServer::new(spec),
            &cache,
            Arc::new(MemoryPins::default()),
        ))
    };
    let mut mute = spec("mute", "mute");
    mute.timeouts.connect = Duration::from_secs(600);
    let resolvers = [mute, spec("one", "normal"), spec("two", "normal")].map(resolver);
    let told = Mutex::new(Vec::new());
    refresh_missing(&resolvers, &cache, Duration::from_secs(5), |name, ended| {
        told.lock()
            .push((name.to_owned(), ended.as_ref().ok().copied()));
    })
    .await;
    let mut told = told.into_inner();
    assert_eq!(told.pop().unwrap(), ("mute".to_owned(), None));
    told.sort();
    assert_eq!(
        told,
        [("one".to_owned(), Some(16)), ("two".to_owned(), Some(16))]
    );
}
