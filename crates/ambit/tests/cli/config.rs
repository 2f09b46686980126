//! What `ambit.json` may say, what is wrong with it, and what works all the same.

use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::support::{call, configured, ended, home, text};

/// What `check` says of a user's file: `line:column code` for each problem.
fn problems(home: &Home) -> Vec<String> {
    let run = home.run(&["check", "--json"]);
    let report = run.json();
    assert_eq!(report["schemaVersion"], 1);
    let problems = report["problems"].as_array().unwrap();
    let wrong = problems.iter().any(|it| it["severity"] == "error");
    assert_eq!(report["ok"], !wrong);
    assert_eq!(run.code, if wrong { 2 } else { 0 });
    let line = |it: &Value| {
        let code = it["code"].as_str().unwrap();
        match it["at"].as_object() {
            Some(at) => format!("{}:{} {code}", at["line"], at["column"]),
            None => code.to_owned(),
        }
    };
    problems.iter().map(line).collect()
}

#[track_caller]
fn check(config: impl AsRef<[u8]>, expected: &[&str]) {
    let home = home();
    home.user_config("");
    std::fs::write(
        home.home().join(".config/ambit/ambit.json"),
        config.as_ref(),
    )
    .unwrap();
    assert_eq!(problems(&home), expected);
    if !expected.is_empty() {
        // Whatever needs the file refuses it, without a word on stdout.
        let run = home.run(&["ls"]).exits(2);
        assert_eq!(run.stdout, "");
        assert!(run.stderr.contains("ambit.json"), "{}", run.stderr);
    }
}

#[test]
fn every_problem_is_listed_with_its_place() {
    check("{}", &[]);
    check("// nothing yet\n{ /* really */ }\n", &[]);
    check("", &["1:1 syntax"]);
    check("{} x", &["1:4 syntax"]);
    check("{\"mode\": \"ask\"", &["1:1 syntax"]);
    check(b"{\n\"mode\": \"\xff\"}", &["2:10 not_utf8"]);
    check("\u{feff}{}", &["1:1 byte_order_mark"]);
    check(
        "{\"mode\": \"ask\",\n \"mode\": \"auto\"}",
        &["2:2 duplicate_key"],
    );
    check(
        r#"{"agnets": {}, "mode": "aut", "hooks": {}, "limits": {"callSeconds": 0}}"#,
        &[
            "1:2 unknown_key",
            "1:24 not_an_option",
            "1:40 wrong_type",
            "1:70 out_of_range",
        ],
    );
    check(
        r#"{"permissions": {"deny": ["files", "mcp__x"]}}"#,
        &["1:27 rule_invalid", "1:36 rule_invalid"],
    );
    check(vec![b'['; 100_000], &["1:513 nesting_too_deep"]);
    check(vec![b' '; (16 << 20) + 1], &["file_too_large"]);
}

#[test]
fn a_misspelled_key_is_answered_with_the_one_meant() {
    let home = configured(r#"{"agents": {"a": {"capabilites": {}}}}"#);
    let error = home.run(&["ls", "--json"]).exits(2).json();
    assert_eq!(
        error["error"]["hints"],
        json!(["did you mean `capabilities`?"])
    );
    let drawn = home.run(&["check"]).exits(2).stderr;
    for part in [
        "ambit.json:1:19",
        "^^^^",
        "unknown_key",
        "did you mean `capabilities`?",
    ] {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
}

#[test]
fn grants_nobody_offers_are_found_by_check() {
    for (capabilities, expected, hint) in [
        (
            json!({"flies": {}}),
            "1:36 unknown_capability",
            "did you mean `files`?",
        ),
        (
            json!(["flies"]),
            "1:36 unknown_capability",
            "did you mean `files`?",
        ),
        (
            json!({"files": {"tools": ["read_fle"]}}),
            "1:54 unknown_tool",
            "did you mean `read_file`?",
        ),
        (
            json!({"files": {"dir": ["x"]}}),
            "1:44 bad_capability_config",
            "",
        ),
        (json!({"shell": {"allow": "ls"}}), "", ""),
    ] {
        let home = configured(format!(
            r#"{{"agents": {{"a": {{"capabilities": {capabilities}}}}}}}"#
        ));
        let found = problems(&home);
        assert_eq!(found.len(), 1, "{capabilities}: {found:?}");
        if !expected.is_empty() {
            assert_eq!(found, [expected], "{capabilities}");
        }
        let run = call(&home, "files__glob", json!({"pattern": "*"}), &[]).exits(2);
        let error = run.json();
        let hints = error["error"]["hints"].as_array().unwrap();
        assert!(hint.is_empty() || hints.contains(&json!(hint)), "{error}");
        assert!(error["error"]["at"]["line"].is_u64(), "{error}");
    }
    let lenient = configured(json!({
        "unknownCapabilities": "skip",
        "agents": {"a": {"capabilities": ["files", "flies"]}},
    }));
    assert!(problems(&lenient)[0].ends_with("capability_skipped"));
    call(&lenient, "files__glob", json!({"pattern": "*"}), &[]).exits(0);
}

#[test]
fn a_broken_config_does_not_stop_what_mends_it() {
    let home = configured("{ broken");
    let schema = home.run(&["schema"]).exits(0).json();
    assert_eq!(schema["title"], "ambit.json");
    for shell in ["bash", "zsh", "fish"] {
        let script = home.run(&["completions", shell]).exits(0).stdout;
        assert!(script.contains("ambit"), "{shell}");
    }
    let doctor = home.run(&["doctor", "--json"]).exits(1).json();
    assert_eq!(doctor["ok"], false);
    let findings = doctor["findings"].as_array().unwrap();
    let config = findings.iter().find(|it| it["part"] == "config").unwrap();
    assert_eq!(config["health"], "broken");
    home.run(&["init", "--starter"]).exits(0);
    assert!(home.work().join("ambit.json").exists());
    home.run(&["check"]).exits(2);
}

#[test]
fn a_starter_is_trusted_and_overwrites_nothing() {
    let home = home();
    let written = home.run(&["init", "--starter", "--json"]).exits(0).json();
    assert_eq!(written["trusted"], true);
    let path = home.work().join("ambit.json");
    let text = std::fs::read(&path).unwrap();
    assert_eq!(problems(&home), [""; 0]);
    assert_eq!(
        home.run(&["init", "--starter", "--json"]).exits(2).json()["error"]["code"],
        "exists"
    );
    assert_eq!(std::fs::read(&path).unwrap(), text);
    home.write("a.txt", "x");
    home.run(&[
        "call",
        "files__write_file",
        "--input",
        r#"{"path":"b","content":"c"}"#,
        "--yes",
    ])
    .exits(0);
}

#[test]
fn the_agent_is_chosen() {
    let glob = json!({"pattern": "*"});
    let none = home();
    assert_eq!(none.run(&["resolve", "--json"]).json()["agent"], "default");
    assert_eq!(
        ended(&call(&none, "files__glob", &glob, &["--agent", "default"])),
        "completed"
    );
    let one = configured(json!({"agents": {"solo": {"capabilities": ["files"]}}}));
    assert_eq!(one.run(&["resolve", "--json"]).json()["agent"], "solo");
    assert_eq!(ended(&call(&one, "files__glob", &glob, &[])), "completed");
    let two = configured(json!({"agents": {
        "coder": {"capabilities": ["files"]},
        "reviewer": {"capabilities": {"files": {"tools": ["glob"]}}},
    }}));
    let error = call(&two, "files__glob", &glob, &[]).exits(2).json();
    assert_eq!(error["error"]["code"], "agent_not_chosen");
    let hint = error["error"]["hints"][0].as_str().unwrap();
    assert!(hint.contains("`coder`, `reviewer`"), "{hint}");
    assert_eq!(
        ended(&call(&two, "files__glob", &glob, &["--agent", "reviewer"])),
        "completed"
    );
    let other = call(&two, "files__list_dir", json!({}), &["--agent", "reviewer"]);
    assert_eq!(ended(&other), "denied not_visible");
    let wrong = call(&two, "files__glob", &glob, &["--agent", "codr"])
        .exits(2)
        .json();
    assert_eq!(wrong["error"]["hints"], json!(["did you mean `coder`?"]));
}

#[test]
fn tools_narrow_and_none_means_none() {
    for (tools, expected) in [
        (json!({}), "completed"),
        (json!({"tools": ["glob"]}), "completed"),
        (json!({"tools": ["read_file"]}), "denied not_visible"),
        (json!({"tools": []}), "denied not_visible"),
    ] {
        let home = configured(json!({"agents": {"a": {"capabilities": {"files": tools}}}}));
        let run = call(&home, "files__glob", json!({"pattern": "*"}), &[]);
        assert_eq!(ended(&run), expected, "{tools}");
    }
}

#[test]
fn the_project_is_laid_over_the_user() {
    let home = configured(json!({
        "mode": "auto",
        "agents": {"a": {"capabilities": {"files": {"tools": ["glob"]}}}},
        "permissions": {"deny": ["local__files__grep"]},
    }));
    home.write("sub/x.txt", "x");
    home.write("ambit.json", r#"{"mode": "read-only", "agents": {"a": {"capabilities": ["files"]}}, "permissions": {"allow": ["local__files__grep"]}}"#);
    home.run(&["trust"]).exits(0);
    let write = json!({"path": "y", "content": ""});
    assert_eq!(
        ended(&call(&home, "files__write_file", write, &[])),
        "denied not_visible"
    );
    assert_eq!(
        ended(&call(&home, "files__list_dir", json!({}), &[])),
        "completed"
    );
    // A project's `allow` does not lift the user's own `deny`.
    assert_eq!(
        ended(&call(&home, "files__grep", json!({"pattern": "x"}), &[])),
        "denied not_visible"
    );
    // Found upward, and paths are relative to where it was found.
    let output = home
        .command(&[
            "call",
            "files__read_file",
            "--input",
            r#"{"path":"sub/x.txt"}"#,
        ])
        .current_dir(home.work().join("sub"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "x\n");
}

#[test]
fn variables_are_filled_in_or_named() {
    let config = |value: &str| {
        json!({"mode": "auto", "agents": {"a": {"capabilities": {
            "shell": {"allow": ["printenv"], "env": {"WHO": value}},
        }}}})
    };
    let mut home = configured(config("from-${ORIGIN}"));
    let error = home.run(&["check", "--json"]).exits(2).json();
    let problem = &error["problems"][0];
    assert_eq!(problem["code"], "variable_unset");
    assert!(problem["message"].as_str().unwrap().contains("`ORIGIN`"));
    assert!(problem["at"]["column"].is_u64());
    home.set("ORIGIN", "here");
    let run = call(
        &home,
        "shell__run_command",
        json!({"command": ["printenv", "WHO"]}),
        &[],
    );
    assert!(text(&run).contains("from-here"), "{run:?}");
    let plain = configured(config("$${ORIGIN}"));
    let run = call(
        &plain,
        "shell__run_command",
        json!({"command": ["printenv", "WHO"]}),
        &[],
    );
    assert!(text(&run).contains("${ORIGIN}"), "{run:?}");
    let missing = configured(config("${secret:nope}"));
    let error = missing.run(&["ls", "--json"]).exits(2).json();
    assert_eq!(error["error"]["code"], "secret_missing");
    assert_eq!(
        error["error"]["hints"],
        json!(["store it with `ambit secrets set nope`"])
    );
}
