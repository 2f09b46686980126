//! `ambit mcp`, spoken to line by line.

use std::fs;

use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::client::{Client, named, stateless};
use crate::support::{configured, events, home};

fn read(client: &mut Client) -> String {
    client.call("files__read_file", json!({"path": "a.txt"}))
}

fn write(client: &mut Client, content: &str) -> String {
    client.call(
        "files__write_file",
        json!({"path": "b.txt", "content": content}),
    )
}

fn with_file(home: Home) -> Home {
    home.write("a.txt", "hello");
    home
}

const ASKS: &str = "isError approval_pending: ";

#[test]
fn a_client_lists_reads_and_is_told_why_not() {
    let home = with_file(home());
    let mut client = Client::connect(&home, &[]);
    let tools = client.tools();
    for name in ["files__read_file", "files__write_file", "tool_search"] {
        assert!(tools.iter().any(|it| it == name), "{tools:?}");
    }
    assert_eq!(read(&mut client), "ok hello");
    let refused = write(&mut client, "x");
    assert!(refused.starts_with(ASKS), "{refused}");
    assert!(refused.contains("`ambit approvals allow 1`"), "{refused}");
    assert!(!home.work().join("b.txt").exists());
    for (name, arguments, starts) in [
        ("files__read_file", json!({}), "isError input_invalid: "),
        (
            "files__read_file",
            json!({"path": "../x"}),
            "isError refused: ",
        ),
        ("files__nope", json!({}), "error -32602 unknown tool"),
        ("call_tool", json!({"name": "x"}), "error -32602 "),
    ] {
        let answer = client.call(name, arguments);
        assert!(answer.starts_with(starts), "{name}: {answer}");
    }
    assert_eq!(client.end(), 0);
}

#[test]
fn an_answer_from_elsewhere_counts_while_serving() {
    for scope in ["once", "session", "always"] {
        let home = home();
        let mut client = Client::connect(&home, &[]);
        assert!(write(&mut client, "x").starts_with(ASKS));
        home.run(&["approvals", "allow", "1", "--for", scope])
            .exits(0);
        assert!(write(&mut client, "x").starts_with("ok "), "{scope}");
        let again = write(&mut client, "x");
        assert_eq!(again.starts_with(ASKS), scope == "once", "{scope}: {again}");
    }
}

#[test]
fn styles_follow_the_client_unless_told() {
    for (name, arguments, has_search, has_files) in [
        ("claude-code", &[][..], false, true),
        ("codex-mcp-client", &[], true, false),
        ("raw", &[], true, true),
        ("claude-code", &["--style", "dispatch"], true, false),
        ("codex-mcp-client", &["--style", "full"], false, true),
    ] {
        let home = home();
        let mut client = Client::start(&home, arguments);
        client.initialize(named(name), json!({}));
        let tools = client.tools();
        let has = |name: &str| tools.iter().any(|it| it == name);
        assert_eq!(has("tool_search"), has_search, "{name} {tools:?}");
        assert_eq!(has("files__read_file"), has_files, "{name} {tools:?}");
    }
}

#[test]
fn a_client_that_asks_itself_is_not_asked_twice() {
    let asks = |it: bool| json!({"clients": {"claude-code": {"asks": it}, "mine": {"style": "full", "asks": true}}});
    let rule = json!({"permissions": {"ask": ["writes"]}});
    for (name, config, arguments, is_asked) in [
        ("claude-code", json!({}), &[][..], false),
        ("claude-code", json!({}), &["--style", "dynamic"], true),
        ("claude-code", asks(false), &[], true),
        ("claude-code", rule, &[], true),
        ("mine", asks(true), &[], false),
        ("mine", json!({}), &["--style", "full"], true),
    ] {
        let home = configured(&config);
        let mut client = Client::start(&home, arguments);
        client.initialize(named(name), json!({}));
        let answer = write(&mut client, "x");
        assert_eq!(
            answer.starts_with(ASKS),
            is_asked,
            "{name} {config}: {answer}"
        );
        assert_eq!(client.end(), 0);
        home.run(&["replay", "last"]).exits(0);
    }
}

#[test]
fn a_search_changes_a_dynamic_list_and_the_client_is_told() {
    let home = configured(json!({
        "discovery": {"limit": 4},
        "agents": {"a": {"capabilities": {"files": {}}}},
    }));
    let mut client = Client::connect(&home, &["--style", "dynamic"]);
    let before = client.tools();
    assert_eq!(before.len(), 4, "{before:?}");
    assert!(!before.contains(&"files__write_file".to_owned()));
    let answer = client.call(
        "tool_search",
        json!({"query": "write a whole text file", "limit": 1}),
    );
    assert!(answer.starts_with("ok - files__write_file"), "{answer}");
    assert_eq!(client.notices, ["notifications/tools/list_changed"]);
    let after = client.tools();
    assert!(after.contains(&"files__write_file".to_owned()), "{after:?}");
    assert!(write(&mut client, "x").starts_with(ASKS));
    assert_eq!(client.notices.len(), 1, "a call changes nothing");
}

#[test]
fn dispatch_is_a_fixed_list_and_the_gates_are_about_what_it_names() {
    let home = with_file(configured(json!({
        "permissions": {"deny": ["local__files__edit_file"]},
        "agents": {"a": {"capabilities": {"files": {}}}},
    })));
    let mut client = Client::connect(&home, &["--style", "dispatch"]);
    let fixed = ["call_tool", "describe_tool", "read_result", "tool_search"];
    assert_eq!(client.tools(), fixed);
    let found = client.call("tool_search", json!({"query": "edit or write a file"}));
    assert!(found.contains("files__write_file"), "{found}");
    assert!(!found.contains("files__edit_file"), "{found}");
    assert_eq!(client.tools(), fixed);
    assert!(client.notices.is_empty());

    let described = client.call("describe_tool", json!({"name": "files__read_file"}));
    assert!(described.contains("inputSchema"), "{described}");
    let through = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    let path = json!({"path": "a.txt"});
    for (name, arguments, starts) in [
        ("files__read_file", path.clone(), "ok hello"),
        ("local__files__read_file", path, "ok hello"),
        ("files__read_file", json!({}), "isError input_invalid: "),
        (
            "files__write_file",
            json!({"path": "b.txt", "content": ""}),
            ASKS,
        ),
        ("files__edit_file", json!({}), "isError not_visible: "),
        ("files__nope", json!({}), "isError not_visible: "),
        ("tool_search", json!({"query": "x"}), "isError refused: "),
        ("call_tool", json!({"name": "x"}), "isError refused: "),
    ] {
        let answer = client.call("call_tool", through(name, arguments));
        assert!(answer.starts_with(starts), "{name}: {answer}");
    }
    // What is forbidden and what does not exist differ in nothing but the name asked for.
    let mut alike = |tool: &str| {
        ["files__edit_file", "files__nope"].map(|name| {
            let answer = client.call(tool, json!({"name": name}));
            answer.replace(name, "NAME")
        })
    };
    for tool in ["describe_tool", "call_tool"] {
        let [forbidden, missing] = alike(tool);
        assert_eq!(forbidden, missing);
    }
    client.end();
    let pending = home.run(&["approvals", "--json"]).exits(0).json();
    let pending = pending["pending"].as_array().unwrap();
    assert_eq!(pending.len(), 1, "{pending:?}");
    assert_eq!(pending[0]["id"], "local__files__write_file");
    let intents = events(&home, &["--type", "tool.intent"]);
    let through = |it: &&Value| it["via"] == "call_tool";
    assert_eq!(
        intents.iter().filter(through).count(),
        8,
        "those that name something to call: {intents:?}"
    );
    home.run(&["replay", "last"]).exits(0);
}

#[test]
fn read_only_has_no_tool_that_writes() {
    for style in ["full", "dynamic"] {
        let home = with_file(home());
        let mut client = Client::connect(&home, &["--mode", "read-only", "--style", style]);
        let tools = client.tools();
        assert!(
            !tools.contains(&"files__write_file".to_owned()),
            "{tools:?}"
        );
        assert_eq!(read(&mut client), "ok hello");
        assert!(write(&mut client, "x").starts_with("error -32602 "));
    }
}

#[test]
fn a_client_that_shows_forms_is_asked() {
    let accept = |answer: &str| json!({"action": "accept", "content": {"answer": answer}});
    for (answer, first, asked_again) in [
        (accept("once"), "ok ", true),
        (accept("session"), "ok ", false),
        (accept("always"), "ok ", false),
        (accept("deny"), "isError approval_denied: ", true),
        (accept("certainly"), "isError approval_denied: ", true),
        (
            json!({"action": "accept"}),
            "isError approval_denied: ",
            true,
        ),
        (
            json!({"action": "decline"}),
            "isError approval_denied: ",
            true,
        ),
        (
            json!({"action": "cancel"}),
            "isError approval_denied: ",
            true,
        ),
    ] {
        let home = home();
        let mut client = Client::start(&home, &[]);
        client.initialize(named("raw"), json!({"elicitation": {}}));
        client.answers.extend([answer.clone(), answer.clone()]);
        let ended = write(&mut client, "x");
        assert!(ended.starts_with(first), "{answer}: {ended}");
        assert_eq!(
            home.work().join("b.txt").exists(),
            first == "ok ",
            "{answer}"
        );
        let question = &client.asked[0];
        assert_eq!(question["method"], "elicitation/create");
        let message = question["params"]["message"].as_str().unwrap();
        for part in ["local__files__write_file", "\"b.txt\"", "asked because"] {
            assert!(message.contains(part), "{message}");
        }
        write(&mut client, "y");
        assert_eq!(client.asked.len() == 2, asked_again, "{answer}");
    }
}

#[test]
fn always_is_kept_for_the_next_client() {
    let home = home();
    let mut client = Client::start(&home, &[]);
    client.initialize(named("raw"), json!({"elicitation": {"form": {}}}));
    client
        .answers
        .push_back(json!({"action": "accept", "content": {"answer": "always"}}));
    assert!(write(&mut client, "x").starts_with("ok "));
    client.end();
    let mut client = Client::connect(&home, &[]);
    assert!(write(&mut client, "y").starts_with("ok "));
}

#[test]
fn a_client_that_cannot_ask_after_all_leaves_the_question() {
    let home = home();
    let mut client = Client::start(&home, &[]);
    client.initialize(named("raw"), json!({"elicitation": {}}));
    // No answer is prepared: the client says that it does not know the method.
    assert!(write(&mut client, "x").starts_with(ASKS));
}

#[test]
fn a_call_that_is_called_off_ends_as_cancelled() {
    let home = home();
    let mut client = Client::start(&home, &[]);
    client.initialize(named("raw"), json!({"elicitation": {}}));
    let call = client.send(
        "tools/call",
        json!({"name": "files__write_file", "arguments": {"path": "b.txt", "content": ""}}),
    );
    // The question is the sign that the call waits.
    let question = client.next_message();
    assert_eq!(question["method"], "elicitation/create");
    client.notify("notifications/cancelled", json!({"requestId": call}));
    assert_eq!(client.end(), 0);
    let ended = events(&home, &["--type", "tool.observation"]);
    assert_eq!(ended.len(), 1, "{ended:?}");
    assert_eq!(ended[0]["code"], "cancelled", "{ended:?}");
    assert!(!home.work().join("b.txt").exists());
}

#[test]
fn a_question_the_client_leaves_open_is_left_elsewhere() {
    let home = home();
    let mut client = Client::start(&home, &[]);
    client.initialize(named("raw"), json!({"elicitation": {}}));
    client.send(
        "tools/call",
        json!({"name": "files__write_file", "arguments": {"path": "b.txt", "content": ""}}),
    );
    assert_eq!(client.next_message()["method"], "elicitation/create");
    assert_eq!(client.end(), 0);
    let waiting = home.run(&["approvals", "--json"]).exits(0).json();
    assert_eq!(waiting["pending"][0]["id"], "local__files__write_file");
}

#[test]
fn skills_are_prompts() {
    let home = configured(json!({"agents": {"a": {"capabilities": {"skills": {}}}}}));
    let folder = home.home().join(".agents/skills/code-review");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("SKILL.md"),
        "---\nname: code-review\ndescription: Reviews a change.\n---\nRead the diff first.",
    )
    .unwrap();
    let mut client = Client::start(&home, &[]);
    let hello = client.initialize(named("raw"), json!({}));
    let told = hello["result"]["instructions"].as_str().unwrap();
    assert!(told.contains("- code-review: Reviews a change."), "{told}");
    let listed = client.request("prompts/list", json!({}));
    assert_eq!(listed["result"]["prompts"][0]["name"], "code-review");
    let loaded = client.request("prompts/get", json!({"name": "code-review"}));
    let text = loaded["result"]["messages"][0]["content"]["text"].as_str();
    assert!(text.unwrap().contains("Read the diff first."), "{loaded}");
    let missing = client.request("prompts/get", json!({"name": "nope"}));
    assert_eq!(missing["error"]["code"], -32602);
    assert!(
        client
            .call("load_skill", json!({"name": "code-review"}))
            .contains("Read the diff first.")
    );
    client.end();
    assert_eq!(events(&home, &["--type", "capability.loaded"]).len(), 2);
}

#[test]
fn a_stateless_client_needs_no_hello() {
    let home = with_file(home());
    let mut client = Client::start(&home, &[]);
    let discovered = client.request("server/discover", stateless("raw", json!({})));
    assert!(
        discovered["result"]["capabilities"]["tools"].is_object(),
        "{discovered}"
    );
    let listed = client.request("tools/list", stateless("raw", json!({})));
    let result = &listed["result"];
    let names: Vec<&str> = result["tools"]
        .as_array()
        .unwrap_or_else(|| panic!("{listed}"))
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert_eq!(
        names,
        ["call_tool", "describe_tool", "read_result", "tool_search"]
    );
    assert_eq!(result["cacheScope"], "private");
    assert!(result["ttlMs"].is_u64(), "{listed}");
    let call = json!({"name": "call_tool", "arguments": {"name": "files__read_file", "arguments": {"path": "a.txt"}}});
    let read = client.request("tools/call", stateless("raw", call));
    assert_eq!(read["result"]["content"][0]["text"], "hello", "{read}");
    assert_eq!(client.end(), 0);
}

#[test]
fn the_end_of_input_is_the_end() {
    assert_eq!(Client::start(&home(), &[]).end(), 0);
    assert_eq!(Client::connect(&home(), &[]).end(), 0);
}

#[test]
fn being_told_to_stop_is_an_end_like_any_other() {
    let home = home();
    let mut client = Client::connect(&home, &[]);
    assert!(!client.tools().is_empty());
    assert_eq!(client.stop(), 0);
    home.run(&["log", "verify"]).exits(0);
}

#[test]
fn what_is_wrong_is_said_before_serving_and_not_on_standard_output() {
    let home = configured(json!({"agents": {"a": {"capabilities": {"nope": {}}}}}));
    let run = home.run(&["mcp"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.contains("nope"), "{run:?}");
}
