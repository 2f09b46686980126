//! The same chain with both real engines, against a stand-in that speaks each wire and has bad
//! moments.

use ambit_testkit::{Cut, Mishap, ModelEndpoint};
use serde_json::{Value, json};

use crate::chain::assert_walked;
use crate::support::{GOAL, assert_replays, events, example, example_home};

/// The example's script, as the stand-in takes it.
fn script() -> Value {
    let text = std::fs::read_to_string(example("test-fix").join("script.json")).unwrap();
    let script = ambit_agent::scripted::Script::parse(&text).unwrap();
    serde_json::to_value(script).unwrap()
}

#[test]
fn both_engines_complete_the_chain() {
    for provider in ["openai", "anthropic"] {
        let endpoint = ModelEndpoint::start(&script());
        endpoint.cuts(Cut::Bytes);
        endpoint.fails([Mishap::busy(429, "0"), Mishap::Disconnect]);
        let url = match provider {
            "openai" => endpoint.openai(),
            _ => endpoint.anthropic(),
        };
        let mut home = example_home();
        home.set("MODEL_KEY", "sk-a-key-nobody-sees");
        let model = json!({
            "provider": provider, "model": "claude-opus-5", "baseUrl": url, "key": "${MODEL_KEY}",
            "prices": {"input": 3, "cachedInput": 0.3, "output": 15},
        });
        home.user_config(&json!({"models": {"main": model}}).to_string());
        let run = home
            .run(&["run", "--trust-project", "--yes", GOAL])
            .exits(0);
        assert!(run.stdout.starts_with("All 3 tests pass."), "{run:?}");
        assert!(run.stderr.contains("cost 0."), "{}", run.stderr);
        assert_eq!(endpoint.remaining(), 0);
        assert_walked(&home);
        assert_replays(&home);
        let responded = events(&home, &["--type", "model.responded"]);
        let cached = responded
            .iter()
            .map(|it| it["usage"]["cachedInput"].as_u64().unwrap());
        assert!(cached.sum::<u64>() > 0, "{provider}");
        let log = home.run(&["log", "--json"]).stdout;
        assert!(!log.contains("sk-a-key-nobody-sees"));
    }
}

#[test]
fn what_is_wrong_with_a_model_is_said() {
    let home = example_home();
    let run = home.run(&["run", "--trust-project", GOAL]).exits(2);
    assert!(
        run.stderr.contains("no model is configured"),
        "{}",
        run.stderr
    );
    home.user_config(
        &json!({"models": {"main": {"provider": "openai", "model": "m", "baseUrl": "http://127.0.0.1:9/v1"}}})
            .to_string(),
    );
    let run = home
        .run(&["run", "--trust-project", "--model", "man", GOAL])
        .exits(2);
    assert!(
        run.stderr.contains("did you mean `main`?"),
        "{}",
        run.stderr
    );
}
