//! The file `ambit init --starter` writes: small enough to read whole, with the next thing one would
//! want beside what is there, commented out.

const STARTER: &str = r#"{
  // What agents may see and do here. `ambit check` says what is wrong with this file,
  // `ambit schema` prints everything it may hold.
  "agents": {
    "default": {
      // Not listed means not there. Give a capability `"tools": [...]` to grant only some.
      "capabilities": {
        // The files of this workspace.
        "files": {},
        // Running programs in it, these and no others; you are asked before each run.
        // "shell": { "allow": ["cargo test", "git status"] },
      },
    },
  },

  "mcpServers": {
    // The object from a server's README. Grant it by its name above.
    // "github": {
    //   "command": "github-mcp-server",
    //   "args": ["stdio"],
    //   "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "${secret:github}" }, // ambit secrets set github
    // },
  },

  // What changes something: `read-only` leaves it out, `ask` asks you, `auto` does not.
  "mode": "ask",

  // Rules over ids, permissions and effects refine that.
  "permissions": {
    "allow": [],
    "deny": [],
  },
}
"#;

/// A commented config that grants the workspace's files.
pub fn starter() -> &'static str {
    STARTER
}
