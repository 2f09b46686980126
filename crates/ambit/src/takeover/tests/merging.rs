//! Servers of several clients in one file.

use super::fixtures::fixture;
use super::*;

fn cursor(servers: &str) -> String {
    format!("{{\"mcpServers\": {servers}}}")
}

/// `name fate disabled uses`, a line for each.
fn shown(plan: &Plan) -> String {
    let line = |it: &Planned| {
        let codes: Vec<&str> = it.notes.iter().map(Note::code).collect();
        let off = if it.disabled { " off" } else { "" };
        format!(
            "{} {} x{}{off} {}",
            it.name,
            it.fate.as_str(),
            it.uses.len(),
            codes.join(" ")
        )
    };
    let lines: Vec<String> = plan
        .servers
        .iter()
        .map(|it| line(it).trim_end().to_owned())
        .collect();
    lines.join("\n")
}

#[test]
fn the_same_server_is_kept_once_and_others_of_its_name_apart() {
    let mut machine = Machine::new(Platform::Linux);
    let same = r#"{"gh": {"command": "npx", "args": ["gh"], "env": {"API_KEY": "k1"}}}"#;
    machine.write(ClientId::ClaudeDesktop, Scope::User, &cursor(same));
    let other = same.replace("\"gh\": {", "\"github\": {");
    machine.write(ClientId::Cursor, Scope::User, &cursor(&other));
    machine.write(
        ClientId::Windsurf,
        Scope::User,
        &cursor(&same.replace("k1", "k2")),
    );
    machine.write(
        ClientId::GeminiCli,
        Scope::User,
        &cursor(
            r#"{"files": {"command": "gone"}, "my server!": {"url": "https://a.b/mcp?token=abc"}}"#,
        ),
    );
    let plan = machine.settle();
    assert_eq!(
        shown(&plan),
        "gh added x2\ngh-windsurf added x1\nfiles-mcp added x1 command_not_found\nmy-server added x1 secret_in_sight"
    );
    let secrets: Vec<(&str, &str)> = plan
        .secrets
        .iter()
        .map(|it| (it.name.as_str(), it.value.expose()))
        .collect();
    assert_eq!(
        secrets,
        [("gh.API_KEY", "k1"), ("gh-windsurf.API_KEY", "k2")]
    );
    let text = plan.config.unwrap();
    assert!(
        !text.contains("k1") && text.contains("${secret:gh.API_KEY}"),
        "{text}"
    );
    assert_eq!(machine.plan().config, None);
}

#[test]
fn names_that_look_alike_are_told_apart() {
    let mut machine = Machine::new(Platform::Linux);
    machine.config = Some("{\"mcpServers\": {\"GitHub\": {\"command\": \"x\"}}}".to_owned());
    let servers =
        r#"{"github": {"command": "npx"}, "log": {"command": "a"}, "l0g": {"command": "b"}}"#;
    machine.write(ClientId::Cursor, Scope::User, &cursor(servers));
    let text = machine.settle().config.unwrap();
    let errors = crate::config::errors(crate::config::Source::new("f", text));
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(machine.plan().config, None);
}

#[test]
fn what_is_there_stays_with_its_comments() {
    let mut machine = Machine::new(Platform::Linux);
    let before = "// mine\n{\n  \"mode\": \"ask\", // careful\n  \"mcpServers\": {\n    // the old one\n    \"github\": { \"command\": \"other\" },\n  },\n  \"agents\": {},\n}\n";
    machine.config = Some(before.to_owned());
    machine.write(ClientId::Cursor, Scope::User, fixture(ClientId::Cursor).0);
    let plan = machine.settle();
    assert_eq!(shown(&plan), "github differs x1\nlinear added x1");
    assert!(plan.has_agents);
    let after = plan.config.unwrap();
    let added = "    \"linear\": {\n      \"url\": \"https://mcp.linear.app/mcp\",\n    },\n";
    assert_eq!(after.replace(added, ""), before, "{after}");
}

#[test]
fn secrets_are_guessed_and_moved() {
    let kept = |name: &str| (name == "s.TOKEN").then(|| SecretValue::new("old"));
    let check = |key: &str, value: &str, expected: &str| {
        let launch = Launch::Address {
            url: "https://a.b".to_owned(),
            headers: [(key.to_owned(), value.to_owned())].into(),
        };
        let (Launch::Address { headers, .. }, new) = keep_secrets("s", launch, &kept) else {
            panic!()
        };
        let new: Vec<&str> = new.iter().map(|it| it.value.expose()).collect();
        assert_eq!(
            format!("{} {}", headers[key], new.join(",")).trim_end(),
            expected
        );
    };
    check(
        "Authorization",
        "Bearer abc",
        "Bearer ${secret:s.Authorization} abc",
    );
    check("X-Api-Key", "k1", "${secret:s.X-Api-Key} k1");
    check("GITHUB_TOKEN", "${TOKEN}", "${TOKEN}");
    check("GITHUB_TOKEN", "a$${b}", "${secret:s.GITHUB_TOKEN} a${b}");
    check("TOKEN", "old", "${secret:s.TOKEN}");
    check("TOKEN", "new", "${secret:s.TOKEN-2} new");
    check(
        "ACCOUNT",
        "ghp_0123456789abcdef",
        "${secret:s.ACCOUNT} ghp_0123456789abcdef",
    );
    check("MODE", "stdio", "stdio");
    check("KEYBOARD", "us", "us");
    check("MAX_TOKENS", "4096", "4096");
    check("USE_TOKEN", "true", "true");
    check("CREDENTIALS", "/etc/key.json", "/etc/key.json");
    check("TOKEN", "", "");
}
