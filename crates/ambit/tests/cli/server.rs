//! A server for tests of commands, and what it is told to list.

use ambit_testkit::Home;
use serde_json::{Value, json};

/// A server of a few lines of shell that lists what a file of the workspace says.
pub(crate) const SERVER: &str = r#"
while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1.0.0"}}' ;;
    *'"tools/list"'*) result="{\"tools\":$(cat tools.json)}" ;;
    *'"tools/call"'*) result='{"content":[{"type":"text","text":"ran"}]}' ;;
    *'"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id"; continue ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

/// What the server lists from now on, as `name=description`.
pub(crate) fn tools(home: &Home, tools: &[&str]) {
    let tools: Vec<Value> = tools
        .iter()
        .map(|it| {
            let (name, description) = it.split_once('=').unwrap();
            json!({"name": name, "description": description, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}})
        })
        .collect();
    home.write("tools.json", json!(tools).to_string());
}

/// An entry of `mcpServers` that starts it.
pub(crate) fn server(settings: Value) -> Value {
    let mut server = json!({"command": "sh", "args": ["-c", SERVER]});
    let settings = settings.as_object().unwrap().clone();
    server.as_object_mut().unwrap().extend(settings);
    server
}
