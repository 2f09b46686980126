//! Twenty of each fault: each call ends as it should and is on record, a neighbour notices
//! nothing, and nothing is left behind: no child, no orphan, no open descriptor. A process of its
//! own, since it counts its own; one test, since two would count each other's.
//!
//! `cargo xtask soak faults` runs it with `AMBIT_FAULTS=500`.

// Checks and fixtures outside `#[test]` functions are test code, too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod counts;
mod table;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ambit_core::code::Code;
use ambit_core::event::EventBody;
use ambit_core::permission::Mode;
use ambit_core::pipeline::CallLimits;
use ambit_mcp::{McpResolver, McpServer, MemoryPins, ServerSpec, Transport};
use ambit_runtime::cache::DescriptorCache;
use ambit_testkit::{Bench, call, events};
use futures_util::future::join_all;
use serde_json::json;

use counts::{MARK, children, descriptors, mark, marked, memory};
use table::{ENORMOUS, Ending, FAULTS};

fn pins() -> Arc<MemoryPins> {
    Arc::default()
}

/// So many servers have a fault at the same time.
const AT_ONCE: usize = 20;
const NEIGHBOUR: &str = "neighbour";
/// Far less than the result that is sent, and more than the largest message that is taken in.
const MEMORY: usize = 100 << 20;
/// The deadline of calls that end at theirs.
const SOON: Duration = Duration::from_millis(1500);
/// Longer than any other call takes, however busy the machine is.
const PATIENT: Duration = Duration::from_secs(120);

/// A server with this fault. Which one it is, is in a value of its environment, and so no part of
/// its identity: what was seen of a healthy one is what the cache says of all.
fn spec(name: &str, fault: &str) -> ServerSpec {
    let mut program = std::env::current_exe().unwrap();
    program.pop();
    program.pop();
    program.push("examples/faulty_server");
    let mut spec = ServerSpec::new(
        name,
        Transport::Stdio {
            command: program.to_str().unwrap().to_owned(),
            args: Vec::new(),
            env: vec![
                ("FAULT".to_owned(), fault.to_owned()),
                (MARK.to_owned(), mark()),
            ],
            cwd: None,
        },
    );
    spec.timeouts.connect = PATIENT;
    spec
}

fn names() -> impl Iterator<Item = String> {
    (0..AT_ONCE).map(|at| format!("faulty-{at}"))
}

/// The servers as they were seen while nothing was wrong with them.
async fn seen(file: &Path) {
    let cache = DescriptorCache::open(file).unwrap();
    for name in names().chain([NEIGHBOUR.to_owned()]) {
        let resolver = McpResolver::new(McpServer::new(spec(&name, "none")), &cache, pins());
        assert_eq!(resolver.refresh(&cache).await.unwrap(), 1);
    }
}

/// Calls so many servers with a fault at once, and a healthy one beside them.
async fn suffer(fault: &'static str, ending: Ending, servers: usize, file: &Path) {
    let cache = DescriptorCache::open(file).unwrap();
    let bench = |call, fault: &'static str, names: Vec<String>| {
        let limits = CallLimits {
            call,
            ..CallLimits::default()
        };
        let bench = Bench::default().cached(file).limited(limits);
        names.iter().fold(bench, |bench, name| {
            let server = McpServer::new(spec(name, fault));
            bench.with(
                Arc::new(McpResolver::new(server, &cache, pins())),
                json!({}),
            )
        })
    };
    let deadline = match ending {
        Ending::AtDeadline => SOON,
        _ => PATIENT,
    };
    let faulty = bench(deadline, fault, names().take(servers).collect());
    let market = faulty.market();
    let session = faulty.session_on(&market, Mode::Auto).await;
    let healthy = bench(PATIENT, "none", vec![NEIGHBOUR.to_owned()]);
    let neighbour = healthy.session(Mode::Auto).await;
    assert_eq!(marked(), 0, "nothing starts before it is called");

    let beside = async {
        let id = format!("mcp__{NEIGHBOUR}__work");
        let answered = call(&neighbour, &id, json!({})).await.observation;
        assert_eq!(answered.code(), None, "beside `{fault}`: {answered:?}");
    };
    let calls = join_all(names().take(servers).map(|name| {
        let id = format!("mcp__{name}__work");
        let session = &session;
        async move { call(session, &id, json!({})).await.observation }
    }));
    let (ended, ()) = tokio::join!(calls, beside);
    for observation in ended {
        assert_eq!(
            observation.code(),
            ending.code(),
            "{fault}: {observation:?}"
        );
    }

    let recorded: Vec<Option<Code>> = events(&market, &session)
        .await
        .into_iter()
        .filter_map(|it| match it.body {
            EventBody::ToolObservation(record) => Some(record.code),
            _ => None,
        })
        .collect();
    assert_eq!(recorded, vec![ending.code(); servers], "{fault}");
}

/// Waits until nothing is left of what was started.
async fn nothing_left(fault: &str, few: usize) {
    let settling = async {
        while children() > 0 || marked() > 0 || descriptors() > few {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let settled = tokio::time::timeout(Duration::from_secs(30), settling).await;
    assert!(
        settled.is_ok(),
        "{fault}: {} children, {} processes and {} of {few} descriptors are left",
        children(),
        marked(),
        descriptors()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_end_on_record_and_leave_nothing_behind() {
    let times: usize = std::env::var("AMBIT_FAULTS").map_or(20, |it| it.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache.db");
    seen(&cache).await;
    nothing_left("none", usize::MAX).await;
    // Whatever the runtime opens once is open after this.
    suffer("none", Ending::Completed, AT_ONCE, &cache).await;
    nothing_left("none", usize::MAX).await;
    let before = descriptors();

    let (resident, _) = memory();
    let ending = Ending::Failed(Code::ProviderUnreachable);
    suffer(ENORMOUS, ending, 1, &cache).await;
    let (_, highest) = memory();
    let grown = highest.saturating_sub(resident);
    assert!(grown < MEMORY, "{grown} bytes for one message");
    nothing_left(ENORMOUS, before).await;

    for (fault, ending) in FAULTS {
        for _ in 0..times.div_ceil(AT_ONCE) {
            suffer(fault, ending, AT_ONCE, &cache).await;
            nothing_left(fault, before).await;
        }
    }
}
