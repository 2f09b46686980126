//! The key `browser`: the tools of Playwright's MCP server, known without starting it, which is
//! done when one of them is called.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ambit_mcp::{
    McpResolver, McpServer, NewTools, PinStore, Provenance, ServerSpec, Sharing, Shipped, Timeouts,
    Transport,
};
use ambit_runtime::cache::DescriptorCache;
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use serde_json::Value;

/// The key.
pub const KEY: &str = "browser";
/// The version whose tools are known.
const VERSION: &str = "0.0.83";
const PACKAGE: &str = "@playwright/mcp";
/// Nobody looks on, and nothing of a session is left when it ends.
const ARGS: [&str; 4] = ["--headless", "--isolated", "--browser", "chromium"];
/// What fetches a browser for it.
pub const INSTALL: &str = "npx -y @playwright/mcp@0.0.83 install-browser chromium";
/// Written by `cargo xtask gen-browser`.
const LISTING: &str = include_str!("../assets/browser.json");
/// The first start fetches the package.
const CONNECT: Duration = Duration::from_secs(120);

/// How the server is started here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// It is installed.
    Installed,
    /// `npx` fetches it.
    Fetched,
    /// It cannot be.
    Missing,
}

impl Start {
    /// By what programs are in these folders.
    pub fn found(path: Option<&OsStr>) -> Start {
        let folders: Vec<_> = path
            .map(std::env::split_paths)
            .into_iter()
            .flatten()
            .collect();
        let has = |name: &str| folders.iter().any(|it| is_program(&it.join(name)));
        match (has("playwright-mcp"), has("npx")) {
            (true, _) => Start::Installed,
            (false, true) => Start::Fetched,
            (false, false) => Start::Missing,
        }
    }

    /// The program and its arguments.
    pub fn command(self) -> Vec<String> {
        let package = format!("{PACKAGE}@{VERSION}");
        let program = match self {
            Start::Installed => vec!["playwright-mcp"],
            Start::Fetched | Start::Missing => vec!["npx", "-y", &package],
        };
        program.into_iter().chain(ARGS).map(str::to_owned).collect()
    }

    /// Why it cannot serve, if so.
    pub fn missing(self) -> Option<String> {
        let why = "neither `playwright-mcp` nor `npx` is on the PATH: install Node.js";
        (self == Start::Missing).then(|| why.to_owned())
    }
}

fn is_program(path: &Path) -> bool {
    let metadata = path.metadata();
    metadata.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// The browser's server as a key.
pub struct Browser {
    server: Arc<McpResolver>,
    start: Start,
    used_by: UsedBy,
}

/// Whether an agent was granted it. Nothing is started for nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsedBy {
    /// No agent.
    Nobody,
    /// Some agent.
    Agents,
}

impl Browser {
    /// Started in this folder, with these of its own variables.
    pub fn new(
        start: Start,
        used_by: UsedBy,
        workspace: &Path,
        env: Vec<(String, String)>,
        cache: &DescriptorCache,
        pins: &Arc<dyn PinStore>,
    ) -> Self {
        let mut words = start.command().into_iter();
        let spec = ServerSpec {
            timeouts: Timeouts {
                connect: CONNECT,
                ..Timeouts::default()
            },
            provenance: Provenance::Foreign,
            // A page one session has open is nobody else's.
            sharing: Sharing::PerSession,
            new_tools: NewTools::Ask,
            ..ServerSpec::new(
                KEY,
                Transport::Stdio {
                    command: words.next().unwrap_or_default(),
                    args: words.collect(),
                    env,
                    cwd: Some(workspace.to_owned()),
                },
            )
        };
        let server = McpServer::new(spec);
        let server = McpResolver::shipped(server, cache, Arc::clone(pins), Shipped(LISTING));
        Browser {
            server: Arc::new(server),
            start,
            used_by,
        }
    }

    /// The server behind it.
    pub fn server(&self) -> &Arc<McpResolver> {
        &self.server
    }

    /// How it is started here.
    pub fn start(&self) -> Start {
        self.start
    }

    /// Whether it may be started to be looked at: some agent has it, and it can be.
    pub fn is_wanted(&self) -> bool {
        self.used_by == UsedBy::Agents && self.start != Start::Missing
    }
}

/// The variables by which Playwright is told where browsers are and how to start them.
pub fn variables(all: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let own: BTreeMap<_, _> = all
        .filter(|(name, _)| name.starts_with("PLAYWRIGHT_"))
        .collect();
    own.into_iter().collect()
}

#[async_trait]
impl CapabilityResolver for Browser {
    fn key(&self) -> &str {
        KEY
    }

    fn summary(&self) -> &str {
        "A web browser: open pages, read them, click, type, take screenshots."
    }

    fn offer(&self) -> Offer {
        match (self.server.offer(), self.start.missing()) {
            (
                Offer::Seen {
                    source,
                    descriptors,
                    quarantined,
                    ..
                },
                Some(missing),
            ) => Offer::Seen {
                source,
                descriptors,
                unavailable: Some(missing),
                quarantined,
            },
            (offer, _) => offer,
        }
    }

    fn config_schema(&self) -> Value {
        self.server.config_schema()
    }

    async fn resolve(
        &self,
        config: &Value,
        context: &ResolverContext,
    ) -> Result<Resolution, ResolveError> {
        match self.start.missing() {
            Some(reason) => Ok(Resolution::Nothing { reason }),
            None => self.server.resolve(config, context).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use ambit_core::effects::Effect;
    use ambit_mcp::MemoryPins;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_listing_is_of_what_is_started() {
        let listing: Value = serde_json::from_str(LISTING).unwrap();
        assert_eq!(listing["package"], PACKAGE);
        assert_eq!(listing["version"], VERSION);
        assert_eq!(listing["args"], json!(ARGS));
        assert!(INSTALL.contains(&format!("{PACKAGE}@{VERSION} ")));
    }

    #[test]
    fn what_is_there_says_how_it_is_started() {
        let folder = tempfile::tempdir().unwrap();
        let path = || Some(folder.path().as_os_str());
        let add = |name: &str, mode: u32| {
            let file = folder.path().join(name);
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
        };
        assert_eq!(Start::found(None), Start::Missing);
        add("npx", 0o600);
        assert_eq!(Start::found(path()), Start::Missing);
        add("npx", 0o700);
        assert_eq!(Start::found(path()), Start::Fetched);
        add("playwright-mcp", 0o700);
        assert_eq!(Start::found(path()), Start::Installed);
        assert_eq!(
            Start::Fetched.command().join(" "),
            "npx -y @playwright/mcp@0.0.83 --headless --isolated --browser chromium"
        );
    }

    #[test]
    fn its_tools_are_known_without_it() {
        let cache = DescriptorCache::in_memory().unwrap();
        let pins: Arc<dyn PinStore> = Arc::new(MemoryPins::default());
        let browser = Browser::new(
            Start::Missing,
            UsedBy::Nobody,
            Path::new("/"),
            Vec::new(),
            &cache,
            &pins,
        );
        let Offer::Seen {
            descriptors,
            unavailable,
            ..
        } = browser.offer()
        else {
            panic!("a server's tools are seen");
        };
        assert_eq!(descriptors.len(), 25);
        assert!(unavailable.unwrap().contains("install Node.js"));
        let by_name = |name: &str| descriptors.iter().find(|it| it.id.name() == name).unwrap();
        assert!(!by_name("browser_snapshot").effects.changes());
        assert!(by_name("browser_click").effects.has(Effect::Destructive));
        assert!(cache.definition(&by_name("browser_click").digest).is_some());
    }

    #[test]
    fn only_its_own_variables_go_along() {
        let all = [
            ("PATH", "x"),
            ("PLAYWRIGHT_BROWSERS_PATH", "y"),
            ("TOKEN", "z"),
        ];
        let all = all.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(variables(all.into_iter()).len(), 1);
    }
}
