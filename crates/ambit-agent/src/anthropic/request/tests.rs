use ambit_core::observation::Content;
use ambit_core::projection::Projection;

use super::*;
use crate::engine::ModelOptions;
use crate::message::{Arguments, ToolCall};

fn call(id: &str, name: &str, arguments: &str) -> AssistantPart {
    AssistantPart::Call(ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: Arguments::read(arguments),
    })
}

fn result(call: &str, name: &str, text: &str, reveals: &[&str]) -> ToolResult {
    ToolResult {
        call: call.to_owned(),
        name: name.to_owned(),
        content: vec![Content::text(text)],
        is_error: false,
        reveals: reveals.iter().map(|it| (*it).to_owned()).collect(),
    }
}

fn conversation() -> Vec<Message> {
    vec![
        Message::user("go"),
        Message::Assistant {
            parts: vec![
                AssistantPart::Kept {
                    engine: "anthropic".to_owned(),
                    value: json!({"type": "thinking", "thinking": "hm", "signature": "s"}),
                },
                AssistantPart::Kept {
                    engine: "openai".to_owned(),
                    value: json!({"reasoning_content": "hm"}),
                },
                AssistantPart::Text {
                    text: " ".to_owned(),
                },
                call("a:1", "tool_search", r#"{"query":"pr"}"#),
                call("b", "read_file", "{"),
            ],
        },
        Message::Results {
            results: vec![
                result("a:1", "tool_search", "found gh__get", &["gh__gone"]),
                ToolResult {
                    is_error: true,
                    ..result("b", "read_file", "not JSON", &["gh__get"])
                },
            ],
        },
        Message::user("and be quick"),
    ]
}

fn written(reveal: Reveal, tools: &[&str]) -> String {
    let tool = |name: &&str| json!({"name": name, "input_schema": {"type": "object"}});
    let projection = Projection {
        tools: tools.iter().map(tool).collect(),
        skills: Vec::new(),
        resources: Vec::new(),
        deferred: Vec::new(),
    };
    let system = [
        "You help.".to_owned(),
        String::new(),
        "Be brief.".to_owned(),
    ];
    let messages = conversation();
    let request = ModelRequest {
        system: &system,
        projection: &projection,
        messages: &messages,
        options: ModelOptions::default(),
    };
    let settings = Settings {
        max_output: 100,
        temperature: None,
        reveal,
    };
    let body = body("m", &request, &settings);
    let mut lines = Vec::new();
    for list in ["tools", "system"] {
        let items = body[list].as_array().into_iter().flatten();
        lines.extend(items.map(|it| format!("{list} {it}")));
    }
    for message in body["messages"].as_array().unwrap() {
        let blocks = message["content"].as_array().unwrap().iter();
        lines.extend(blocks.map(|it| format!("{} {it}", message["role"].as_str().unwrap())));
    }
    // Short enough to be read.
    let text = lines.join("\n") + "\n";
    text.replace(r#""cache_control":{"type":"ephemeral"}"#, "MARK")
        .replace(r#""input_schema":{"type":"object"},"#, "")
}

#[test]
fn what_came_into_view_is_referred_to_and_the_prefix_is_marked() {
    expect_test::expect![[r#"
        tools {"name":"tool_search"}
        tools {"defer_loading":true,"name":"gh__get"}
        tools {MARK,"name":"read_file"}
        system {"text":"You help.","type":"text"}
        system {MARK,"text":"Be brief.","type":"text"}
        user {MARK,"text":"go","type":"text"}
        assistant {"signature":"s","thinking":"hm","type":"thinking"}
        assistant {"id":"a_1","input":{"query":"pr"},"name":"tool_search","type":"tool_use"}
        assistant {"id":"b","input":{"malformed":"{"},"name":"read_file","type":"tool_use"}
        assistant {"id":"in_view_a_1","input":{"query":"gh__get"},"name":"tool_search","type":"tool_use"}
        user {"content":[{"text":"found gh__get","type":"text"}],"tool_use_id":"a_1","type":"tool_result"}
        user {"content":[{"text":"not JSON","type":"text"}],"is_error":true,"tool_use_id":"b","type":"tool_result"}
        user {"content":[{"tool_name":"gh__get","type":"tool_reference"}],"tool_use_id":"in_view_a_1","type":"tool_result"}
        user {MARK,"text":"and be quick","type":"text"}
    "#]].assert_eq(&written(
        Reveal::InPlace,
        &["tool_search", "gh__get", "read_file"],
    ));
}

#[test]
fn older_models_have_it_listed() {
    expect_test::expect![[r#"
        tools {"name":"tool_search"}
        tools {MARK,"name":"gh__get"}
        system {"text":"You help.","type":"text"}
        system {MARK,"text":"Be brief.","type":"text"}
        user {MARK,"text":"go","type":"text"}
        assistant {"signature":"s","thinking":"hm","type":"thinking"}
        assistant {"id":"a_1","input":{"query":"pr"},"name":"tool_search","type":"tool_use"}
        assistant {"id":"b","input":{"malformed":"{"},"name":"read_file","type":"tool_use"}
        user {"content":[{"text":"found gh__get","type":"text"}],"tool_use_id":"a_1","type":"tool_result"}
        user {"content":[{"text":"not JSON","type":"text"}],"is_error":true,"tool_use_id":"b","type":"tool_result"}
        user {MARK,"text":"and be quick","type":"text"}
    "#]].assert_eq(&written(Reveal::Listed, &["tool_search", "gh__get"]));
}

#[test]
fn not_all_tools_are_deferred() {
    assert!(!written(Reveal::InPlace, &["gh__get"]).contains("defer_loading"));
    assert!(!written(Reveal::InPlace, &[]).contains("tools"));
}
