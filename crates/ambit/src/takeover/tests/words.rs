//! Each client's placeholders.

use super::super::variables::translate;
use super::*;

#[track_caller]
fn check(client: ClientId, text: &str, expected: &str) {
    let launch = Launch::Command {
        command: "x".to_owned(),
        args: vec![text.to_owned()],
        env: BTreeMap::new(),
        cwd: None,
    };
    let set = |name: &str| (name == "SET").then(|| OsString::from("1"));
    let translated = translate(client, &launch, &set);
    let Launch::Command { args, .. } = translated.launch else {
        panic!()
    };
    let codes: Vec<&str> = translated.notes.iter().map(Note::code).collect();
    assert_eq!(
        format!("{} {}", args[0], codes.join(" ")).trim_end(),
        expected
    );
}

#[test]
fn placeholders_are_translated_or_reported() {
    use ClientId::*;
    check(ClaudeCode, "a${SET}b", "a${SET}b variable_needed");
    check(ClaudeCode, "${UNSET}", "${UNSET} variable_unset");
    check(ClaudeCode, "${UNSET:-d}", "d default_used");
    check(ClaudeCode, "${SET:-d}", "${SET} variable_needed");
    check(Cursor, "${env:SET}", "${SET} variable_needed");
    check(Cursor, "${workspaceFolder}/x", "./x");
    check(Cursor, "--root=${workspaceFolder}", "--root=.");
    check(
        Cursor,
        "a ${workspaceFolder}",
        "a $${workspaceFolder} placeholder_untranslatable",
    );
    check(VsCode, "${userHome}${/}x${pathSeparator}", "${HOME}/x/");
    check(VsCode, "${input:key}", "${secret:key} input_needed");
    check(
        VsCode,
        "${command:x}",
        "$${command:x} placeholder_untranslatable",
    );
    check(Windsurf, "${env:UNSET}", "${UNSET} variable_unset");
    check(ClaudeDesktop, "${SET}", "$${SET}");
    check(Zed, "$SET ${SET", "$SET $${SET");
    check(Codex, "${SET}", "$${SET}");
    check(
        GeminiCli,
        "$SET/${SET} $ $1",
        "${SET}/${SET} $ $1 variable_needed",
    );
    check(
        Opencode,
        "{env:SET} {x} ${SET}",
        "${SET} {x} $${SET} variable_needed",
    );
    check(
        Opencode,
        "{file:~/key}",
        "{file:~/key} placeholder_untranslatable",
    );
}

#[test]
fn a_server_that_cannot_work_yet_is_switched_off() {
    let mut machine = Machine::new(Platform::Linux);
    machine.write(
        ClientId::VsCode,
        Scope::User,
        fixtures::fixture(ClientId::VsCode).0,
    );
    let github = |plan: &Plan| {
        plan.servers
            .iter()
            .find(|it| it.name == "github")
            .unwrap()
            .disabled
    };
    assert!(github(&machine.plan()));
    machine
        .secrets
        .insert("token".to_owned(), SecretValue::new("x"));
    assert!(!github(&machine.plan()));
}
