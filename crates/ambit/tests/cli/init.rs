//! `init`, `add` and `remove` as whole processes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use ambit::config::{Document, Source};
use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::client::Client;
use crate::clients::peer;
use crate::server::{SERVER, server, tools};
use crate::support::{configured, holding, home};

const AMBIT: &str = env!("CARGO_BIN_EXE_ambit");
const TOKEN: &str = "ghp_0123456789abcdef0123";

fn write(path: PathBuf, text: impl AsRef<[u8]>) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

/// A home in which Cursor and Codex have the same server, and Cursor another with a secret.
fn with_clients() -> (Home, PathBuf, PathBuf) {
    let home = home();
    tools(&home, &["add=Adds.", "sub=Subtracts."]);
    let args = json!(["-c", SERVER]);
    let cursor = format!(
        "{{\n  // mine\n  \"mcpServers\": {{\n    \"calc\": {{ \"command\": \"sh\", \"args\": {args} }},\n    \"hub\": {{ \"command\": \"no-such-program\", \"env\": {{ \"GITHUB_TOKEN\": \"{TOKEN}\" }} }},\n  }},\n}}\n"
    );
    let cursor = write(home.home().join(".cursor/mcp.json"), cursor);
    let codex =
        format!("model = \"m\" # it\n\n[mcp_servers.sums]\ncommand = \"sh\"\nargs = {args}\n");
    let codex = write(home.home().join(".codex/config.toml"), codex);
    (home, cursor, codex)
}

fn config(home: &Home) -> PathBuf {
    home.home().join(".config/ambit/ambit.json")
}

#[test]
fn init_writes_only_ambit_json_and_a_dry_run_nothing() {
    let (home, cursor, codex) = with_clients();
    let before = (read(&cursor), read(&codex));
    let plan = home
        .run(&["init", "--dry-run", "--apply", "--json"])
        .exits(0)
        .json();
    assert!(!config(&home).exists() && !home.state().join("takeover").exists());
    assert_eq!(plan["clients"].as_array().unwrap().len(), 2);
    assert_eq!(plan["secrets"], json!(["hub.GITHUB_TOKEN"]));

    let done = home.run(&["init", "--json"]).exits(0);
    assert!(!done.stdout.contains(TOKEN));
    let servers = done.json()["servers"].clone();
    let names: Vec<&Value> = servers
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["calc", "hub"]);
    assert_eq!(servers[0]["uses"].as_array().unwrap().len(), 2);
    assert_eq!(servers[1]["notes"][0]["code"], "command_not_found");
    assert_eq!((read(&cursor), read(&codex)), before);
    // The secret is in the store, encrypted, and in no file of Ambit's.
    assert_eq!(
        home.run(&["secrets", "ls"]).exits(0).stdout,
        "hub.GITHUB_TOKEN\n"
    );
    assert_eq!(
        holding(&home.home(), TOKEN.as_bytes()),
        [cursor.display().to_string()]
    );
    home.run(&["check"]).exits(0);

    let written = read(config(&home));
    let again = home.run(&["init", "--json"]).exits(0).json();
    assert_eq!(again["config"]["changes"], false);
    assert_eq!(read(config(&home)), written);
}

#[test]
fn clients_are_rewired_served_and_given_back() {
    let (home, cursor, codex) = with_clients();
    let before = (read(&cursor), read(&codex));
    let text = home.run(&["init", "--apply", "--look"]).exits(0).stdout;
    for part in [
        "cursor starts Ambit now",
        "codex starts Ambit now",
        "shown by Ambit",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let entry = Document::parse(Source::new(&cursor, read(&cursor)))
        .unwrap()
        .value;
    assert_eq!(
        entry["mcpServers"],
        json!({"ambit": {"command": AMBIT, "args": ["mcp"]}})
    );
    assert!(read(&cursor).contains("  // mine\n"));
    // What stands there now works.
    let mut client = Client::connect(&home, &["--style", "full"]);
    let listed = client.tools();
    assert!(listed.iter().any(|it| it == "calc__add"), "{listed:?}");
    drop(client);

    let again = home.run(&["init", "--apply", "--json"]).exits(0).json();
    assert_eq!(
        (&again["clients"], &again["servers"]),
        (&json!([]), &json!([]))
    );
    // One client at a time, too.
    let undone = home
        .run(&["init", "--undo", "--client", "codex", "--json"])
        .exits(0)
        .json();
    assert_eq!(undone["undone"][0]["state"], "restored");
    assert_ne!(read(&cursor), before.0);
    home.run(&["init", "--undo"]).exits(0);
    assert_eq!((read(&cursor), read(&codex)), before);
    let nothing = home.run(&["init", "--undo", "--json"]).exits(0).json();
    assert_eq!(nothing["undone"], json!([]));
}

#[test]
fn what_is_refused_is_said_and_the_rest_is_done() {
    let (home, cursor, codex) = with_clients();
    let target = write(home.home().join("dotfiles/codex.toml"), read(&codex));
    fs::remove_file(&codex).unwrap();
    symlink(&target, &codex).unwrap();
    let mut permissions = fs::metadata(&cursor).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&cursor, permissions).unwrap();
    write(
        home.home().join(".gemini/settings.json"),
        "{ \"mcpServers\": ",
    );
    let report = home.run(&["init", "--apply", "--json"]).exits(1).json();
    let clients = report["clients"].as_array().unwrap();
    let states: Vec<&Value> = clients.iter().map(|it| &it["state"]).collect();
    assert_eq!(states, ["refused", "applied"]);
    assert_eq!(clients[0]["why"], "it is read-only");
    let found = report["found"].as_array().unwrap().iter();
    let gemini = found
        .into_iter()
        .find(|it| it["client"] == "gemini-cli")
        .unwrap();
    assert_eq!(
        gemini["unusable"],
        "line 1: expected value after colon in object property"
    );
    assert!(codex.is_symlink() && read(&target).contains("[mcp_servers.ambit]"));
}

#[test]
fn nothing_found_says_what_to_do_instead() {
    let run = home().run(&["init"]).exits(0);
    assert!(
        run.stdout.contains("no client with MCP servers was found"),
        "{run:?}"
    );
    assert!(run.stderr.contains("ambit init --starter"), "{run:?}");
}

#[test]
fn a_project_is_taken_over_into_a_trusted_file() {
    let home = home();
    home.write(
        ".mcp.json",
        json!({"mcpServers": {"calc": server(json!({}))}}).to_string(),
    );
    let run = home.run(&["init"]).exits(0);
    assert!(run.stderr.contains("ambit init --project"), "{run:?}");
    assert!(!config(&home).exists());
    home.run(&["init", "--project"]).exits(0);
    assert!(read(home.work().join("ambit.json")).contains("calc"));
    assert!(
        home.run(&["trust", "ls"])
            .exits(0)
            .stdout
            .contains("ambit.json")
    );
    home.run(&["check"]).exits(0);
}

#[test]
fn add_and_remove_leave_the_rest_as_it_was() {
    let text = "{\n  // my servers\n  \"mcpServers\": {\n    \"a\": { \"command\": \"x\" }, // first\n  },\n  \"mode\": \"ask\",\n}\n";
    let home = configured(text);
    let added = home
        .run(&[
            "add",
            "b",
            "--env",
            "API_KEY=k",
            "--json",
            "--",
            "npx",
            "-y",
            "b",
        ])
        .exits(0)
        .json();
    assert_eq!(added["secrets"], json!(["b.API_KEY"]));
    home.run(&["add", "c", "https://c.example/mcp", "--header", "X=1"])
        .exits(0);
    let now = read(config(&home));
    for part in [
        "// my servers",
        "// first",
        "\"mode\": \"ask\"",
        "${secret:b.API_KEY}",
        "\"X\": \"1\"",
    ] {
        assert!(now.contains(part), "{part}: {now}");
    }
    home.run(&["check"]).exits(0);
    for name in ["b", "c"] {
        home.run(&["remove", name]).exits(0);
    }
    assert_eq!(read(config(&home)), text);
    for (arguments, exit, code) in [
        (&["remove", "b"][..], 1, "unknown_server"),
        (&["add", "a", "--", "x"], 2, "exists"),
        (&["add", "files", "--", "x"], 2, "name_taken"),
        (&["add", "a__b", "--", "x"], 2, "server_name_invalid"),
        (&["add", "n"], 2, "usage"),
        (&["add", "n", "npx"], 2, "usage"),
        (&["add", "n", "https://a.b", "--env", "A=1"], 2, "usage"),
    ] {
        let arguments = [&["--json"], arguments].concat();
        let error = home.run(&arguments).exits(exit).json();
        assert_eq!(error["error"]["code"], code, "{arguments:?}");
    }
    assert_eq!(read(config(&home)), text);
}

#[test]
fn a_projects_file_is_edited_only_by_whoever_accepted_it() {
    let home = home();
    home.run(&["add", "mine", "--project", "--", "x"]).exits(0);
    let path = home.work().join("ambit.json");
    home.run(&["add", "other", "--project", "--", "x"]).exits(0);
    home.run(&["remove", "mine", "--project"]).exits(0);
    // Somebody else edits it.
    let text = read(&path).replace("\"x\"", "\"evil\"");
    fs::write(&path, &text).unwrap();
    let error = home
        .run(&["add", "more", "--project", "--json", "--", "x"])
        .exits(2)
        .json();
    assert_eq!(error["error"]["code"], "untrusted_project");
    assert_eq!(read(&path), text);
}

/// What a client says, in this home and with nothing else in its environment.
fn said(home: &Home, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(home.work())
        .env_clear()
        .env("HOME", home.home())
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("DISABLE_AUTOUPDATER", "1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Claude Code as people install it: its servers are healthy before, Ambit is the one server
/// after, and then everything is as before. Run by `cargo xtask real-clients`.
#[test]
fn claude_code_goes_there_and_back() {
    let Some(claude) = peer("AMBIT_CLAUDE_CODE") else {
        return;
    };
    let home = home();
    tools(&home, &["add=Adds."]);
    let script = write(home.home().join("server.sh"), SERVER);
    let run = |arguments: &[&str]| said(&home, &claude, arguments);
    for name in ["one", "two"] {
        let script = script.to_str().unwrap();
        run(&[
            "mcp", "add", "--scope", "user", name, "--", "sh", script, name,
        ]);
    }
    // Its lines about servers; the rest changes from release to release.
    let healthy = || -> Vec<String> {
        let said = run(&["mcp", "list"]);
        let lines = said.lines().filter(|it| it.contains("Connected"));
        lines
            .filter_map(|it| Some(it.split_once(':')?.0.to_owned()))
            .collect()
    };
    let file = home.home().join(".claude.json");
    let servers = || -> Value {
        let value: Value = serde_json::from_str(&read(&file)).unwrap();
        value["mcpServers"].clone()
    };
    assert_eq!(healthy(), ["one", "two"]);
    let before = servers();
    home.run(&["init", "--apply", "--client", "claude-code"])
        .exits(0);
    assert_eq!(healthy(), ["ambit"]);
    home.run(&["init", "--undo"]).exits(0);
    assert_eq!(servers(), before);
    assert_eq!(healthy(), ["one", "two"]);
}

/// Codex understands what is written, and what it adds meanwhile is kept.
#[test]
fn codex_goes_there_and_back() {
    let Some(codex) = peer("AMBIT_CODEX") else {
        return;
    };
    let home = home();
    let folder = home.home().join(".codex");
    fs::create_dir(&folder).unwrap();
    let run = |arguments: &[&str]| said(&home, &codex, arguments);
    let listed = || -> Vec<String> {
        let said: Value = serde_json::from_str(&run(&["mcp", "list", "--json"])).unwrap();
        let servers = said.as_array().unwrap().iter();
        servers
            .map(|it| it["name"].as_str().unwrap().to_owned())
            .collect()
    };
    run(&["mcp", "add", "one", "--", "sh", "-c", "cat"]);
    let before = read(folder.join("config.toml"));
    home.run(&["init", "--apply"]).exits(0);
    assert_eq!(listed(), ["ambit"]);
    home.run(&["init", "--undo"]).exits(0);
    assert_eq!(read(folder.join("config.toml")), before);
    home.run(&["init", "--apply"]).exits(0);
    run(&["mcp", "add", "two", "--", "sh", "-c", "cat"]);
    home.run(&["init", "--undo"]).exits(0);
    assert_eq!(listed(), ["one", "two"]);
}
