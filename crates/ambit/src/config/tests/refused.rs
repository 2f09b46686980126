//! What is wrong with a file, and where.

use std::fs;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::Value;

use super::*;

#[track_caller]
fn refused(text: impl AsRef<[u8]>, expected: Expect) {
    let problems = World::new().project(text).load().unwrap_err();
    expected.assert_eq(&lines(&problems));
}

#[test]
fn unknown_words_are_refused_with_the_one_meant() {
    refused(
        r#"{"agnets": {}}"#,
        expect![[r#"
        1:2 unknown_key: unknown key `agnets` (did you mean `agents`?)
    "#]],
    );
    refused(
        r#"{"zzz": {}, "limits": {"resultByte": 1}}"#,
        expect![[r#"
            1:2 unknown_key: unknown key `zzz` (known here: `$schema`, `agents`, `clients`, `defaultModel`, `discovery`, `hooks`, `limits`, `mcpServers`, `mode`, `models`, `permissions`, `serve`, `unknownCapabilities`)
            1:24 unknown_key: unknown key `resultByte` (did you mean `resultBytes`?)
        "#]],
    );
    refused(
        r#"{"clients": {"x": {"style": "ful", "ask": true}, "y": {"asks": "yes"}}}"#,
        expect![[r#"
            1:29 not_an_option: `ful` is not one of `full`, `dynamic`, `dispatch` (did you mean `full`?)
            1:36 unknown_key: unknown key `ask` (did you mean `asks`?)
            1:64 wrong_type: expected boolean, found string
        "#]],
    );
    refused(
        r#"{"agents": {"a": {"capabilites": {}}}}"#,
        expect![[r#"
            1:19 unknown_key: unknown key `capabilites` (did you mean `capabilities`?)
        "#]],
    );
    refused(
        r#"{"serve": {"listen": "here", "hosts": ["a b"], "origins": ["app.example"], "maxCalls": 0}}"#,
        expect![[r#"
            1:22 serve_invalid: `here` is no address to listen on (such as `127.0.0.1:7777`)
            1:40 serve_invalid: `a b` is no name of a host (such as `ambit.example` or `ambit.example:8443`)
            1:60 serve_invalid: `app.example` is no origin (such as `https://app.example`)
            1:88 out_of_range: must be at least 1
        "#]],
    );
    refused(
        r#"{"mode": "readonly"}"#,
        expect![[r#"
        1:10 not_an_option: `readonly` is not one of `read-only`, `ask`, `auto` (did you mean `read-only`?)
    "#]],
    );
    refused(
        r#"{"mode": 1, "unknownCapabilities": "ignore"}"#,
        expect![[r#"
            1:10 not_an_option: this is not one of `read-only`, `ask`, `auto`
            1:36 not_an_option: `ignore` is not one of `error`, `skip`
        "#]],
    );
    refused(
        r#"{"permissions": {"allow": ["write", "files", "mcp__x"], "deny": ["fs:"]}}"#,
        expect![[r#"
            1:28 rule_invalid: `write` is not an id, a permission or an effect (did you mean `writes`?)
            1:37 rule_invalid: `files` is not an id, a permission or an effect (such as `mcp__github__search_issues`, `fs:write` or `writes`)
            1:46 rule_invalid: `mcp__x` has no origin: an id is `source__owner__name`, or `skill__name` (such as `mcp__github__search_issues`, `fs:write` or `writes`)
            1:66 rule_invalid: `fs:` is not an id, a permission or an effect (such as `mcp__github__search_issues`, `fs:write` or `writes`)
        "#]],
    );
}

#[test]
fn wrong_shapes_are_refused_with_what_is_expected() {
    refused(
        "[]",
        expect![[r#"
        1:1 wrong_type: expected object, found array
    "#]],
    );
    refused(
        r#"{"agents": [], "hooks": {}, "limits": {"callSeconds": "1"}}"#,
        expect![[r#"
            1:12 wrong_type: expected object, found array
            1:25 wrong_type: expected array, found object
            1:55 wrong_type: expected integer, found string
        "#]],
    );
    refused(
        r#"{"agents": {"a": {"capabilities": "files"}, "b": {"capabilities": {"files": true}}}}"#,
        expect![[r#"
            1:35 wrong_type: expected object or array, found string
            1:77 wrong_type: expected object, found boolean
        "#]],
    );
    refused(
        r#"{"agents": {"a": {"capabilities": ["files", "files", 7]}}}"#,
        expect![[r#"
            1:45 capability_repeated: capability `files` is listed twice
            1:54 wrong_type: expected string, found number
        "#]],
    );
    refused(
        r#"{"mode": null, "agents": {"a": {}}}"#,
        expect![[r#"
            1:10 not_an_option: this is not one of `read-only`, `ask`, `auto`
            1:27 missing_key: `capabilities` is missing
        "#]],
    );
    refused(
        r#"{"limits": {"callSeconds": 0, "resultBytes": -1, "inputBytes": 1.5}}"#,
        expect![[r#"
            1:28 out_of_range: must be at least 1
            1:46 out_of_range: must be at least 1
            1:64 wrong_type: expected integer, found number
        "#]],
    );
    refused(
        r#"{"hooks": [{"name": "h", "when": "during", "command": []}, {"name": "h", "when": "after", "command": ["x"], "only": ["nope"]}]}"#,
        expect![[r#"
            1:34 not_an_option: `during` is not one of `before`, `after`
            1:55 out_of_range: must not be empty
            1:69 hook_repeated: there are two hooks `h`
            1:118 rule_invalid: `nope` is not an id, a permission or an effect (such as `mcp__github__search_issues`, `fs:write` or `writes`)
        "#]],
    );
}

#[test]
fn counts_are_whole_numbers_of_a_size() {
    for number in ["1.0", "1e3", "1e30", "99999999999999999999"] {
        let text = format!(r#"{{"limits": {{"resultBytes": {number}}}}}"#);
        let problems = World::new().project(text).load().unwrap_err();
        assert_eq!(
            (problems.len(), problems[0].code),
            (1, "invalid"),
            "{number}"
        );
    }
}

#[test]
fn settings_of_servers_are_checked() {
    let server =
        |settings: &str| format!(r#"{{"mcpServers": {{"a": {{"command": "x", {settings}}}}}}}"#);
    refused(
        server(r#""names": "short", "newTools": "alow", "concurrency": 0, "perSession": "yes""#),
        expect![[r#"
            1:48 not_an_option: `short` is not one of `prefixed`, `bare`
            1:69 not_an_option: `alow` is not one of `allow`, `ask` (did you mean `allow`?)
            1:92 out_of_range: must be at least 1
            1:109 wrong_type: expected boolean, found string
        "#]],
    );
    refused(
        server(r#""effects": {"get": ["read"], "*": [], "x": "writes"}"#),
        expect![[r#"
            1:59 not_an_option: `read` is not one of `reads`, `writes`, `destructive`, `open-world`, `egress` (did you mean `reads`?)
            1:73 out_of_range: must not be empty
            1:82 wrong_type: expected array, found string
        "#]],
    );
    for idle in ["true", "0", "\"10m\"", "604801"] {
        let text = server(&format!(r#""idleSeconds": {idle}"#));
        assert!(World::new().project(text).load().is_err(), "{idle}");
    }
    refused(
        server(r#""idleSeconds": "10m", "timeoutSeconds": 0, "connectSeconds": 3601"#),
        expect![[r#"
            1:54 wrong_type: expected integer or boolean, found string
            1:79 out_of_range: must be at least 1
            1:100 out_of_range: must be at most 3600
        "#]],
    );
    refused(
        server(r#""idleSeconds": true"#),
        expect![[r#"
        1:54 not_an_option: this is not one of `false`
    "#]],
    );
}

#[test]
fn servers_are_checked_and_pasted_keys_are_not_fatal() {
    refused(
        r#"{"mcpServers": {"a": {}, "b": {"command": "x", "url": "y"}, "c d": {"url": "y"}}}"#,
        expect![[r#"
            1:17 server_incomplete: server `a` has neither `command` nor `url` (give it a program to start, or an address)
            1:26 server_ambiguous: server `b` has both `command` and `url` (keep the program to start, or the address)
            1:61 server_name_invalid: `c d` cannot be a name here (use letters, digits, `-` and single `_`, beginning with a letter or digit, at most 64)
        "#]],
    );
    refused(
        r#"{"mcpServers": {"a": {"command": ["x"], "args": "y", "env": {"A": 1}}}}"#,
        expect![[r#"
            1:34 wrong_type: expected string, found array
            1:49 wrong_type: expected array, found string
            1:67 wrong_type: expected string, found number
        "#]],
    );
    refused(
        r#"{"mcpServers": {"list": {"url": "y"}, "1ist": {"url": "y"}}}"#,
        expect![[r#"
            1:17 names_look_alike: `list` looks like `1ist` (give one of them a name nobody can mistake for the other)
        "#]],
    );
    let world = World::new().project(
        r#"{"mcpServers": {"a": {"type": "stdio", "command": "x", "arg": [], "autoApprove": []}}}"#,
    );
    let loaded = world.load().unwrap();
    expect![[r#"
        1:56 unknown_server_key: `arg` of server `a` is not known and does nothing (did you mean `args`?)
        1:67 unknown_server_key: `autoApprove` of server `a` is not known and does nothing
    "#]].assert_eq(&lines(&loaded.warnings));
    let server = &loaded.config.mcp_servers["a"];
    assert_eq!(
        server.unknown.keys().collect::<Vec<_>>(),
        ["arg", "autoApprove"]
    );
}

#[test]
fn what_cannot_be_filled_in_is_refused() {
    refused(
        r#"{"mcpServers": {"a": {"command": "${NOPE}", "args": ["${secret:nope}", "${x"]}}}"#,
        expect![[r#"
            1:34 variable_unset: the variable `NOPE` is not set (set `NOPE`, or write `$${` for a plain `${`)
            1:54 secret_missing: there is no secret `nope` (store it with `ambit secrets set nope`)
            1:72 placeholder_malformed: `${` begins a placeholder, and this is not one (write `${VAR}`, `${secret:NAME}`, or `$${` for a plain `${`)
        "#]],
    );
    refused(
        r#"{"mode": "${MODE}"}"#,
        expect![[r#"
        1:10 not_an_option: `${MODE}` is not one of `read-only`, `ask`, `auto`
        1:10 variable_unset: the variable `MODE` is not set (set `MODE`, or write `$${` for a plain `${`)
    "#]],
    );
}

#[test]
fn text_that_is_no_config_is_refused() {
    refused(
        b"{\n \"a\": \"\xff\"}",
        expect![[r#"
        2:8 not_utf8: this byte is not UTF-8 (save the file as UTF-8)
    "#]],
    );
    refused(
        b"\xff\xfe{\0}\0",
        expect![[r#"
        1:1 not_utf8: this byte is not UTF-8 (save the file as UTF-8)
    "#]],
    );
    refused(
        "\u{feff}{}",
        expect![[r#"
        1:1 byte_order_mark: the file begins with a byte order mark (save it as UTF-8 without one)
    "#]],
    );
    refused(
        "{\"mode\": \"ask\",\n \"mode\": \"auto\"}",
        expect![[r#"
        2:2 duplicate_key: `mode` stands here twice (it already stands in line 1; keep one of them)
    "#]],
    );
    refused(
        "{\"mode\": ask}",
        expect![[r#"
            1:10 syntax: unexpected token (keys and texts stand in double quotes)
        "#]],
    );
    refused(
        "{\"mode\": \"ask\"",
        expect![[r#"
        1:1 syntax: unterminated object (a `}` is missing)
    "#]],
    );
    refused(
        "",
        expect![[r#"
        1:1 syntax: the file says nothing (the least it can say is `{}`)
    "#]],
    );
    let large = World::new().project(vec![b' '; (jsonc::MAX_BYTES + 1) as usize]);
    assert_eq!(large.load().unwrap_err()[0].code, "file_too_large");
    let directory = World::new();
    fs::create_dir(directory.root().join("project/ambit.json")).unwrap();
    assert_eq!(directory.load().unwrap_err()[0].code, "file_unreadable");
}

#[test]
fn a_file_full_of_problems_is_refused_with_some() {
    let keys: String = (0..20_000).map(|n| format!("\"k{n}\": 1,")).collect();
    let same = "\"k\": 1,".repeat(20_000);
    let words = "\"nope\", \"${x\",".repeat(20_000);
    for text in [
        format!("{{{keys}}}"),
        format!("{{{same}}}"),
        format!("{{\"permissions\": {{\"allow\": [{words}]}}}}"),
        format!("{{\"agents\": {{\"a\": {{\"capabilities\": [{words}]}}}}}}"),
    ] {
        let problems = World::new().project(text).load().unwrap_err();
        assert!((1..=400).contains(&problems.len()), "{}", problems.len());
    }
}

#[test]
fn problems_show_the_place() {
    let world = World::new()
        .user("{\n  \"mode\": \"yolo\",\n}\n")
        .project("{\n  // commented\n  \"agents\": {\n    \"ö\": { \"capabilities\": {}, \"mood\": \"ask\" },\n  },\n}\n");
    let problems = world.load().unwrap_err();
    expect![[r#"
        not_an_option

          x `yolo` is not one of `read-only`, `ask`, `auto`
           ,-[~/.config/ambit/ambit.json:2:11]
         1 | {
         2 |   "mode": "yolo",
           :           ^^^^^^
         3 | }
           `----

        agent_name_invalid

          x `ö` cannot be a name here
           ,-[~/project/ambit.json:4:5]
         3 |   "agents": {
         4 |     "ö": { "capabilities": {}, "mood": "ask" },
           :     ^^^
         5 |   },
           `----
          help: use letters, digits, `-` and single `_`, beginning with a letter or digit, at most 64

        unknown_key

          x unknown key `mood`
           ,-[~/project/ambit.json:4:32]
         3 |   "agents": {
         4 |     "ö": { "capabilities": {}, "mood": "ask" },
           :                                ^^^^^^
         5 |   },
           `----
          help: did you mean `mode`?
    "#]].assert_eq(&world.shown(&problems));
    expect![[r#"{"at":{"column":11,"file":"~/.config/ambit/ambit.json","line":2},"code":"not_an_option","hints":[],"message":"`yolo` is not one of `read-only`, `ask`, `auto`"}"#]].assert_eq(
        &problems[0]
            .to_json()
            .to_string()
            .replace(&*world.root().to_string_lossy(), "~"),
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn loading_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = World::new().project(bytes).load();
    }

    #[test]
    fn what_loads_as_json_is_a_config_or_has_places(value in some_json()) {
        let world = World::new().project(value.to_string());
        if let Err(problems) = world.load() {
            prop_assert!(!problems.is_empty());
            for problem in problems {
                prop_assert!(problem.at.is_some(), "{problem:?}");
                problem.render(GraphicalTheme::none());
            }
        }
    }
}

/// Values near a config: its own words in the wrong places.
fn some_json() -> impl Strategy<Value = Value> {
    let word = "mcpServers|agents|mode|permissions|allow|hooks|limits|capabilities|files|command|url|ask|auto|writes|x__y|\\$\\{A|tools|name|only";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(word, inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

#[test]
fn a_pasted_token_is_not_shown_with_its_neighbour() {
    let world = World::new().project(
        "{\"mcpServers\": {\"a\": {\n\"env\": {\"T\": \"ghp_tökén\"},\n\"args\": 1, \"command\": \"x\"}}}",
    );
    expect![[r#"
        wrong_type

          x expected array, found number
           ,-[~/project/ambit.json:3:9]
         2 | "env": {"T": "***********"},
         3 | "args": 1, "command": "x"}}}
           :         ^
           `----
    "#]]
    .assert_eq(&world.shown(&world.load().unwrap_err()));
}
