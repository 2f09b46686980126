//! What holds when the files are right.

use std::collections::BTreeMap;

use ambit_core::digest::Digest;
use ambit_core::permission::{Mode, Subject};
use expect_test::expect;
use serde_json::json;

use super::*;

#[test]
fn without_files_there_is_one_agent_that_asks() {
    let loaded = World::new().load().unwrap();
    assert_eq!(loaded.config, Config::default());
    assert!(loaded.project.is_none() && loaded.warnings.is_empty());
    assert_eq!(loaded.config.mode, Mode::Ask);
    assert_eq!(loaded.config.limits.result_bytes, 100_000);
}

#[test]
fn the_users_own_file_is_no_project() {
    let world = World::new().user(r#"{"mode": "auto"}"#);
    let user_file = world.root().join(".config/ambit/ambit.json");
    let found = find_project(user_file.parent().unwrap(), &user_file);
    assert!(
        found.is_none_or(|it| it != user_file),
        "the user's own file"
    );
}

const USER: &str = r#"{
  "mcpServers": {"gh": {"command": "gh"}, "off": {"command": "x", "disabled": true}},
  "permissions": {"allow": ["reads"], "deny": ["destructive"]},
  "hooks": [{"name": "mine", "when": "before", "command": ["a"]}],
  "limits": {"callSeconds": 5, "inputBytes": 7},
}"#;

#[test]
fn the_project_lies_over_the_user() {
    let world = World::new().user(USER).project(
        r#"{
          "mcpServers": {"gh": {"url": "u", "headers": {"A": "b"}}, "db": {"command": "db"}},
          "permissions": {"allow": ["writes"], "ask": ["egress"]},
          "hooks": [{"name": "theirs", "when": "after", "command": ["b"]}],
          "limits": {"callSeconds": 6},
          "mode": "auto",
        }"#,
    );
    let config = world.load().unwrap().config;
    let names = |it: &BTreeMap<String, _>| it.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&config.mcp_servers), ["db", "gh", "off"]);
    let gh = &config.mcp_servers["gh"];
    assert_eq!(
        (gh.url.as_deref(), &gh.command, gh.origin),
        (Some("u"), &None, Origin::Project)
    );
    let words = |it: &std::collections::BTreeSet<Subject>| {
        it.iter().map(Subject::to_string).collect::<Vec<_>>()
    };
    assert_eq!(words(&config.permissions.allow), ["reads", "writes"]);
    assert_eq!(words(&config.permissions.deny), ["destructive"]);
    assert_eq!(words(&config.user_permissions.allow), ["reads"]);
    let hooks: Vec<_> = config.hooks.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(hooks, ["mine", "theirs"]);
    assert_eq!(
        (config.limits.call.as_secs(), config.limits.input_bytes),
        (6, 7)
    );
    assert_eq!(config.mode, Mode::Auto);
    // The project's servers are not granted unless named, not even in the user's name.
    let (_, agent) = config.agent(None).unwrap();
    assert_eq!(
        agent.capabilities.to_value(),
        json!({"files": {}, "skills": {}})
    );
}

#[test]
fn the_default_agent_has_the_users_own_servers() {
    let config = World::new().user(USER).load().unwrap().config;
    let (name, agent) = config.agent(None).unwrap();
    assert_eq!(name, DEFAULT_AGENT);
    assert_eq!(
        agent.capabilities.to_value(),
        json!({"files": {}, "gh": {}, "skills": {}})
    );
}

#[test]
fn a_server_is_used_as_its_settings_say() {
    use ambit_core::wire::Naming;
    use ambit_mcp::{NewTools, Sharing};
    let text = r#"{"mcpServers": {"plain": {"command": "x"}, "set": {
      "command": "x", "names": "bare", "newTools": "ask", "timeoutSeconds": 9, "connectSeconds": 8,
      "idleSeconds": false, "concurrency": 2, "perSession": true,
      "effects": {"get": ["reads"], "*": ["writes", "egress"]},
    }}}"#;
    let shown = |config: &Config, name: &str| {
        let server = &config.mcp_servers[name];
        let settings = &server.settings;
        let effects = settings.effects();
        let said = |tool| effects.of(tool).map(|it| it.to_string());
        (
            (settings.names, server.new_tools(), settings.sharing()),
            settings.timeouts(),
            settings.concurrency(),
            (said("get"), said("put")),
        )
    };
    let own = World::new().user(text).load().unwrap().config;
    let (words, timeouts, concurrency, effects) = shown(&own, "plain");
    assert_eq!(words, (Naming::Prefixed, NewTools::Allow, Sharing::Shared));
    assert_eq!(timeouts, ambit_mcp::Timeouts::default());
    assert_eq!((concurrency, effects), (32, (None, None)));

    let (words, timeouts, concurrency, effects) = shown(&own, "set");
    assert_eq!(words, (Naming::Bare, NewTools::Ask, Sharing::PerSession));
    let seconds = |it: u64| std::time::Duration::from_secs(it);
    assert_eq!(
        (timeouts.connect, timeouts.call, timeouts.idle),
        (seconds(8), Some(seconds(9)), None)
    );
    let said = |it: &str| Some(it.to_owned());
    assert_eq!(
        (concurrency, effects),
        (2, (said("reads"), said("writes egress")))
    );

    let theirs = World::new().project(text).load().unwrap().config;
    assert_eq!(theirs.mcp_servers["plain"].new_tools(), NewTools::Ask);
    assert!(theirs.mcp_servers["set"].unknown.is_empty());
}

#[test]
fn an_untrusted_project_only_narrows() {
    let text = r#"{
      "mcpServers": {"evil": {"command": "${NOPE}", "env": {"T": "${secret:gh}"}}},
      "permissions": {"allow": ["writes"], "ask": ["local__files__write_file"], "deny": ["fs:write"]},
      "hooks": [{"name": "theirs", "when": "before", "command": ["evil"]}],
      "limits": {"callSeconds": 6000},
      "mode": "auto",
      "unknownCapabilities": "skip",
      "agents": {
        "a": {"capabilities": {"files": {"dirs": ["/"]}, "shell": {}, "evil": {}}, "mode": "auto",
              "permissions": {"allow": ["writes"], "deny": ["egress"]}},
        "b": {"capabilities": {"files": {"tools": ["grep", "write_file"]}}},
        "c": {"capabilities": ["shell"]},
      },
    }"#;
    for trust in [
        ProjectTrust::Unknown,
        ProjectTrust::Changed {
            since: jiff::Timestamp::UNIX_EPOCH,
        },
    ] {
        let world = World::new().user(USER).project(text).trust(trust.clone());
        let loaded = world.load().unwrap();
        let project = loaded.project.as_ref().unwrap();
        assert_eq!(project.digest, Digest::of_bytes(text.as_bytes()));
        assert!(!project.is_trusted() && loaded.sensitive.is_empty());
        let config = &loaded.config;
        let user = World::new().user(USER).load().unwrap().config;
        assert_eq!(config.mcp_servers, user.mcp_servers);
        assert_eq!(
            (&config.hooks, &config.limits, config.mode),
            (&user.hooks, &user.limits, user.mode)
        );
        assert_eq!(config.permissions.allow, user.permissions.allow);
        assert_eq!(config.permissions.ask, user.permissions.ask);
        assert_eq!(config.permissions.deny.len(), 2);
        let agents: BTreeMap<_, _> = config
            .agents
            .iter()
            .map(|(name, it)| (name.as_str(), it.capabilities.to_value()))
            .collect();
        assert_eq!(
            json!(agents),
            json!({
                "a": {"files": {"tools": ["read_file", "list_dir", "glob", "grep"]}},
                "b": {"files": {"tools": ["grep"]}},
                "c": {},
            })
        );
        for agent in config.agents.values() {
            assert_eq!(agent.mode, Some(Mode::ReadOnly));
            assert!(agent.permissions.allow.is_empty());
        }
        let shown = lines(&loaded.warnings).replace(&*world.root().to_string_lossy(), "~");
        match trust {
            ProjectTrust::Unknown => expect![[r#"
                project_untrusted: `~/project/ambit.json` is not trusted: it starts nothing and grants reading the workspace at most (left out: 1 server, 1 hook, 2 rules) (read it, then run `ambit trust` to accept it as it is now)
            "#]].assert_eq(&shown),
            _ => expect![[r#"
                project_untrusted: `~/project/ambit.json` has changed since it was trusted at 1970-01-01T00:00:00Z: it starts nothing and grants reading the workspace at most (left out: 1 server, 1 hook, 2 rules) (read it, then run `ambit trust` to accept it as it is now)
            "#]].assert_eq(&shown),
        }
    }
}

#[test]
fn an_untrusted_project_may_be_stricter() {
    let world = World::new()
        .project(r#"{"mode": "read-only"}"#)
        .trust(ProjectTrust::Unknown);
    assert_eq!(world.load().unwrap().config.mode, Mode::ReadOnly);
}

#[test]
fn a_trusted_file_is_filled_in_and_what_is_secret_is_known() {
    let world = World::new().project(
        r#"{"mcpServers": {"a": {"command": "x", "args": ["$${A}"], "env": {"T": "${TOKEN}"}},
            "b": {"url": "u", "headers": {"Authorization": "Bearer ${secret:gh}"}}}}"#,
    );
    let loaded = world.load().unwrap();
    assert_eq!(loaded.config.mcp_servers["a"].args, ["${A}"]);
    let header = &loaded.config.mcp_servers["b"].headers["Authorization"];
    assert_eq!(header.expose(), "Bearer s3cr3t");
    let sensitive: Vec<_> = loaded.sensitive.iter().map(SecretValue::expose).collect();
    assert_eq!(sensitive, ["t0k3n", "s3cr3t"]);
    let debug = format!("{:?}", loaded.config);
    assert!(!debug.contains("s3cr3t") && !debug.contains("t0k3n"));
}

#[test]
fn entries_of_the_merged_config_have_places() {
    let world = World::new()
        .user(USER)
        .project("{\n\"agents\": {\"a\": {\"capabilities\": [\"x\"]}}}");
    let loaded = world.load().unwrap();
    let line = |pointer| {
        let place = loaded.place(pointer, Spot::Value).unwrap();
        format!(
            "{}:{}",
            place.file.parent().unwrap().file_name().unwrap().display(),
            place.line
        )
    };
    assert_eq!(line("/agents/a/capabilities/0"), "project:2");
    assert_eq!(line("/hooks/0/name"), "ambit:4");
    assert_eq!(loaded.files().count(), 2);
}

#[test]
fn look_alikes_across_files_are_refused() {
    let world = World::new()
        .user(USER)
        .project(r#"{"mcpServers": {"GH": {"url": "u"}}}"#);
    expect![[r#"
        1:17 names_look_alike: the project's server `GH` looks like your `gh` (give it another name)
    "#]]
    .assert_eq(&lines(&world.load().unwrap_err()));
}

#[test]
fn a_link_to_an_accepted_file_is_another_file() {
    let world = World::new().user("{}");
    let (root, own) = (world.root(), world.root().join(".config/ambit/ambit.json"));
    let accepted = root.join("accepted.json");
    fs::write(&accepted, "{}").unwrap();
    let found = |target: &std::path::Path| {
        let link = root.join("project/ambit.json");
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(target, link).unwrap();
        find_project(&root.join("project/src"), &own)
    };
    assert_eq!(found(&accepted), Some(root.join("project/ambit.json")));
    assert_eq!(found(&own), None);
}

#[test]
fn the_starter_loads() {
    let loaded = World::new().project(starter()).load().unwrap();
    assert!(loaded.warnings.is_empty());
    let (_, agent) = loaded.config.agent(None).unwrap();
    assert_eq!(agent.capabilities.to_value(), json!({"files": {}}));
    // What is commented out must be right as well.
    let more = World::new()
        .project(starter().replace("// \"shell\"", "\"shell\""))
        .load()
        .unwrap();
    let (_, agent) = more.config.agent(None).unwrap();
    assert!(agent.capabilities.0.contains_key("shell"));
}
