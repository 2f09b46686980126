//! One script, played by the scripted engine and over both wires, however the bytes are cut.

mod support;

use ambit_agent::config::Provider;
use ambit_agent::engine::Unheard;
use ambit_agent::message::Message;
use ambit_agent::scripted::{Script, ScriptedEngine};
use ambit_agent::usage::Prices;
use ambit_runtime::CancellationToken;
use ambit_testkit::{Cut, ModelEndpoint};
use serde_json::{Value, json};

use support::{PROVIDERS, ask, config, engine, results, talk};

fn chain() -> Value {
    json!({"turns": [
        {"say": "Ich schaue nach – 🔍 einen Moment.", "calls": [{"tool": "read_file", "input": {"path": "naïve nave42.txt"}}]},
        {"calls": [
            {"tool": "grep", "input": {"pattern": "\"quoted\" \\ slash", "deep": {"list": [1, 2, 3]}}},
            {"tool": "read_file", "input": {}},
            {"tool": "grep", "malformed": "{\"pattern\": \"abc"},
        ]},
        {"calls": [{"tool": "read_file", "input": {"path": "${observed:nave}"}}]},
        {"say": "Again.", "calls": [{"tool": "grep", "malformed": "[1, 2]"}]},
        {"say": "Done: “all” of it.\n\n```\ncode\n```"},
    ]})
}

#[tokio::test]
async fn every_engine_plays_the_same_chain() {
    let script: Script = serde_json::from_value(chain()).unwrap();
    let expected = talk(&ScriptedEngine::new(script), &Unheard).await.unwrap();
    for provider in PROVIDERS {
        for cut in [Cut::Events, Cut::Bytes, Cut::Whole, Cut::Crlf] {
            let endpoint = ModelEndpoint::start(&chain());
            endpoint.cuts(cut);
            let engine = engine(provider, &endpoint);
            let said = talk(&*engine, &Unheard).await;
            assert_eq!(said.unwrap(), expected, "{provider:?} {cut:?}");
            assert_eq!(endpoint.remaining(), 0);
            assert_eq!(endpoint.connections(), 1, "{provider:?} {cut:?}");
        }
    }
}

#[tokio::test]
async fn reasons_to_stop_are_told_apart() {
    for (stop, expected) in [
        ("length", r#"Length "Half""#),
        ("refused", r#"Refused "Half""#),
    ] {
        let script = json!({"turns": [{"say": "Half", "stop": stop}]});
        for provider in PROVIDERS {
            let endpoint = ModelEndpoint::start(&script);
            let said = talk(&*engine(provider, &endpoint), &Unheard).await.unwrap();
            assert_eq!(said, [format!("{expected} []")], "{provider:?}");
        }
    }
}

/// What was sent once is found again at the beginning of the next request, also when a tool came
/// into view in between. Chat completions have no way to do that.
#[tokio::test]
async fn the_prefix_stays_cached() {
    for (provider, reveal_keeps_it) in [(Provider::Anthropic, true), (Provider::OpenAi, false)] {
        let call = json!({"calls": [{"tool": "grep", "input": {}}]});
        let script = json!({"turns": [call, call, {"say": "Done."}]});
        let endpoint = ModelEndpoint::start(&script);
        let engine = engine(provider, &endpoint);
        let cancel = CancellationToken::new();
        let mut messages = vec![Message::user("go")];
        let mut tools = vec!["grep", "read_file"];
        let mut usages = Vec::new();
        for number in 1..=3 {
            let turn = ask(&*engine, &messages, &tools, &Unheard, &cancel).await;
            let turn = turn.unwrap();
            usages.push(turn.usage);
            let mut answer = results(&turn);
            if let (2, Message::Results { results }) = (number, &mut answer) {
                results[0].reveals = vec!["gh__get".to_owned()];
                tools.push("gh__get");
            }
            messages.push(turn.into_message());
            messages.push(answer);
        }
        let kept: Vec<bool> = usages
            .windows(2)
            // Rounding, and what is written at the seams.
            .map(|it| it[1].cached_input + 2 >= it[0].read())
            .collect();
        assert_eq!(kept, [true, reveal_keeps_it], "{provider:?} {usages:?}");
    }
}

#[tokio::test]
async fn a_conversation_goes_on_with_another_provider() {
    let script = json!({"turns": [{"say": "First.", "calls": [{"tool": "grep", "input": {}}]}]});
    let cancel = CancellationToken::new();
    for (first, second) in [(PROVIDERS[0], PROVIDERS[1]), (PROVIDERS[1], PROVIDERS[0])] {
        let endpoint = ModelEndpoint::start(&script);
        let engine_1 = engine(first, &endpoint);
        let mut messages = vec![Message::user("go")];
        let turn = ask(&*engine_1, &messages, &["grep"], &Unheard, &cancel).await;
        let turn = turn.unwrap();
        let answer = results(&turn);
        messages.push(turn.into_message());
        messages.push(answer);
        let endpoint = ModelEndpoint::start(&json!({"turns": [{"say": "Second."}]}));
        let engine_2 = engine(second, &endpoint);
        let turn = ask(&*engine_2, &messages, &["grep"], &Unheard, &cancel).await;
        assert_eq!(turn.unwrap().text(), "Second.");
    }
}

#[tokio::test]
async fn a_turn_costs_what_its_tokens_cost() {
    let prices = Prices {
        input: 3.0,
        cached_input: Some(0.3),
        cache_write: None,
        output: 15.0,
    };
    for provider in PROVIDERS {
        let endpoint = ModelEndpoint::start(&json!({"turns": [{"say": "Done."}]}));
        let mut config = config(provider, &endpoint);
        config.prices = Some(prices);
        let engine = config.open().unwrap();
        let cancel = CancellationToken::new();
        let turn = ask(&*engine, &[Message::user("go")], &[], &Unheard, &cancel).await;
        let usage = turn.unwrap().usage;
        assert!(usage.input > 0 && usage.output > 0, "{usage:?}");
        assert_eq!(usage.cost, Some(prices.cost(&usage)));
    }
}
