//! The file `ambit init` writes: small enough to read whole, with the next thing one would
//! want beside what is there, commented out.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

const HEAD: &str = r#"{
  // What agents may see and do here. `ambit check` says what is wrong with this file,
  // `ambit schema` prints everything it may hold.
  "agents": {
    "default": {
      // Not listed means not there. Give a capability `"tools": [...]` to grant only some.
      "capabilities": {
        // The files of this workspace.
        "files": {},
        // Running programs in it; you are asked before each one.
        // "shell": {},
"#;

const EXAMPLE: &str = r#"    // The object from the server's README. Grant it by its name above.
    // "github": {
    //   "command": "github-mcp-server",
    //   "args": ["stdio"],
    //   "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "${secret:github}" }, // ambit secrets set github
    // },
"#;

const TAIL: &str = r#"  },

  // What changes something: `read-only` leaves it out, `ask` asks you, `auto` does not.
  "mode": "ask",

  // Rules over ids, permissions and effects refine that.
  "permissions": {
    "allow": [],
    "deny": [],
  },
}
"#;

/// A commented config that grants the workspace's files and these servers.
pub fn starter(servers: &BTreeMap<String, Value>) -> String {
    let mut text = HEAD.to_owned();
    for name in servers.keys() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "        {}: {{}},", Value::from(name.as_str()));
    }
    text.push_str("      },\n    },\n  },\n\n  \"mcpServers\": {\n");
    if servers.is_empty() {
        text.push_str(EXAMPLE);
    }
    for (name, server) in servers {
        let entry = format!("{server:#}").replace('\n', "\n    ");
        let _ = writeln!(text, "    {}: {entry},", Value::from(name.as_str()));
    }
    text.push_str(TAIL);
    text
}
