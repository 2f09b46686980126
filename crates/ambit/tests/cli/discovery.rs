//! What a model would see, what can be found, and why: `search`, `visible`, `explain`, `diff`.

use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::shapes::promised;
use crate::support::{call, configured, ended, home};

fn visible(home: &Home, arguments: &[&str]) -> Value {
    home.run(&[&["visible", "--json"], arguments].concat())
        .exits(0)
        .json()
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|it| it["id"].as_str().unwrap())
        .collect()
}

fn search(home: &Home, arguments: &[&str]) -> Value {
    home.run(&[&["search", "--json"], arguments].concat())
        .exits(0)
        .json()
}

#[test]
fn search_has_its_shape() {
    let home = home();
    let found = search(&home, &["read a file"]);
    promised(
        &json!({"schemaVersion": found["schemaVersion"], "hits": []}),
        "hits:array schemaVersion:int",
    );
    let hits = found["hits"].as_array().unwrap();
    assert_eq!(hits[0]["id"], "local__files__read_file");
    hits.iter()
        .for_each(|it| promised(it, "id:string score:int summary:string why:array"));
    assert!(
        hits.iter()
            .all(|it| it["why"].as_array().unwrap().iter().all(Value::is_string))
    );
    let scores: Vec<_> = hits
        .iter()
        .map(|it| it["score"].as_u64().unwrap())
        .collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert_eq!(
        search(&home, &["read a file", "--limit", "1"])["hits"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(found, search(&home, &["read a file"]));
}

#[test]
fn odd_queries_find_something_or_nothing() {
    let home = home();
    for (query, finds) in [
        ("", false),
        (" \t\n ", false),
        ("\u{1}\u{1b}[2J\u{7f}", false),
        ("read\u{1b}[31m_file", true),
        ("\u{202e}read\u{2066} file\u{200b}", true),
        ("🙂 数据 ünï", false),
        (&"file ".repeat(20_000), true),
        (&"a".repeat(100_000), false),
        ("files__read_file", true),
        ("redd_file", true),
    ] {
        let found = !search(&home, &[query])["hits"]
            .as_array()
            .unwrap()
            .is_empty();
        let head: String = query.chars().take(30).collect();
        assert_eq!(found, finds, "{head:?}");
        let printed = home.run(&["search", query]).exits(0);
        let said = printed.stdout + &printed.stderr;
        assert!(
            !said.contains(['\u{1b}', '\u{202e}', '\u{2066}']),
            "{head:?}"
        );
    }
}

#[test]
fn what_the_mode_forbids_is_not_found() {
    let home = home();
    for query in ["local__files__write_file", "write_file", "write a file"] {
        let found = search(&home, &[query, "--mode", "read-only"]);
        assert!(
            !ids(&found["hits"]).contains(&"local__files__write_file"),
            "{query}"
        );
        assert_eq!(
            ids(&search(&home, &[query])["hits"])[0],
            "local__files__write_file"
        );
    }
}

#[test]
fn visible_has_its_shape() {
    let home = home();
    let shown = visible(&home, &["--goal", "read a file"]);
    promised(
        &shown,
        "digest:string hidden:array schemaVersion:int tokens.catalogFull:int tokens.projection:int visible:array",
    );
    assert_eq!(shown["schemaVersion"], 1);
    let entries = shown["visible"].as_array().unwrap();
    for entry in entries {
        promised(entry, "id:string layer:string reasons:array tokens:int");
        let reasons = entry["reasons"].as_array().unwrap();
        assert!(!reasons.is_empty());
        reasons
            .iter()
            .for_each(|it| promised(it, "signal:string weight:int"));
    }
    shown["hidden"]
        .as_array()
        .unwrap()
        .iter()
        .for_each(|it| promised(it, "id:string reason:string"));
    let tokens: u64 = entries
        .iter()
        .map(|it| it["tokens"].as_u64().unwrap())
        .sum();
    assert_eq!(shown["tokens"]["projection"], tokens);
    assert_eq!(shown, visible(&home, &["--goal", "read a file"]));
}

#[test]
fn a_projection_is_what_an_api_takes() {
    let home = home();
    let tools = |format: &str| {
        let shown = home.run(&["visible", "--format", format]).exits(0).json();
        promised(
            &json!({"tools": [], "skills": shown["skills"], "deferred": shown["deferred"]}),
            "deferred:array skills:array tools:array",
        );
        shown["tools"].as_array().unwrap().clone()
    };
    for (format, name, schema) in [
        ("openai", "/function/name", "/function/parameters"),
        ("anthropic", "/name", "/input_schema"),
        ("mcp", "/name", "/inputSchema"),
    ] {
        let tools = tools(format);
        let names: Vec<_> = tools
            .iter()
            .map(|it| it.pointer(name).unwrap().as_str().unwrap())
            .collect();
        assert!(
            names.contains(&"files__read_file") && names.contains(&"tool_search"),
            "{names:?}"
        );
        assert!(
            tools
                .iter()
                .all(|it| it.pointer(schema).unwrap()["type"] == "object")
        );
    }
    home.run(&["visible", "--format", "morse"]).exits(2);
}

#[test]
fn a_small_budget_shows_less_and_none_shows_nothing() {
    let home = home();
    let mut before = u64::MAX;
    for budget in ["100000", "1000", "200", "30", "0"] {
        let shown = visible(&home, &["--goal", "read a file", "--budget", budget]);
        let tokens = shown["tokens"]["projection"].as_u64().unwrap();
        assert!(
            tokens <= budget.parse().unwrap() && tokens <= before,
            "{budget}: {tokens}"
        );
        before = tokens;
    }
    let nothing = visible(&home, &["--budget", "0"]);
    assert_eq!(nothing["visible"], json!([]));
    assert!(
        nothing["hidden"]
            .as_array()
            .unwrap()
            .iter()
            .any(|it| it["reason"] == "overBudget")
    );
    for bad in ["-1", "x", "99999999999"] {
        home.run(&["visible", "--budget", bad]).exits(2);
    }
}

#[test]
fn everything_hidden_says_why_and_what_would_help() {
    let home = configured(json!({
        "agents": {"a": {
            "capabilities": {"files": {}, "shell": {"tools": ["run_command"], "allow": ["ls"]}},
            "permissions": {"deny": ["local__files__grep"]},
        }},
        "discovery": {"exclude": ["local__files__glob"]},
    }));
    let home_skill = home.home().join(".agents/skills/fussy/SKILL.md");
    std::fs::create_dir_all(home_skill.parent().unwrap()).unwrap();
    std::fs::write(
        &home_skill,
        "---\nname: fussy\ndescription: About fuss.\n---\n",
    )
    .unwrap();
    let check = |arguments: &[&str], reason: &str, remedy: &str| {
        let run = home
            .run(&[&["explain", "--json"], arguments].concat())
            .exits(0)
            .json();
        assert_eq!(run["visible"], false, "{run}");
        assert_eq!(run["hidden"]["reason"], reason, "{arguments:?}");
        let told = run["hidden"]["remedy"].as_str().unwrap();
        assert!(told.contains(remedy), "{reason}: {told}");
        assert!(run["hidden"]["detail"].is_string());
        let text = home
            .run(&[&["explain"], arguments].concat())
            .exits(0)
            .stdout;
        assert!(
            text.contains("is hidden") && text.contains(&format!("to see it: {told}")),
            "{text}"
        );
        // The same reason as in the whole picture, for commands that take the same arguments.
        let whole = visible(&home, &arguments[1..]);
        let listed = whole["hidden"]
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it["id"] == arguments[0]);
        assert_eq!(listed.unwrap()["reason"], reason);
    };
    check(&["skill__fussy"], "notGranted", "`capabilities`");
    check(
        &["local__files__write_file", "--mode", "read-only"],
        "modeForbids",
        "mode",
    );
    check(&["local__files__grep"], "ruleForbids", "rule");
    check(&["local__files__glob"], "excluded", "`discovery.exclude`");
    check(
        &["local__files__list_dir", "--budget", "20"],
        "overBudget",
        "budget",
    );
    home.user_config(&json!({"discovery": {"limit": 3}}).to_string());
    check(
        &["local__files__list_dir"],
        "overLimit",
        "`discovery.limit`",
    );
    home.user_config(&json!({"discovery": {"weights": {"base": 0}}}).to_string());
    check(
        &["local__files__list_dir", "--goal", "qwertz"],
        "notRelevant",
        "`discovery.pin`",
    );
    home.user_config("{}");
    let shown = home
        .run(&["explain", "files__read_file", "--goal", "read a file"])
        .exits(0)
        .stdout;
    assert!(
        shown.contains("is visible") && shown.contains("110 points: goal +100, base +10"),
        "{shown}"
    );
}

#[test]
fn explain_marks_every_line() {
    let home = configured(json!({"mode": "read-only"}));
    let shown = home
        .run(&["visible", "--explain", "--goal", "read a file"])
        .exits(0);
    let line = |id: &str| {
        shown
            .stdout
            .lines()
            .find(|it| it.starts_with(id))
            .unwrap_or_else(|| panic!("{id}: {}", shown.stdout))
            .to_owned()
    };
    assert!(line("local__files__read_file").contains("goal +100, base +10"));
    assert!(line("local__ambit__tool_search").contains("injected +0"));
    assert!(line("local__files__write_file").contains("the mode forbids what it does"));
    assert!(
        shown.stderr.contains("tokens instead of"),
        "{}",
        shown.stderr
    );
}

#[test]
fn recorded_turns_are_explained_and_compared() {
    let home = home();
    let none = home
        .run(&[
            "explain",
            "local__files__read_file",
            "--session",
            "last",
            "--json",
        ])
        .exits(1)
        .json();
    assert_eq!(none["error"]["code"], "no_journal");
    home.write("a.txt", "one");
    let run = call(&home, "files__read_file", json!({"path": "a.txt"}), &[]);
    assert_eq!(ended(&run), "completed");
    let session = run.json()["session"].as_str().unwrap().to_owned();
    for name in ["last", &session] {
        for more in [&["--turn", "1"][..], &[]] {
            let arguments = ["explain", "files__read_file", "--session", name, "--json"];
            let shown = home.run(&[&arguments, more].concat()).exits(0).json();
            assert_eq!(
                (&shown["visible"], &shown["id"]),
                (&json!(true), &json!("local__files__read_file"))
            );
        }
        let same = home
            .run(&["diff", name, "1", "1", "--json"])
            .exits(0)
            .json();
        promised(
            &same,
            "added:array after.digest:string after.turn:int before.digest:string before.turn:int changed:array removed:array schemaVersion:int",
        );
        for part in ["added", "removed", "changed"] {
            assert_eq!(same[part], json!([]));
        }
    }
    for (arguments, exit, code) in [
        (&["diff", "last", "1", "2"][..], 1, "unknown_turn"),
        (&["diff", "last", "0", "1"], 1, "unknown_turn"),
        (&["diff", "nope", "1", "1"], 1, "unknown_session"),
        (
            &["explain", "files__read_file", "--session", "nope"],
            1,
            "unknown_session",
        ),
        (
            &[
                "explain",
                "files__read_file",
                "--session",
                "last",
                "--turn",
                "7",
            ],
            1,
            "unknown_turn",
        ),
        (
            &["explain", "nope", "--session", "last"],
            2,
            "unknown_capability",
        ),
        (
            &["explain", "local__files__raed_file"],
            2,
            "unknown_capability",
        ),
    ] {
        let error = home
            .run(&[arguments, &["--json"]].concat())
            .exits(exit)
            .json();
        assert_eq!(error["error"]["code"], code, "{arguments:?}");
    }
    home.run(&["explain", "files__read_file", "--turn", "1"])
        .exits(2);
}

#[test]
fn config_pins_excludes_and_weighs() {
    let home = configured(json!({"discovery": {
        "pin": ["local__files__glob", "local__files__edit_file"],
        "exclude": ["local__files__grep"],
        "weights": {"goal": 10_000, "base": 0},
    }}));
    home.write("a.txt", "one");
    let shown = visible(&home, &["--goal", "read_file", "--mode", "read-only"]);
    let entry = |id: &str| {
        shown["visible"]
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it["id"] == id)
            .cloned()
    };
    let glob = entry("local__files__glob").unwrap();
    assert_eq!(glob["reasons"][0], json!({"signal": "pinned", "weight": 0}));
    assert_eq!(
        entry("local__files__read_file").unwrap()["reasons"][0]["weight"],
        10_000
    );
    assert_eq!(
        entry("local__files__edit_file"),
        None,
        "a pin forces no mode"
    );
    assert_eq!(entry("local__files__grep"), None);
    assert!(!ids(&search(&home, &["grep"])["hits"]).contains(&"local__files__grep"));
    let run = call(&home, "files__grep", json!({"pattern": "one"}), &[]);
    assert_eq!(
        ended(&run),
        "denied not_visible",
        "excluded is excluded from calls, too"
    );
}

#[test]
fn nonsense_in_config_is_named() {
    for (discovery, code, says) in [
        (
            json!({"weights": {"goal": -1}}),
            "out_of_range",
            "at least 0",
        ),
        (
            json!({"weights": {"stays": 10_001}}),
            "out_of_range",
            "at most 10000",
        ),
        (
            json!({"weights": {"goal": 1e99}}),
            "out_of_range",
            "at most 10000",
        ),
        (
            json!({"weights": {"goal": 1.5}}),
            "wrong_type",
            "expected integer",
        ),
        (
            json!({"weights": {"goal": "much"}}),
            "wrong_type",
            "expected integer",
        ),
        (json!({"weights": {"gaol": 1}}), "unknown_key", "gaol"),
        (json!({"weights": []}), "wrong_type", "expected object"),
        (json!({"limit": 0}), "out_of_range", "at least 1"),
        (json!({"budget": -1}), "out_of_range", "at least 0"),
        (json!({"pin": ["read_file"]}), "invalid", "does not match"),
        (
            json!({"pin": "local__files__glob"}),
            "wrong_type",
            "expected array",
        ),
        (json!({"model": "nowhere"}), "model", "there is no folder"),
        (json!({"model": "."}), "model", "has no `tokenizer.json`"),
    ] {
        let home = configured(json!({"discovery": discovery}));
        let error = home.run(&["visible", "--json"]).exits(2).json();
        assert_eq!(error["error"]["code"], code, "{discovery}: {error}");
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{discovery}: {message}");
    }
}
