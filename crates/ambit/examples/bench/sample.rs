//! A home whose config lists many MCP servers, all seen before: what `ambit ls` finds on a warm
//! start. The texts are made up, and as long as those of real servers.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use ambit::config::McpServer;
use ambit::servers::identity;
use ambit_core::manifest::CapabilityManifest;
use ambit_runtime::cache::DescriptorCache;
use ambit_testkit::fixture_tool;
use serde_json::json;
use tempfile::TempDir;

/// As many as `VERBS` and `NOUNS` make.
const MOST_PER_SERVER: usize = 50;
const VERBS: [&str; 5] = ["list", "get", "create", "update", "search"];
const NOUNS: [&str; 10] = [
    "issues",
    "pull_requests",
    "comments",
    "releases",
    "branches",
    "workflow_runs",
    "labels",
    "milestones",
    "deployments",
    "members",
];

/// A home with so many capabilities.
pub(crate) struct Sample {
    folder: TempDir,
}

impl Sample {
    pub(crate) fn new(capabilities: usize) -> Result<Self, Box<dyn Error>> {
        Sample::of(capabilities, MOST_PER_SERVER)
    }

    /// The same with so many on each server.
    pub(crate) fn of(capabilities: usize, per_server: usize) -> Result<Self, Box<dyn Error>> {
        let sample = Sample {
            folder: tempfile::tempdir()?,
        };
        let config = sample.home().join(".config/ambit/ambit.json");
        let data = sample.home().join(".local/share/ambit");
        for folder in [config.parent(), Some(data.as_path())]
            .into_iter()
            .flatten()
        {
            std::fs::create_dir_all(folder)?;
        }
        let cache = DescriptorCache::open(&data.join("catalog.db"))?;
        let mut servers = BTreeMap::new();
        for number in 0..capabilities.div_ceil(per_server) {
            let name = format!("forge-{number:03}");
            let entry = json!({"command": "npx", "args": ["-y", format!("@example/{name}")]});
            let server: McpServer = serde_json::from_value(entry.clone())?;
            let tools: Vec<_> = tools(&name)
                .take(per_server.min(capabilities - number * per_server))
                .collect();
            let identity = identity(&name, &server).ok_or("the entry names no server")?;
            cache.put_source(&format!("mcp:{name}"), &identity, &tools)?;
            servers.insert(name, entry);
        }
        std::fs::write(config, json!({"mcpServers": servers}).to_string())?;
        Ok(sample)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

fn tools(server: &str) -> impl Iterator<Item = CapabilityManifest> {
    let pairs = VERBS
        .iter()
        .flat_map(|verb| NOUNS.iter().map(move |noun| (verb, noun)));
    pairs.map(move |(verb, noun)| tool(server, verb, noun))
}

fn tool(server: &str, verb: &str, noun: &str) -> CapabilityManifest {
    let effect = if matches!(verb, "create" | "update") {
        "writes"
    } else {
        "reads"
    };
    let what = noun.replace('_', " ");
    CapabilityManifest {
        title: format!("{verb} {what}"),
        description: format!(
            "{verb} {what} of a repository on {server}, with filters for state, author and time. \
             Results come newest first and in pages; ask for the next page with the cursor of the \
             last one. Use this instead of scraping pages, and prefer narrow filters: large \
             repositories have many thousand {what}. Fails when the repository does not exist or \
             the token may not see it."
        ),
        input_schema: json!({
            "type": "object",
            "properties": {
                "owner": {"type": "string", "description": "The account that owns the repository"},
                "repo": {"type": "string", "description": "The name of the repository"},
                "state": {"type": "string", "enum": ["open", "closed", "all"], "default": "open"},
                "since": {"type": "string", "format": "date-time", "description": format!("Only {what} updated after this")},
                "perPage": {"type": "integer", "minimum": 1, "maximum": 100},
                "cursor": {"type": "string", "description": "Where the last page ended"}
            },
            "required": ["owner", "repo"]
        }),
        ..fixture_tool(&format!("mcp__{server}__{verb}_{noun} {effect}"))
    }
}
