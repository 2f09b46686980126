//! What an upstream offers, used by a client of `ambit mcp`: resources, prompts, completions,
//! questions from one era to the other, and skills, Ambit's own among them.

use std::path::PathBuf;

use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::client::{Client, named};
use crate::support::{configured, events, home};

/// The fixture of the conformance suite, which does everything.
fn fixture() -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.push("examples/conformance_server");
    assert!(
        path.exists(),
        "`cargo build -p ambit-testkit --examples` builds {path:?}"
    );
    path
}

/// A home with that server, started in this way.
fn with_server(arguments: &[&str]) -> Home {
    let arguments = [&["--stdio"], arguments].concat();
    let server = json!({"command": fixture(), "args": arguments, "names": "bare"});
    configured(json!({
        "mcpServers": {"upstream": server},
        "permissions": {"allow": ["mcp:upstream"]},
    }))
}

fn connect(home: &Home, capabilities: Value) -> Client {
    let mut client = Client::start(home, &["--style", "full"]);
    client.initialize(named("raw"), capabilities);
    client
}

/// A client of the stateless era that can show forms.
fn stateless(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": named("raw"),
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    params
}

#[track_caller]
fn read(client: &mut Client, uri: &str) -> Value {
    let answer = client.request("resources/read", json!({"uri": uri}));
    answer["result"]["contents"][0].clone()
}

#[track_caller]
fn error(client: &mut Client, method: &str, uri: &str) -> (i64, String) {
    let answer = client.request(method, json!({"uri": uri}));
    let error = &answer["error"];
    let code = error["code"].as_i64().unwrap_or_else(|| panic!("{answer}"));
    (
        code,
        error["message"].as_str().unwrap_or_default().to_owned(),
    )
}

const ASKS_NAME: &str = "test_input_required_result_elicitation";

#[test]
fn a_stateless_server_asks_a_client_with_a_session() {
    let home = with_server(&["--stateless"]);
    let mut client = connect(&home, json!({"elicitation": {}}));
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    client.answers.push_back(answer);
    assert_eq!(client.call(ASKS_NAME, json!({})), "ok Hello, Ada!");
    assert_eq!(client.asked[0]["method"], "elicitation/create");
    assert_eq!(client.end(), 0);
}

#[test]
fn a_server_with_sessions_asks_a_stateless_client() {
    let home = with_server(&["--sessions"]);
    let mut client = Client::start(&home, &["--style", "full"]);
    let call = json!({"name": ASKS_NAME, "arguments": {}});
    let asked = client.request("tools/call", stateless(call.clone()));
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let questions = asked["result"]["inputRequests"].as_object().unwrap();
    let (key, question) = questions.iter().next().unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let mut again = stateless(call);
    again["requestState"] = asked["result"]["requestState"].clone();
    again["inputResponses"] = json!({key: {"action": "accept", "content": {"name": "Ada"}}});
    let ended = client.request("tools/call", again);
    assert_eq!(
        ended["result"]["content"][0]["text"], "Hello, Ada!",
        "{ended}"
    );
    assert_eq!(client.end(), 0);
}

#[test]
fn resources_prompts_and_completions_reach_the_client() {
    let home = with_server(&[]);
    let mut client = connect(&home, json!({}));
    let listed = client.request("resources/list", json!({}));
    let uris: Vec<&str> = listed["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["uri"].as_str())
        .collect();
    for uri in ["test://static-text", "skill://greeting/SKILL.md"] {
        assert!(uris.contains(&uri), "{uris:?}");
    }
    let listed = read(&mut client, "test://static-text");
    assert_eq!(listed["mimeType"], "text/plain");
    let of_template = read(&mut client, "test://template/7/data");
    assert!(of_template["text"].as_str().unwrap().contains('7'));
    let prompt =
        json!({"name": "test_prompt_with_arguments", "arguments": {"arg1": "a", "arg2": "b"}});
    let got = client.request("prompts/get", prompt);
    let said = got["result"]["messages"][0]["content"]["text"].as_str();
    assert_eq!(said, Some("Prompt with arguments: arg1='a', arg2='b'"));
    let completed = client.request(
        "completion/complete",
        json!({
            "ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"},
            "argument": {"name": "arg1", "value": "te"},
        }),
    );
    let values = completed["result"]["completion"]["values"].as_array();
    assert!(values.is_some_and(|it| !it.is_empty()), "{completed}");
    assert_eq!(client.end(), 0);
}

#[test]
fn what_a_model_reads_is_on_record_as_the_resource_it_is() {
    let home = with_server(&[]);
    let mut client = connect(&home, json!({}));
    let read = client.call("read_resource", json!({"uri": "test://static-text"}));
    assert!(read.starts_with("ok"), "{read}");
    assert_eq!(client.end(), 0);
    let started = events(&home, &["--type", "tool.started"]);
    let id = started[0]["id"].as_str().unwrap();
    assert!(id.starts_with("mcp__upstream__resource:"), "{id}");
}

#[test]
fn skills_of_a_server_are_those_it_lists() {
    let uri = "skill://greeting/SKILL.md";
    let home = with_server(&[]);
    let mut client = connect(&home, json!({}));
    let listed = client.request("skills/list", json!({}));
    let skills = listed["result"]["skills"].as_array().unwrap();
    let names: Vec<_> = skills.iter().map(|it| &it["frontmatter"]["name"]).collect();
    assert_eq!(names, ["greeting", "parting"]);
    let got = client.request("skills/get", json!({"uri": uri}));
    assert_eq!(got["result"]["skill"], skills[0]);
    assert!(read(&mut client, uri)["text"].is_string());
    assert_eq!(client.end(), 0);

    let home = with_server(&["--tampered"]);
    let mut client = connect(&home, json!({}));
    for uri in [uri, "skill://greeting/references/forms.md"] {
        let (_, message) = error(&mut client, "resources/read", uri);
        assert!(
            message.contains("does not have the digest its skill lists"),
            "{message}"
        );
    }
    let model = client.call("read_resource", json!({"uri": uri}));
    assert!(model.starts_with("isError provider_failed"), "{model}");
    assert_eq!(client.end(), 0);
}

const MINE: &str = "---\nname: mine\ndescription: Mine\nmetadata:\n  size: 2\n---\n\nMy words.\n";

/// A user's skill with files, one of them larger than any result may be for a model.
fn with_skill(home: Home) -> Home {
    let folder = home.home().join(".claude/skills/mine");
    let write = |path: &str, content: &[u8]| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    };
    write("SKILL.md", MINE.as_bytes());
    write("references/a b.md", b"# A");
    write("references/large.txt", "grün ".repeat(60_000).as_bytes());
    write("data.bin", &[0, 159, 146, 150]);
    home
}

#[test]
fn own_skills_are_resources() {
    let home = with_skill(home());
    let mut client = connect(&home, json!({}));
    let uri = "skill://mine/SKILL.md";
    let listed = client.request("resources/list", json!({}));
    let resource =
        json!({"uri": uri, "name": "mine", "description": "Mine", "mimeType": "text/markdown"});
    assert_eq!(listed["result"]["resources"], json!([resource]));

    let listed = client.request("skills/list", json!({}));
    let entry = &listed["result"]["skills"][0];
    let frontmatter = json!({"name": "mine", "description": "Mine", "metadata": {"size": 2}});
    assert_eq!(entry["frontmatter"], frontmatter);
    let files: Vec<_> = entry["resources"].as_array().unwrap().iter().collect();
    let uris: Vec<_> = files.iter().map(|it| it["uri"].as_str().unwrap()).collect();
    let large = "skill://mine/references/large.txt";
    assert_eq!(
        uris,
        [
            uri,
            "skill://mine/data.bin",
            "skill://mine/references/a%20b.md",
            large
        ]
    );

    assert_eq!(read(&mut client, uri)["text"], MINE);
    assert_eq!(read(&mut client, uris[1])["blob"], "AJ+Slg==");
    assert_eq!(read(&mut client, uris[2])["text"], "# A");
    let whole = read(&mut client, large);
    assert_eq!(whole["text"].as_str().unwrap().len(), 360_000);
    assert_eq!(files[3]["size"], 360_000);

    let inside = client.request("resources/directory/read", json!({"uri": "skill://mine"}));
    let inside: Vec<_> = inside["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["name"].as_str().unwrap(), it["mimeType"].as_str()))
        .collect();
    let expected = [
        ("SKILL.md", Some("text/markdown")),
        ("data.bin", None),
        ("references", Some("inode/directory")),
    ];
    assert_eq!(inside, expected);
    for (method, uri) in [
        ("resources/directory/read", uri),
        ("resources/directory/read", "skill://other"),
        ("skills/get", "skill://other/SKILL.md"),
        ("skills/get", large),
    ] {
        assert_eq!(error(&mut client, method, uri).0, -32602, "{method} {uri}");
    }
    let (_, message) = error(&mut client, "resources/read", "skill://mine/../../x");
    assert!(message.contains("no resource is known"), "{message}");
    assert_eq!(client.end(), 0);
    let loaded = events(&home, &["--type", "capability.loaded"]);
    assert_eq!(loaded.len(), 1, "files beside it load nothing: {loaded:?}");
}

#[test]
fn a_projects_skill_is_read_when_somebody_accepted_it() {
    let home = home();
    let folder = home.work().join(".agents/skills/theirs");
    std::fs::create_dir_all(&folder).unwrap();
    let text = "---\nname: theirs\ndescription: Theirs\n---\n\nTheir words.\n";
    std::fs::write(folder.join("SKILL.md"), text).unwrap();
    let mut client = connect(&home, json!({}));
    let (_, message) = error(&mut client, "resources/read", "skill://theirs/SKILL.md");
    assert!(message.contains("approval_pending"), "{message}");
    home.run(&["approvals", "allow", "1", "--for", "always"])
        .exits(0);
    assert_eq!(read(&mut client, "skill://theirs/SKILL.md")["text"], text);
    assert_eq!(client.end(), 0);
}
