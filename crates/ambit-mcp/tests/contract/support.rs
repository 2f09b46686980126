//! The fixture server as a configured one, and a marketplace it is granted on.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ambit_core::event::EventBody;
use ambit_core::observation::Observation;
use ambit_core::permission::Mode;
use ambit_core::pipeline::CallLimits;
use ambit_mcp::{McpResolver, McpServer, MemoryPins, ServerSpec, Timeouts, Transport};
use ambit_runtime::cache::DescriptorCache;
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::session::Session;
use ambit_testkit::{Bench, call, events};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Where the fixture server is: built beside the tests.
fn fixture() -> String {
    let mut path: PathBuf = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.push("examples/fixture_server");
    assert!(
        path.exists(),
        "`cargo test` builds {path:?}, `cargo test --test` alone does not"
    );
    path.to_str().unwrap().to_owned()
}

/// A fixture server that starts in this way.
pub(crate) fn spec(name: &str, mode: &str) -> ServerSpec {
    let mut spec = ServerSpec::new(
        name,
        Transport::Stdio {
            command: fixture(),
            args: vec![mode.to_owned()],
            env: vec![("LISTED".to_owned(), "yes".to_owned())],
            cwd: None,
        },
    );
    spec.timeouts = Timeouts {
        connect: Duration::from_secs(20),
        ..Timeouts::default()
    };
    spec
}

/// A server that has only so long to connect.
pub(crate) fn impatient(mode: &str, connect: Duration) -> ServerSpec {
    let mut spec = spec("fix", mode);
    spec.timeouts.connect = connect;
    spec
}

/// Longer than any call of a test takes.
const PATIENT: Duration = Duration::from_secs(60);

/// Servers, what is remembered of them, and a session they are granted in.
pub(crate) struct Rig {
    pub(crate) resolvers: Vec<Arc<McpResolver>>,
    market: Arc<CapabilityMarketplace>,
    pub(crate) pins: Arc<MemoryPins>,
    session: Session,
    _folders: (Bench, TempDir),
}

impl Rig {
    /// With each server listed once and still connected.
    pub(crate) async fn listed(specs: impl IntoIterator<Item = ServerSpec>) -> Rig {
        Rig::listed_within(PATIENT, specs).await
    }

    /// The same, with calls that may take no longer than this.
    pub(crate) async fn listed_within(
        call: Duration,
        specs: impl IntoIterator<Item = ServerSpec>,
    ) -> Rig {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cache.db");
        let cache = DescriptorCache::open(&file).unwrap();
        let pins = Arc::new(MemoryPins::default());
        let mut resolvers = Vec::new();
        for spec in specs {
            let resolver = McpResolver::new(McpServer::new(spec), &cache, Arc::clone(&pins) as _);
            resolver.refresh(&cache).await.unwrap();
            resolvers.push(Arc::new(resolver));
        }
        Rig::of(resolvers, pins, folder, call).await
    }

    /// With the servers as a later process finds them: cached, and not started.
    pub(crate) async fn restarted(self) -> Rig {
        let (_bench, folder) = self._folders;
        let cache = DescriptorCache::open(&folder.path().join("cache.db")).unwrap();
        let again = self.resolvers.iter().map(|it| {
            let server = McpServer::new(it.server().spec().clone());
            Arc::new(McpResolver::new(
                server,
                &cache,
                Arc::clone(&self.pins) as _,
            ))
        });
        Rig::of(again.collect(), Arc::clone(&self.pins), folder, PATIENT).await
    }

    async fn of(
        resolvers: Vec<Arc<McpResolver>>,
        pins: Arc<MemoryPins>,
        folder: TempDir,
        call: Duration,
    ) -> Rig {
        let limits = CallLimits {
            call,
            ..CallLimits::default()
        };
        let cache = folder.path().join("cache.db");
        let mut bench = Bench::default().cached(&cache).limited(limits);
        for resolver in &resolvers {
            bench = bench.with(Arc::clone(resolver) as _, json!({}));
        }
        let market = bench.market();
        Rig {
            session: bench.session_on(&market, Mode::Auto).await,
            market,
            resolvers,
            pins,
            _folders: (bench, folder),
        }
    }

    /// Waits until so many events of a kind are on record.
    pub(crate) async fn until_recorded(&self, count: usize, kind: impl Fn(&EventBody) -> bool) {
        let recorded = async {
            loop {
                let events = events(&self.market, &self.session).await;
                if events.iter().filter(|it| kind(&it.body)).count() >= count {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENT, recorded).await.unwrap();
    }

    /// What is remembered of the servers.
    pub(crate) fn cache(&self) -> DescriptorCache {
        DescriptorCache::open(&self._folders.1.path().join("cache.db")).unwrap()
    }

    /// What a client would call the servers' tools.
    pub(crate) fn wire_names(&self) -> Vec<String> {
        let visible = self.session.visible();
        let ids = visible.entries().iter().map(|it| &it.id);
        ids.filter(|it| it.as_str().starts_with("mcp__"))
            .map(|it| visible.names().name_of(it).unwrap().to_owned())
            .collect()
    }

    /// The first server.
    pub(crate) fn server(&self) -> &Arc<McpServer> {
        self.resolvers[0].server()
    }

    /// A call through the whole pipeline.
    pub(crate) async fn call(&self, id: &str, arguments: Value) -> Observation {
        call(&self.session, id, arguments).await.observation
    }

    /// A call of `hang` by somebody who is gone before it is answered.
    pub(crate) async fn abandoned(&self) {
        let id = "mcp__fix__hang".parse().unwrap();
        let heard = || self.server().status().stderr.matches("hanging").count();
        let before = heard();
        let hanging = async {
            while heard() == before {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            ended = self.server().call(&id, json!({})) => panic!("{ended:?}"),
            () = hanging => {}
        }
    }

    /// The text of a call that must complete.
    pub(crate) async fn text(&self, id: &str) -> String {
        text(&self.call(id, json!({})).await)
    }
}

/// The text a call completed with.
#[track_caller]
pub(crate) fn text(observation: &Observation) -> String {
    match observation {
        Observation::Completed(it) => it
            .output
            .content
            .iter()
            .filter_map(|it| it.as_text())
            .collect(),
        other => panic!("{other:?}"),
    }
}

/// Which processes belong to this group, zombies aside.
pub(crate) fn group_members(group: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| {
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else {
            return false;
        };
        // After the name in parentheses: state, parent, group.
        let Some((_, rest)) = stat.rsplit_once(") ") else {
            return false;
        };
        let fields: Vec<&str> = rest.split(' ').collect();
        fields[0] != "Z" && fields[2] == group.to_string()
    })
    .collect()
}

/// Waits until nothing of a group is left.
pub(crate) async fn until_gone(group: u32) {
    let gone = async {
        while !group_members(group).is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone)
        .await
        .unwrap_or_else(|_| panic!("{:?} are left", group_members(group)));
}
