//! The clients, and how each is told of its model and of Ambit.

use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use super::home::Home;
use crate::run::Result;

/// What a person would type.
const PROMPT: &str = "What is in note.txt?";

pub(crate) struct Agent {
    pub(crate) name: &'static str,
    /// The variable that says where its program is.
    pub(crate) variable: &'static str,
    /// Tells it of its model and of Ambit, and what to do.
    pub(crate) prepare: fn(&mut Command, &Home, model: &str, &Reach) -> Result,
}

/// How a client finds Ambit.
pub(crate) enum Reach {
    /// It starts this program.
    Child(PathBuf),
    /// It connects here.
    Url(String),
}

pub(crate) const AGENTS: &[Agent] = &[
    Agent {
        name: "Claude Code",
        variable: "AMBIT_CLAUDE_CODE",
        prepare: claude_code,
    },
    Agent {
        name: "Codex",
        variable: "AMBIT_CODEX",
        prepare: codex,
    },
];

fn claude_code(client: &mut Command, home: &Home, model: &str, reach: &Reach) -> Result {
    let ambit = match reach {
        Reach::Child(program) => json!({"command": program, "args": ["mcp"]}),
        Reach::Url(url) => json!({"type": "http", "url": url}),
    };
    let servers = json!({"mcpServers": {"ambit": ambit}}).to_string();
    client
        .args(["--print", PROMPT, "--strict-mcp-config", "--mcp-config"])
        .arg(home.write("servers.json", &servers)?)
        .args(["--allowedTools", "mcp__ambit"])
        .env("ANTHROPIC_BASE_URL", model)
        .env("ANTHROPIC_API_KEY", "stand-in")
        // It would offer the model a search for Ambit's tools instead of the tools.
        .env("ENABLE_TOOL_SEARCH", "false")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1");
    Ok(())
}

fn codex(client: &mut Command, home: &Home, model: &str, reach: &Reach) -> Result {
    let ambit = match reach {
        Reach::Child(program) => format!("command = {}\nargs = [\"mcp\"]", json!(program)),
        Reach::Url(url) => format!("url = {}", json!(url)),
    };
    let config = format!(
        r#"
model = "stand-in"
model_provider = "stand-in"
approval_policy = "never"

[model_providers.stand-in]
name = "stand-in"
base_url = "{model}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[mcp_servers.ambit]
{ambit}
"#
    );
    let config = home.write(".codex/config.toml", &config)?;
    client
        .args(["exec", "--skip-git-repo-check", PROMPT])
        .env("CODEX_HOME", config.with_file_name(""));
    Ok(())
}
