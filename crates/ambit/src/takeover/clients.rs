//! Which clients there are and where each keeps its servers, on each platform. A table: adding a
//! client is adding rows here and its words in `dialect`.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A client whose servers can be taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClientId {
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
    /// Windsurf.
    Windsurf,
    /// Codex.
    Codex,
    /// Gemini CLI.
    GeminiCli,
    /// Zed.
    Zed,
    /// opencode.
    Opencode,
    /// Goose.
    Goose,
}

impl ClientId {
    /// All of them, in the order they are shown.
    pub const ALL: [ClientId; 10] = [
        ClientId::ClaudeCode,
        ClientId::ClaudeDesktop,
        ClientId::Cursor,
        ClientId::VsCode,
        ClientId::Windsurf,
        ClientId::Codex,
        ClientId::GeminiCli,
        ClientId::Zed,
        ClientId::Opencode,
        ClientId::Goose,
    ];

    /// How it is named on a command line.
    pub fn as_str(self) -> &'static str {
        match self {
            ClientId::ClaudeCode => "claude-code",
            ClientId::ClaudeDesktop => "claude-desktop",
            ClientId::Cursor => "cursor",
            ClientId::VsCode => "vscode",
            ClientId::Windsurf => "windsurf",
            ClientId::Codex => "codex",
            ClientId::GeminiCli => "gemini-cli",
            ClientId::Zed => "zed",
            ClientId::Opencode => "opencode",
            ClientId::Goose => "goose",
        }
    }
}

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ClientId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = ClientId::ALL.into_iter().find(|it| it.as_str() == text);
        found.ok_or_else(|| {
            format!(
                "known are {}",
                ClientId::ALL.map(ClientId::as_str).join(", ")
            )
        })
    }
}

/// Whose conventions hold for paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Linux.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// This machine's.
    pub fn current() -> Platform {
        if cfg!(target_os = "macos") {
            Platform::MacOs
        } else if cfg!(windows) {
            Platform::Windows
        } else {
            Platform::Linux
        }
    }
}

/// For whom the servers of a file are configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// For the user, everywhere.
    User,
    /// For the user, in this folder only.
    Local,
    /// For everybody who works in this folder: the file is shared.
    Project,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Syntax {
    /// JSON, with comments and trailing commas.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// A place where a client keeps servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFile {
    /// The client.
    pub client: ClientId,
    /// For whom.
    pub scope: Scope,
    /// The file.
    pub path: PathBuf,
    /// How it is written.
    pub syntax: Syntax,
    /// The keys that lead to the servers.
    pub section: Vec<String>,
}

/// What the table depends on.
pub struct Surroundings<'a> {
    /// Whose paths.
    pub platform: Platform,
    /// The user's home.
    pub home: &'a Path,
    /// The folder whose project files count.
    pub project: &'a Path,
    /// The environment.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
}

/// `~` is the home, `.` the project, `$NAME` a variable or what it stands for when unset.
struct Row {
    client: ClientId,
    scope: Scope,
    /// On Linux, macOS and Windows.
    paths: [&'static str; 3],
    syntax: Syntax,
    /// `.` stands for the project's path.
    section: &'static [&'static str],
}

const fn row(
    client: ClientId,
    scope: Scope,
    paths: [&'static str; 3],
    syntax: Syntax,
    section: &'static [&'static str],
) -> Row {
    Row {
        client,
        scope,
        paths,
        syntax,
        section,
    }
}

/// The same path everywhere.
const fn same(path: &'static str) -> [&'static str; 3] {
    [path, path, path]
}

const MCP_SERVERS: &[&str] = &["mcpServers"];

#[rustfmt::skip]
const TABLE: &[Row] = &[
    row(ClientId::ClaudeCode, Scope::User, same("$CLAUDE_CONFIG_DIR/.claude.json"), Syntax::Json, MCP_SERVERS),
    row(ClientId::ClaudeCode, Scope::Local, same("$CLAUDE_CONFIG_DIR/.claude.json"), Syntax::Json, &["projects", ".", "mcpServers"]),
    row(ClientId::ClaudeCode, Scope::Project, same("./.mcp.json"), Syntax::Json, MCP_SERVERS),
    row(ClientId::ClaudeDesktop, Scope::User, [
        "$XDG_CONFIG_HOME/Claude/claude_desktop_config.json",
        "~/Library/Application Support/Claude/claude_desktop_config.json",
        "$APPDATA/Claude/claude_desktop_config.json",
    ], Syntax::Json, MCP_SERVERS),
    row(ClientId::Cursor, Scope::User, same("~/.cursor/mcp.json"), Syntax::Json, MCP_SERVERS),
    row(ClientId::Cursor, Scope::Project, same("./.cursor/mcp.json"), Syntax::Json, MCP_SERVERS),
    row(ClientId::VsCode, Scope::User, [
        "$XDG_CONFIG_HOME/Code/User/mcp.json",
        "~/Library/Application Support/Code/User/mcp.json",
        "$APPDATA/Code/User/mcp.json",
    ], Syntax::Json, &["servers"]),
    row(ClientId::VsCode, Scope::User, [
        "$XDG_CONFIG_HOME/Code - Insiders/User/mcp.json",
        "~/Library/Application Support/Code - Insiders/User/mcp.json",
        "$APPDATA/Code - Insiders/User/mcp.json",
    ], Syntax::Json, &["servers"]),
    // Where it kept them before `mcp.json`.
    row(ClientId::VsCode, Scope::User, [
        "$XDG_CONFIG_HOME/Code/User/settings.json",
        "~/Library/Application Support/Code/User/settings.json",
        "$APPDATA/Code/User/settings.json",
    ], Syntax::Json, &["mcp", "servers"]),
    row(ClientId::VsCode, Scope::Project, same("./.vscode/mcp.json"), Syntax::Json, &["servers"]),
    row(ClientId::Windsurf, Scope::User, same("~/.codeium/windsurf/mcp_config.json"), Syntax::Json, MCP_SERVERS),
    row(ClientId::Codex, Scope::User, same("$CODEX_HOME/config.toml"), Syntax::Toml, &["mcp_servers"]),
    row(ClientId::Codex, Scope::Project, same("./.codex/config.toml"), Syntax::Toml, &["mcp_servers"]),
    row(ClientId::GeminiCli, Scope::User, same("~/.gemini/settings.json"), Syntax::Json, MCP_SERVERS),
    row(ClientId::GeminiCli, Scope::Project, same("./.gemini/settings.json"), Syntax::Json, MCP_SERVERS),
    row(ClientId::Zed, Scope::User, [
        "$XDG_CONFIG_HOME/zed/settings.json",
        "~/.config/zed/settings.json",
        "$APPDATA/Zed/settings.json",
    ], Syntax::Json, &["context_servers"]),
    row(ClientId::Zed, Scope::Project, same("./.zed/settings.json"), Syntax::Json, &["context_servers"]),
    row(ClientId::Opencode, Scope::User, same("$XDG_CONFIG_HOME/opencode/opencode.json"), Syntax::Json, &["mcp"]),
    row(ClientId::Opencode, Scope::User, same("$XDG_CONFIG_HOME/opencode/opencode.jsonc"), Syntax::Json, &["mcp"]),
    row(ClientId::Opencode, Scope::Project, same("./opencode.json"), Syntax::Json, &["mcp"]),
    row(ClientId::Opencode, Scope::Project, same("./opencode.jsonc"), Syntax::Json, &["mcp"]),
    row(ClientId::Goose, Scope::User, [
        "$XDG_CONFIG_HOME/goose/config.yaml",
        "~/.config/goose/config.yaml",
        "$APPDATA/Block/goose/config/config.yaml",
    ], Syntax::Yaml, &["extensions"]),
];

/// What a variable in the table stands for when it is not set.
const DEFAULTS: [(&str, &str); 4] = [
    ("XDG_CONFIG_HOME", "~/.config"),
    ("APPDATA", "~/AppData/Roaming"),
    ("CODEX_HOME", "~/.codex"),
    ("CLAUDE_CONFIG_DIR", "~"),
];

/// Every place where a client may keep servers here, whether it is there or not.
pub fn files(surroundings: &Surroundings<'_>) -> Vec<ClientFile> {
    let all: Vec<ClientFile> = TABLE.iter().map(|it| located(it, surroundings)).collect();
    // In the home itself, a client's own file is no project's.
    let is_own = |it: &ClientFile| {
        let mut own = all.iter().filter(|it| it.scope == Scope::User);
        it.scope == Scope::Project && own.any(|own| own.path == it.path)
    };
    all.iter().filter(|it| !is_own(it)).cloned().collect()
}

fn located(row: &Row, surroundings: &Surroundings<'_>) -> ClientFile {
    let [linux, macos, windows] = row.paths;
    let path = match surroundings.platform {
        Platform::Linux => linux,
        Platform::MacOs => macos,
        Platform::Windows => windows,
    };
    let project = surroundings.project.to_string_lossy();
    let section = row.section.iter().map(|step| match *step {
        "." => project.clone().into_owned(),
        step => step.to_owned(),
    });
    ClientFile {
        client: row.client,
        scope: row.scope,
        path: resolved(path, surroundings),
        syntax: row.syntax,
        section: section.collect(),
    }
}

fn resolved(path: &str, surroundings: &Surroundings<'_>) -> PathBuf {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let base = match first.strip_prefix('$') {
        None if first == "." => surroundings.project.to_owned(),
        None => surroundings.home.to_owned(),
        Some(name) => (surroundings.variable)(name)
            .map(PathBuf::from)
            .filter(|it| it.is_absolute())
            .unwrap_or_else(|| {
                let default = DEFAULTS.iter().find(|(it, _)| *it == name);
                resolved(default.map_or("~", |(_, path)| path), surroundings)
            }),
    };
    match rest {
        "" => base,
        rest => base.join(rest),
    }
}
