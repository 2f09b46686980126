//! Each client, on each platform, there and back.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::fixtures::fixture;
use super::*;

const PLATFORMS: [Platform; 3] = [Platform::Linux, Platform::MacOs, Platform::Windows];

#[test]
fn places_are_those_of_the_platform() {
    let paths = |platform, client| -> Vec<String> {
        let none = |_: &str| None;
        let files = files(&Surroundings {
            platform,
            home: Path::new("/h"),
            project: Path::new("/p"),
            variable: &none,
        });
        let own = files.into_iter().filter(|it| it.client == client);
        own.map(|it| it.path.display().to_string()).collect()
    };
    for (platform, client, expected) in [
        (
            Platform::Linux,
            ClientId::ClaudeDesktop,
            "/h/.config/Claude/claude_desktop_config.json",
        ),
        (
            Platform::MacOs,
            ClientId::ClaudeDesktop,
            "/h/Library/Application Support/Claude/claude_desktop_config.json",
        ),
        (
            Platform::Windows,
            ClientId::ClaudeDesktop,
            "/h/AppData/Roaming/Claude/claude_desktop_config.json",
        ),
        (Platform::Linux, ClientId::ClaudeCode, "/h/.claude.json"),
        (Platform::Windows, ClientId::ClaudeCode, "/p/.mcp.json"),
        (
            Platform::MacOs,
            ClientId::VsCode,
            "/h/Library/Application Support/Code/User/mcp.json",
        ),
        (Platform::Linux, ClientId::VsCode, "/p/.vscode/mcp.json"),
        (
            Platform::MacOs,
            ClientId::Zed,
            "/h/.config/zed/settings.json",
        ),
        (
            Platform::Windows,
            ClientId::Zed,
            "/h/AppData/Roaming/Zed/settings.json",
        ),
        (
            Platform::Windows,
            ClientId::Goose,
            "/h/AppData/Roaming/Block/goose/config/config.yaml",
        ),
        (Platform::MacOs, ClientId::Codex, "/h/.codex/config.toml"),
        (
            Platform::Linux,
            ClientId::Windsurf,
            "/h/.codeium/windsurf/mcp_config.json",
        ),
        (
            Platform::Linux,
            ClientId::Opencode,
            "/h/.config/opencode/opencode.jsonc",
        ),
        (
            Platform::Linux,
            ClientId::GeminiCli,
            "/p/.gemini/settings.json",
        ),
        (Platform::Linux, ClientId::Cursor, "/p/.cursor/mcp.json"),
    ] {
        let found = paths(platform, client);
        assert!(
            found.iter().any(|it| it == expected),
            "{expected}: {found:?}"
        );
    }
}

#[test]
fn variables_move_places() {
    let mut machine = Machine::new(Platform::Linux);
    let elsewhere = machine.folder.path().join("elsewhere");
    for name in ["CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME"] {
        let value = elsewhere.display().to_string();
        machine.variables.insert(name.to_owned(), value);
    }
    for (client, expected) in [
        (ClientId::Codex, "config.toml"),
        (ClientId::ClaudeCode, ".claude.json"),
        (ClientId::Zed, "zed/settings.json"),
    ] {
        assert_eq!(machine.path(client, Scope::User), elsewhere.join(expected));
    }
}

#[test]
fn every_client_goes_there_and_back() {
    for platform in PLATFORMS {
        for client in ClientId::ALL {
            let mut machine = Machine::new(platform);
            let (text, expected) = fixture(client);
            let path = machine.write(client, Scope::User, text);
            let plan = machine.settle();
            let mut names: Vec<&str> = plan.servers.iter().map(|it| it.name.as_str()).collect();
            names.sort_unstable();
            assert_eq!(names, expected, "{client}");
            // Planning touches nothing.
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            let [rewire] = plan.rewires.as_slice() else {
                panic!("{client}: {:?}", plan.rewires)
            };
            apply(rewire, &machine.backups()).unwrap_or_else(|it| panic!("{client}: {it}"));
            let applied = fs::read_to_string(&path).unwrap();
            others_stay(client, text, &applied);
            // Once more, and nothing changes.
            let again = machine.settle();
            assert!(again.rewires.is_empty(), "{client}: {:?}", again.rewires);
            assert_eq!((again.config, again.secrets.len()), (None, 0), "{client}");
            let undone = machine.backups().undo(&[]).unwrap();
            assert_eq!(undone.len(), 1);
            assert_eq!(undone[0].how, UndoneHow::Restored, "{client}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text, "{client}");
            assert!(machine.backups().undo(&[]).unwrap().is_empty());
            // And planned again it is all in ambit.json.
            let back = machine.plan();
            assert_eq!(back.config, None, "{client}");
            assert!(
                back.servers.iter().all(|it| it.fate == Fate::Present),
                "{client}"
            );
        }
    }
}

/// Every line outside the servers is still there, in order, and Ambit is the one server left
/// beside those that cannot be taken over.
#[track_caller]
fn others_stay(client: ClientId, before: &str, after: &str) {
    let kept: &[&str] = match client {
        ClientId::ClaudeCode => &[
            "  \"numStartups\": 12,\n",
            "  \"tipsHistory\": { \"shift-enter\": 3 },\n",
            "  \"projects\": {\n    \"/somewhere\": { \"allowedTools\": [], \"mcpServers\": {} }\n  },\n  \"userID\": \"0f\"\n}\n",
        ],
        ClientId::ClaudeDesktop => {
            &["{\r\n\t\"globalShortcut\": \"\",\r\n\t\"mcpServers\": {\r\n\t\t\"ambit\""]
        }
        ClientId::Cursor => &["{\"mcpServers\": {"],
        ClientId::VsCode => &[
            "{\n\t// Use IntelliSense to learn about possible attributes.\n\t\"inputs\": [\n\t\t{ \"type\": \"promptString\", \"id\": \"token\", \"password\": true },\n\t],\n\t\"servers\": {\n\t\t\"ambit\": {\n",
        ],
        ClientId::Windsurf => {
            &["    \"legacy\": { \"serverUrl\": \"https://remote.example/sse\" }"]
        }
        ClientId::Codex => &[
            "# Codex\nmodel = \"gpt-5\"   # the model\napproval_policy = \"on-request\"\n",
            "[projects.\"/somewhere\"]\ntrust_level = \"trusted\" # by hand\n",
            "[mcp_servers.ambit]\ncommand = \"/opt/bin/ambit\"\nargs = [\"mcp\"]\n",
        ],
        ClientId::GeminiCli => &[
            "{\n  \"theme\": \"Default\", // mine\n  \"mcpServers\": {\n    \"ambit\"",
            "  },\n  \"selectedAuthType\": \"oauth-personal\"\n}\n",
        ],
        ClientId::Zed => &[
            "// Zed settings\n{\n  \"theme\": \"One Dark\",\n",
            "    \"postgres\": { \"source\": \"extension\", \"settings\": { \"database_url\": \"x\" } },\n",
            "  },\n  \"vim_mode\": true,\n}\n",
        ],
        ClientId::Opencode => &[
            "  \"$schema\": \"https://opencode.ai/config.json\",\n",
            "  \"theme\": \"opencode\"\n}\n",
        ],
        ClientId::Goose => &[
            "# goose\nGOOSE_PROVIDER: anthropic\nextensions:\n  ambit:\n",
            "  developer:\n    bundled: true\n    enabled: true\n    name: developer\n    type: builtin\n",
            "GOOSE_MODEL: claude # the model\n",
        ],
    };
    for it in kept {
        assert!(after.contains(it), "{client}: {it:?} is gone from\n{after}");
    }
    assert!(after.contains("/opt/bin/ambit"), "{client}\n{after}");
    assert!(!after.contains("npx"), "{client}\n{after}");
    assert_eq!(before.contains("\r\n"), after.contains("\r\n"));
    let bare = |text: &str| text.replace("\r\n", "").contains('\n');
    assert_eq!(bare(before), bare(after), "{client}: mixed line ends");
}

#[test]
fn a_malformed_file_is_reported_and_left_alone() {
    for client in ClientId::ALL {
        let machine = Machine::new(Platform::Linux);
        let text = "{ \"mcpServers\": [ = \n\tghp_secret";
        let path = machine.write(client, Scope::User, text);
        let scanned = scan(machine.files());
        let mut found = scanned.iter().filter(|it| it.file.path == path);
        let FileState::Unusable(why) = &found.next().unwrap().state else {
            panic!("{client}")
        };
        assert!(why.contains("line") && !why.contains("ghp_secret"), "{why}");
        let plan = machine.plan();
        assert!(plan.servers.is_empty() && plan.rewires.is_empty());
    }
}

#[test]
fn what_cannot_be_written_is_refused() {
    type Change = fn(&Path);
    let cases: [(&str, Change); 2] = [
        ("it is read-only", |path| {
            fs::set_permissions(path, fs::Permissions::from_mode(0o444)).unwrap();
        }),
        (
            "it was edited since it was looked at; run the command again",
            |path| {
                let text = fs::read_to_string(path).unwrap();
                fs::write(path, format!("{text} ")).unwrap();
            },
        ),
    ];
    for (expected, change) in cases {
        let machine = Machine::new(Platform::Linux);
        let path = machine.write(ClientId::Cursor, Scope::User, fixture(ClientId::Cursor).0);
        let plan = machine.plan();
        change(&path);
        let before = fs::read(&path).unwrap();
        let refused = apply(&plan.rewires[0], &machine.backups()).unwrap_err();
        assert_eq!(refused.to_string(), expected);
        assert_eq!(fs::read(&path).unwrap(), before);
        assert!(machine.backups().undo(&[]).unwrap().is_empty());
    }
}

#[test]
fn a_link_stays_a_link() {
    let machine = Machine::new(Platform::Linux);
    let (text, _) = fixture(ClientId::Zed);
    let link = machine.path(ClientId::Zed, Scope::User);
    let target = machine.home().join("dotfiles.json");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    fs::write(&target, text).unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&target, &link).unwrap();
    apply(&machine.plan().rewires[0], &machine.backups()).unwrap();
    let is_link = || link.symlink_metadata().unwrap().is_symlink();
    assert!(
        is_link()
            && fs::read_to_string(&target)
                .unwrap()
                .contains("/opt/bin/ambit")
    );
    let mode = fs::metadata(&target).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o640);
    assert_eq!(
        machine.backups().undo(&[]).unwrap()[0].how,
        UndoneHow::Restored
    );
    assert!(is_link());
    assert_eq!(fs::read_to_string(&target).unwrap(), text);
}

#[test]
fn what_a_client_wrote_since_is_kept_when_undone() {
    for client in [ClientId::ClaudeCode, ClientId::Codex, ClientId::Goose] {
        let machine = Machine::new(Platform::Linux);
        let (text, _) = fixture(client);
        let path = machine.write(client, Scope::User, text);
        apply(&machine.plan().rewires[0], &machine.backups()).unwrap();
        let (from, to) = match client {
            ClientId::ClaudeCode => ("\"numStartups\": 12", "\"numStartups\": 13"),
            ClientId::Codex => ("gpt-5", "gpt-6"),
            _ => ("anthropic", "openai"),
        };
        let edited = fs::read_to_string(&path).unwrap().replace(from, to);
        fs::write(&path, edited).unwrap();
        let undone = machine.backups().undo(&[]).unwrap();
        assert_eq!(undone[0].how, UndoneHow::PutBack, "{client}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text.replace(from, to));
    }
}

/// Clients write their files anew, in their own layout, and people go on adding servers.
#[test]
fn servers_are_put_back_into_a_file_written_anew() {
    let added = |client, text: &str| match client {
        ClientId::Codex => format!("{text}\n[mcp_servers.later]\ncommand = \"npx\"\n"),
        ClientId::Goose => text
            .replace("    - \"mcp\"", "    - mcp")
            .replace("  ambit:\n", "  later:\n    type: builtin\n  ambit:\n"),
        _ => {
            let mut value = scan_value(text);
            value["mcpServers"]["later"] = serde_json::json!({"command": "npx"});
            value["numStartups"] = 13.into();
            serde_json::to_string_pretty(&value).unwrap()
        }
    };
    for client in [ClientId::ClaudeCode, ClientId::Codex, ClientId::Goose] {
        let machine = Machine::new(Platform::Linux);
        let (text, names) = fixture(client);
        let path = machine.write(client, Scope::User, text);
        apply(&machine.plan().rewires[0], &machine.backups()).unwrap();
        let applied = fs::read_to_string(&path).unwrap();
        fs::write(&path, added(client, &applied)).unwrap();
        let undone = machine.backups().undo(&[]).unwrap();
        assert_eq!(undone[0].how, UndoneHow::PutBack, "{client}");
        let mut found = scan(machine.files()).into_iter();
        let found = found.find(|it| it.file.path == path).unwrap();
        let now: Vec<&str> = found.servers().iter().map(|it| it.name.as_str()).collect();
        let expected = names.iter().chain(["later"].iter());
        assert!(
            expected.clone().all(|it| now.contains(it)),
            "{client}: {now:?}"
        );
        assert!(!now.contains(&"ambit"), "{client}: {now:?}");
    }
}

fn scan_value(text: &str) -> serde_json::Value {
    super::super::scan::parse(Syntax::Json, text).unwrap()
}

#[test]
fn what_was_applied_twice_is_undone_twice() {
    let mut machine = Machine::new(Platform::Linux);
    let (text, _) = fixture(ClientId::ClaudeCode);
    let path = machine.write(ClientId::ClaudeCode, Scope::User, text);
    for later in ["", "later"] {
        let now = fs::read_to_string(&path).unwrap();
        let mut value = scan_value(&now);
        if !later.is_empty() {
            value["mcpServers"][later] = serde_json::json!({"command": "npx"});
            fs::write(&path, serde_json::to_string_pretty(&value).unwrap()).unwrap();
        }
        apply(&machine.settle().rewires[0], &machine.backups()).unwrap();
    }
    let undone = machine.backups().undo(&[]).unwrap();
    let how: Vec<&str> = undone.iter().map(|it| it.how.as_str()).collect();
    assert_eq!(how, ["restored", "put_back"]);
    let mut expected = scan_value(text);
    expected["mcpServers"]["later"] = serde_json::json!({"command": "npx"});
    assert_eq!(scan_value(&fs::read_to_string(&path).unwrap()), expected);
}

#[test]
fn in_the_home_nothing_is_a_projects() {
    let none = |_: &str| None;
    let files = files(&Surroundings {
        platform: Platform::Linux,
        home: Path::new("/h"),
        project: Path::new("/h"),
        variable: &none,
    });
    let cursor: Vec<Scope> = files
        .iter()
        .filter(|it| it.client == ClientId::Cursor)
        .map(|it| it.scope)
        .collect();
    assert_eq!(cursor, [Scope::User]);
}

#[test]
fn servers_edited_since_are_not_overwritten() {
    let machine = Machine::new(Platform::Linux);
    let (text, _) = fixture(ClientId::ClaudeCode);
    let path = machine.write(ClientId::ClaudeCode, Scope::User, text);
    apply(&machine.plan().rewires[0], &machine.backups()).unwrap();
    let edited = fs::read_to_string(&path)
        .unwrap()
        .replace("[\"mcp\"]", "[\"mcp\", \"--style\", \"full\"]");
    assert_ne!(edited, fs::read_to_string(&path).unwrap());
    fs::write(&path, &edited).unwrap();
    let undone = machine.backups().undo(&[]).unwrap();
    let UndoneHow::Edited { backup } = &undone[0].how else {
        panic!("{undone:?}")
    };
    assert_eq!(fs::read_to_string(backup).unwrap(), text);
    assert_eq!(fs::read_to_string(&path).unwrap(), edited);
    assert_eq!(
        fs::metadata(backup).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn only_named_clients_are_touched() {
    let mut machine = Machine::new(Platform::Linux);
    for client in [ClientId::Cursor, ClientId::Codex] {
        machine.write(client, Scope::User, fixture(client).0);
    }
    machine.clients = vec![ClientId::Cursor];
    let plan = machine.plan();
    assert_eq!(plan.rewires.len(), 1);
    assert_eq!(plan.rewires[0].client, ClientId::Cursor);
    // A client without servers is given Ambit when it is named.
    machine.write(ClientId::GeminiCli, Scope::User, "{\"theme\": \"x\"}\n");
    machine.clients = vec![ClientId::GeminiCli];
    let plan = machine.plan();
    let after = plan.rewires[0].after.as_ref().unwrap();
    assert!(
        after.contains("/opt/bin/ambit") && after.contains("\"theme\": \"x\""),
        "{after}"
    );
}

#[test]
fn a_project_is_taken_over_on_its_own() {
    let mut machine = Machine::new(Platform::Linux);
    machine.write(
        ClientId::ClaudeCode,
        Scope::Project,
        fixture(ClientId::ClaudeDesktop).0,
    );
    let here = machine.work().display().to_string();
    let local =
        serde_json::json!({"projects": {&here: {"mcpServers": {"mine": {"command": "npx"}}}}});
    machine.write(ClientId::ClaudeCode, Scope::Local, &local.to_string());
    assert!(machine.plan().servers.is_empty());
    machine.scopes = vec![Scope::Local, Scope::Project];
    let plan = machine.plan();
    let names: Vec<&str> = plan.servers.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["mine", "github"]);
    let [local, shared] = plan.rewires.as_slice() else {
        panic!("{:?}", plan.rewires)
    };
    // What is shared must work elsewhere.
    assert!(local.after.as_ref().unwrap().contains("/opt/bin/ambit"));
    assert!(!shared.after.as_ref().unwrap().contains("/opt/bin/ambit"));
}
