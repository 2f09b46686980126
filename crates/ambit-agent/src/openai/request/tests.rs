use ambit_core::observation::Content;
use ambit_core::projection::Projection;

use super::*;
use crate::engine::ModelOptions;
use crate::message::{Arguments, ToolCall};

fn written(url: &str, messages: &[Message]) -> String {
    let projection = Projection {
        tools: Vec::new(),
        skills: Vec::new(),
        resources: Vec::new(),
        deferred: Vec::new(),
    };
    let system = ["You help.".to_owned(), "Be brief.".to_owned()];
    let request = ModelRequest {
        system: &system,
        projection: &projection,
        messages,
        options: ModelOptions {
            max_output: Some(50),
        },
    };
    let settings = Settings {
        max_output: Some(100),
        temperature: Some(0.5),
        bound: Bound::at(url),
    };
    let mut body = body("m", &request, &settings);
    let messages = body["messages"].take();
    let messages = messages.as_array().unwrap().iter().map(Value::to_string);
    let lines: Vec<String> = [body.to_string()].into_iter().chain(messages).collect();
    lines.join("\n") + "\n"
}

#[test]
fn a_conversation_as_it_is_sent() {
    let parts = vec![
        AssistantPart::Kept {
            engine: "openai".to_owned(),
            value: json!({"reasoning_content": "hm"}),
        },
        AssistantPart::Kept {
            engine: "anthropic".to_owned(),
            value: json!({"type": "thinking"}),
        },
        AssistantPart::Call(ToolCall {
            id: "a".to_owned(),
            name: "look".to_owned(),
            arguments: Arguments::read("{"),
        }),
    ];
    let image = json!({"type": "image", "mimeType": "image/png", "data": "AA=="});
    let messages = [
        Message::user("go"),
        Message::Assistant { parts },
        Message::Results {
            results: vec![ToolResult {
                call: "a".to_owned(),
                name: "look".to_owned(),
                content: vec![Content::text("see"), Content::Block(image)],
                is_error: false,
                reveals: Vec::new(),
            }],
        },
        Message::Assistant { parts: Vec::new() },
    ];
    expect_test::expect![[r#"
        {"max_tokens":50,"messages":null,"model":"m","stream":true,"stream_options":{"include_usage":true},"temperature":0.5}
        {"content":"You help.\n\nBe brief.","role":"system"}
        {"content":"go","role":"user"}
        {"content":null,"reasoning_content":"hm","role":"assistant","tool_calls":[{"function":{"arguments":"{\"malformed\":\"{\"}","name":"look"},"id":"a","type":"function"}]}
        {"content":"see\n[an image of type image/png]","role":"tool","tool_call_id":"a"}
        {"content":[{"text":"What `look` brought to look at:","type":"text"},{"image_url":{"url":"data:image/png;base64,AA=="},"type":"image_url"}],"role":"user"}
    "#]].assert_eq(&written(
        "http://localhost:11434/v1/chat/completions",
        &messages,
    ));
}

#[test]
fn the_bound_has_the_name_its_reader_knows() {
    for (url, word) in [
        (
            "https://api.openai.com/v1/chat/completions",
            "\"max_completion_tokens\":50",
        ),
        (
            "https://mine.openai.azure.com/v1/chat/completions",
            "\"max_completion_tokens\":50",
        ),
        (
            "http://localhost:8000/v1/chat/completions",
            "\"max_tokens\":50",
        ),
    ] {
        assert!(written(url, &[]).contains(word), "{url}");
    }
}
