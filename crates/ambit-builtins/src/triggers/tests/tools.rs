//! What agents can do with triggers.

use std::sync::Arc;

use ambit_core::permission::Mode;
use serde_json::{Value, json};

use super::super::*;
use crate::trial::{Said, Trial};

fn trial() -> Trial {
    Trial::new(
        |it| Arc::new(TriggersResolver::new(&it.store, &it.clock)),
        json!({"timezone": "Europe/Berlin"}),
    )
}

fn id(said: &Said) -> String {
    let id = said.data["id"].as_str();
    id.unwrap_or_else(|| panic!("{}", said.text)).to_owned()
}

#[tokio::test]
async fn a_trigger_from_its_making_to_its_end() {
    let trial = trial();
    // 2023-11-14T22:13:20Z, 23:13 in Berlin.
    let made = trial
        .call(
            "a",
            "create_trigger",
            json!({"cron": "30 9 * * *", "prompt": "Look at\nthe inbox."}),
        )
        .await;
    let trigger = id(&made);
    let nobody = "\nnothing starts triggers in this workspace now: that needs `ambit serve`, with a model configured, which a person has to start";
    for (tool, arguments, said) in [
        (
            "list_triggers",
            json!({}),
            "ID  cron `30 9 * * *` in Europe/Berlin, next 2023-11-15T08:30:00Z, never run: Look at the inbox.",
        ),
        (
            "update_trigger",
            json!({"trigger": "ID", "cron": "0 9 * * mon", "timezone": "America/New_York", "missed": "skip"}),
            "updated ID  cron `0 9 * * mon` in America/New_York, next 2023-11-20T14:00:00Z, never run: Look at the inbox.",
        ),
        (
            "update_trigger",
            json!({"trigger": "ID", "cron": "0 10 * * mon"}),
            "updated ID  cron `0 10 * * mon` in America/New_York, next 2023-11-20T15:00:00Z, never run: Look at the inbox.",
        ),
        (
            "update_trigger",
            json!({"trigger": "ID", "every": "2h 30m", "prompt": "Again."}),
            "updated ID  every 2h 30m, next 2023-11-15T00:43:20Z, never run: Again.",
        ),
        (
            "update_trigger",
            json!({"trigger": "ID", "paused": true}),
            "updated ID  every 2h 30m, paused, never run: Again.",
        ),
        (
            "run_trigger_now",
            json!({"trigger": "ID"}),
            "ID will be started in a few seconds; list_triggers shows how it ends",
        ),
        (
            "list_triggers",
            json!({}),
            "ID  every 2h 30m, paused, last requested (2023-11-14T22:13:20Z): Again.",
        ),
        (
            "remove_trigger",
            json!({"trigger": "ID"}),
            "removed ID; a run of it that has begun goes on",
        ),
        ("list_triggers", json!({}), "you have no triggers"),
    ] {
        let arguments =
            serde_json::from_str(&arguments.to_string().replace("ID", &trigger)).unwrap();
        let answer = trial.call("a", tool, arguments).await.text;
        let answer = answer.replace(&trigger, "ID").replace(nobody, "");
        assert_eq!(answer, said, "{tool}");
    }
}

#[tokio::test]
async fn only_its_owner_sees_and_changes_it() {
    let trial = trial();
    let made = trial
        .call("a", "create_trigger", json!({"every": "1h", "prompt": "x"}))
        .await;
    let trigger = id(&made);
    for (tool, arguments) in [
        (
            "update_trigger",
            json!({"trigger": trigger, "paused": true}),
        ),
        ("remove_trigger", json!({"trigger": trigger})),
        ("run_trigger_now", json!({"trigger": trigger})),
    ] {
        let answer = trial.call("b", tool, arguments).await.text;
        assert_eq!(
            answer,
            format!(
                "refused: you have no trigger `{trigger}`; list_triggers shows yours, and only its owner can change one"
            ),
            "{tool}"
        );
    }
    let listed = trial.call("b", "list_triggers", json!({})).await.data;
    assert_eq!(listed, json!({"triggers": []}));
    let listed = trial.call("a", "list_triggers", json!({})).await.data;
    assert_eq!(listed["triggers"][0]["paused"], false);
}

#[tokio::test]
async fn limits_and_what_makes_no_sense() {
    let trial = trial();
    let hook = trial
        .call(
            "a",
            "create_trigger",
            json!({"webhook": true, "prompt": "x"}),
        )
        .await;
    let hook = id(&hook);
    let new = |more: Value| {
        let mut new = json!({"prompt": "x"});
        new.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        new
    };
    for (tool, arguments, said) in [
        ("create_trigger", json!({"every": "1h"}), "input_invalid"),
        ("create_trigger", new(json!({})), "when? give one of"),
        (
            "create_trigger",
            new(json!({"every": "1h", "cron": "@daily"})),
            "not several",
        ),
        (
            "create_trigger",
            new(json!({"cron": "61 * * * *"})),
            "`61` is no minute (0 to 59)",
        ),
        (
            "create_trigger",
            new(json!({"cron": "every day"})),
            "has five fields",
        ),
        (
            "create_trigger",
            new(json!({"cron": "0 0 30 2 *"})),
            "it would never fire",
        ),
        (
            "create_trigger",
            new(json!({"cron": "x".repeat(201)})),
            "input_invalid",
        ),
        (
            "create_trigger",
            new(json!({"cron": "@daily", "timezone": "Berlin"})),
            "`Berlin` is not a time zone; did you mean `Europe/Berlin`",
        ),
        (
            "create_trigger",
            new(json!({"every": "1h", "timezone": "UTC"})),
            "give `cron` with it",
        ),
        (
            "create_trigger",
            new(json!({"every": "5s"})),
            "too short or too long",
        ),
        (
            "create_trigger",
            new(json!({"watch": "../x"})),
            "leads out of the workspace",
        ),
        (
            "create_trigger",
            new(json!({"webhook": false})),
            "input_invalid",
        ),
        (
            "create_trigger",
            new(json!({"every": "1h", "missed": "twice"})),
            "input_invalid",
        ),
        (
            "create_trigger",
            json!({"every": "1h", "prompt": "x".repeat(8_001)}),
            "input_invalid",
        ),
        (
            "update_trigger",
            json!({"trigger": hook}),
            "nothing to change",
        ),
        (
            "update_trigger",
            json!({"trigger": hook, "every": "1h"}),
            "is a webhook and stays one",
        ),
        (
            "update_trigger",
            json!({"trigger": "g-none", "paused": true}),
            "you have no trigger `g-none`",
        ),
        ("remove_trigger", json!({}), "input_invalid"),
    ] {
        let answer = trial.call("a", tool, arguments.clone()).await.text;
        assert!(answer.contains(said), "{tool} {arguments}: {answer}");
    }
    for _ in 0..10 {
        trial
            .call("a", "run_trigger_now", json!({"trigger": hook}))
            .await;
    }
    let answer = trial
        .call("a", "run_trigger_now", json!({"trigger": hook}))
        .await
        .text;
    assert!(answer.contains("10 runs of"), "{answer}");
    for _ in 1..50 {
        trial
            .call("a", "create_trigger", new(json!({"every": "1h"})))
            .await;
    }
    let answer = trial
        .call("a", "create_trigger", new(json!({"every": "1h"})))
        .await
        .text;
    assert!(
        answer.contains("you have 50 triggers, the most"),
        "{answer}"
    );
}

#[tokio::test]
async fn nothing_that_changes_is_there_in_read_only() {
    let trial = trial();
    assert_eq!(trial.visible(Mode::ReadOnly).await, ["list_triggers"]);
    assert_eq!(trial.visible(Mode::Auto).await.len(), PACK.tools.len());
    for tool in PACK.tools.iter().filter(|it| it.effects.changes()) {
        assert_eq!(
            trial.read_only(tool.name).await,
            "not_visible",
            "{}",
            tool.name
        );
    }
}

#[tokio::test]
async fn a_webhook_is_opened_by_its_token_only() {
    let trial = trial();
    let made = trial
        .call(
            "a",
            "create_trigger",
            json!({"webhook": true, "prompt": "x"}),
        )
        .await;
    let (trigger, token) = (id(&made), made.data["token"].as_str().unwrap().to_owned());
    assert_eq!(made.data["path"], format!("/hooks/{trigger}"));
    let store = &trial.builtins.store;
    let now = (trial.builtins.clock)();
    let ask =
        |trigger: &str, token: &str, body: &[u8]| match receive(store, now, trigger, token, body) {
            Ok(()) => "taken in".to_owned(),
            Err(refusal) => refusal.to_string(),
        };
    let unknown = "nothing is here for this token";
    assert_eq!(ask(&trigger, &token, b"hello"), "taken in");
    assert_eq!(ask(&trigger, &token, b""), "taken in");
    assert_eq!(ask(&trigger, "", b""), unknown);
    assert_eq!(ask(&trigger, &token[1..], b""), unknown);
    assert_eq!(ask("g-other", &token, b""), unknown);
    assert!(ask(&trigger, &token, b"\xff").contains("has to be text"));
    assert!(ask(&trigger, &token, &vec![b'x'; MOST_PAYLOAD + 1]).contains("has to be text"));
    for _ in 2..10 {
        assert_eq!(ask(&trigger, &token, b""), "taken in");
    }
    assert!(ask(&trigger, &token, b"").contains("10 runs of"));
    let dump = serde_json::to_string(&store.export().unwrap()).unwrap();
    assert!(!dump.contains(&token), "only its digest is kept");
    trial
        .call(
            "a",
            "update_trigger",
            json!({"trigger": trigger, "paused": true}),
        )
        .await;
    assert_eq!(ask(&trigger, &token, b""), unknown);
}

#[tokio::test]
async fn an_unknown_zone_in_the_config_is_told() {
    let trial = trial();
    let context = ambit_runtime::resolver::ResolverContext {
        agent: "a".to_owned(),
        asked_by: Vec::new(),
        agent_dir: "x".into(),
        workspace: "x".into(),
        thread: None,
        control_paths: Vec::new(),
        callbacks: Default::default(),
    };
    let resolver = TriggersResolver::new(&trial.builtins.store, &trial.builtins.clock);
    let resolved = resolver
        .resolve(&json!({"timezone": "Berln"}), &context)
        .await;
    let error = resolved.err().unwrap().to_string();
    assert!(error.contains("`Berln` is not a time zone"), "{error}");
}
