//! What each client's file looks like, with comments and settings of its own around the servers.

use super::ClientId;

/// A client's file, and the servers in it that are taken over.
pub(super) fn fixture(client: ClientId) -> (&'static str, &'static [&'static str]) {
    match client {
        ClientId::ClaudeCode => (CLAUDE_CODE, &["github", "notes"]),
        ClientId::ClaudeDesktop => (CLAUDE_DESKTOP, &["github"]),
        ClientId::Cursor => (CURSOR, &["github", "linear"]),
        ClientId::VsCode => (VS_CODE, &["github", "local"]),
        ClientId::Windsurf => (WINDSURF, &["remote"]),
        ClientId::Codex => (CODEX, &["docs", "github"]),
        ClientId::GeminiCli => (GEMINI, &["github", "web"]),
        ClientId::Zed => (ZED, &["github", "old"]),
        ClientId::Opencode => (OPENCODE, &["github", "web"]),
        ClientId::Goose => (GOOSE, &["github", "web"]),
    }
}

const CLAUDE_CODE: &str = r#"{
  "numStartups": 12,
  "tipsHistory": { "shift-enter": 3 },
  "mcpServers": {
    "github": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": { "GITHUB_TOKEN": "ghp_0123456789abcdef0123" }
    },
    "notes": {
      "type": "http",
      "url": "https://notes.example/mcp",
      "headers": { "Authorization": "Bearer abcdefgh" }
    }
  },
  "projects": {
    "/somewhere": { "allowedTools": [], "mcpServers": {} }
  },
  "userID": "0f"
}
"#;

const CLAUDE_DESKTOP: &str = "{\r\n\t\"globalShortcut\": \"\",\r\n\t\"mcpServers\": {\r\n\t\t\"github\": {\r\n\t\t\t\"command\": \"npx\",\r\n\t\t\t\"args\": [\"-y\", \"${literal}\"]\r\n\t\t}\r\n\t}\r\n}\r\n";

const CURSOR: &str = r#"{"mcpServers": {
  // work
  "github": {"command": "npx", "args": ["-y", "gh"], "env": {"ROOT": "${workspaceFolder}/src"}},
  "linear": {"url": "https://mcp.linear.app/mcp"}, // remote
}}"#;

const VS_CODE: &str = r#"{
	// Use IntelliSense to learn about possible attributes.
	"inputs": [
		{ "type": "promptString", "id": "token", "password": true },
	],
	"servers": {
		"github": {
			"type": "http",
			"url": "https://api.githubcopilot.com/mcp/",
			"headers": { "Authorization": "Bearer ${input:token}" },
		},
		"local": {
			"type": "stdio",
			"command": "${userHome}/bin/server",
			"args": ["--root", "${workspaceFolder}"],
			"envFile": "${workspaceFolder}/.env",
		},
	},
}
"#;

const WINDSURF: &str = r#"{
  "mcpServers": {
    "remote": {
      "serverUrl": "https://remote.example/mcp",
      "headers": { "X-Api-Key": "0123456789" },
      "disabledTools": ["a"]
    },
    "legacy": { "serverUrl": "https://remote.example/sse" }
  }
}
"#;

const CODEX: &str = r#"# Codex
model = "gpt-5"   # the model
approval_policy = "on-request"

[mcp_servers.github]
command = "npx"
args = ["-y", "gh"]
env = { "GITHUB_TOKEN" = "ghp_0123456789abcdef0123" }
tool_timeout_sec = 60

# what the docs are for
[mcp_servers.docs]
url = "https://docs.example/mcp"
bearer_token_env_var = "DOCS_TOKEN"
enabled = false

[projects."/somewhere"]
trust_level = "trusted" # by hand
"#;

const GEMINI: &str = r#"{
  "theme": "Default", // mine
  "mcpServers": {
    "github": { "command": "npx", "args": ["gh"], "env": { "T": "$TOKEN", "H": "${HOST}" }, "trust": true },
    "web": { "httpUrl": "https://web.example/mcp", "timeout": 5000 }
  },
  "selectedAuthType": "oauth-personal"
}
"#;

const ZED: &str = r#"// Zed settings
{
  "theme": "One Dark",
  "context_servers": {
    "github": { "source": "custom", "command": "npx", "args": ["gh"], "env": {} },
    "old": { "command": { "path": "old-server", "args": ["x"], "env": { "A": "1" } } },
    "postgres": { "source": "extension", "settings": { "database_url": "x" } },
  },
  "vim_mode": true,
}
"#;

const OPENCODE: &str = r#"{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "github": {
      "type": "local",
      "command": ["npx", "-y", "gh"],
      "environment": { "TOKEN": "{env:GITHUB_TOKEN}" },
      "enabled": true
    },
    "web": { "type": "remote", "url": "https://web.example/mcp", "enabled": false }
  },
  "theme": "opencode"
}
"#;

const GOOSE: &str = r#"# goose
GOOSE_PROVIDER: anthropic
extensions:
  developer:
    bundled: true
    enabled: true
    name: developer
    type: builtin
  # mine
  github:
    args:
    - -y
    - gh
    cmd: npx
    enabled: true
    env_keys:
    - GITHUB_TOKEN
    envs: {}
    name: github
    timeout: 300
    type: stdio
  web:
    enabled: true
    name: web
    type: streamable_http
    uri: https://web.example/mcp
    headers:
      X-Token: "0123456789"

GOOSE_MODEL: claude # the model
"#;
