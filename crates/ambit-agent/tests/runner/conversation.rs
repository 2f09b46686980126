//! What a model is shown over a long run, and after a session went on.

use std::sync::Arc;

use ambit_agent::message::Message;
use ambit_agent::runner::{RunError, Task};
use ambit_core::observation::Output;
use ambit_core::permission::Mode;
use ambit_core::run::RunEnd;
use ambit_testkit::{Behaviour, Bench, FixtureResolver};
use serde_json::{Value, json};

use crate::support::{Heard, Stage, begin, call};

fn stage(text: &str) -> Stage {
    let behaviour = Behaviour::Returns(Output::text(text));
    let kit = FixtureResolver::lines("kit", "local__kit__look reads", &behaviour);
    Stage::new(Bench::default().with(Arc::new(kit), json!({})))
}

#[tokio::test]
async fn a_session_goes_on_word_for_word() {
    let stage = stage("apples");
    let engine = Heard::new(json!([
        {"say": "I look.", "calls": [call("kit__look", json!({}))]},
        {"say": "Apples."},
        {"say": "Yes, red ones."},
    ]));
    let first = stage.run(&engine, begin("what is there?")).await;
    let again = |said: Option<&str>| Task::GoOn {
        session: first.session.clone(),
        said: said.map(str::to_owned),
    };
    let profile = stage.profile(stage.spec("tester", Mode::Auto), &engine);
    let nothing = stage.run_as(profile, again(None)).await;
    assert!(matches!(nothing, Err(RunError::NothingToDo(_))));
    let second = stage.run(&engine, again(Some("what colour?"))).await;
    assert_eq!(second.session, first.session);
    assert_eq!(second.answer, "Yes, red ones.");
    let requests = engine.requests.lock().clone();
    let (before, after) = (&requests[1], &requests[2]);
    assert_eq!(&after[..before.len()], &before[..]);
    assert_eq!(after[before.len()], Message::assistant("Apples."));
    assert_eq!(after[before.len() + 1], Message::user("what colour?"));
    stage.assert_replays(&first.session).await;
}

#[tokio::test]
async fn old_results_make_room_and_can_be_read_again() {
    let long = "The quick brown fox jumps over the lazy dog. ".repeat(60);
    let stage = stage(&long);
    let mut turns: Vec<Value> = (0..12)
        .map(|_| json!({"calls": [call("kit__look", json!({}))]}))
        .collect();
    turns.push(json!({"say": "done"}));
    let engine = Heard::in_window(Value::from(turns), 8_000);
    let report = stage.run(&engine, begin("look often")).await;
    assert_eq!(report.ended, RunEnd::Answered);
    let requests = engine.requests.lock().clone();
    let mut changed = 0;
    for pair in requests.windows(2) {
        let [before, after] = pair else { panic!() };
        changed += usize::from(after[..before.len()] != before[..]);
        // The newest results are always whole.
        let Some(Message::Results { results }) = after.last() else {
            panic!();
        };
        assert_eq!(results[0].content[0].as_text(), Some(long.as_str()));
    }
    // Seldom: in between, a request begins as the one before it.
    assert!((1..=3).contains(&changed), "{changed}");
    let first = requests.last().and_then(|it| it.get(2)).unwrap();
    let Message::Results { results } = first else {
        panic!("{first:?}");
    };
    let text = results[0].content[0].as_text().unwrap();
    let reference = text.split("\"ref\":\"").nth(1).unwrap();
    let reference = reference.split('"').next().unwrap().to_owned();
    let types = stage.types(&report.session).await;
    assert!(types.contains(&"context.compacted".to_owned()));

    // What was replaced stays replaced when the session goes on, and can still be read.
    let engine = Heard::new(json!([
        {"calls": [call("read_result", json!({"ref": reference}))]},
        {"say": "there it is"},
    ]));
    let again = Task::GoOn {
        session: report.session.clone(),
        said: Some("read it again".to_owned()),
    };
    stage.run(&engine, again).await;
    assert!(
        engine.last_results()[0].contains("lazy dog"),
        "{:?}",
        engine.last_results()
    );
    let resumed = engine.requests.lock()[0].clone();
    let compacted = requests.last().unwrap();
    assert_eq!(&resumed[..compacted.len()], &compacted[..]);
}

#[tokio::test]
async fn a_loaded_skill_leaves_a_line_that_loads_it_again() {
    let long = "Do this, then that, and look twice. ".repeat(60);
    let says = Behaviour::Returns(Output::text(long));
    let skills = FixtureResolver::lines("skills", "skill__review reads", &says);
    let kit = FixtureResolver::lines("kit", "local__kit__look reads", &says);
    let bench = Bench::default()
        .with(Arc::new(skills), json!({}))
        .with(Arc::new(kit), json!({}));
    let mut turns = vec![json!({"calls": [call("load_skill", json!({"name": "review"}))]})];
    turns.extend((0..8).map(|_| json!({"calls": [call("kit__look", json!({}))]})));
    turns.push(json!({"say": "done"}));
    let engine = Heard::in_window(Value::from(turns), 6_000);
    let report = Stage::new(bench).run(&engine, begin("review it")).await;
    assert_eq!(report.ended, RunEnd::Answered, "{:?}", report.error);
    let requests = engine.requests.lock().clone();
    let Some(Message::Results { results }) = requests.last().and_then(|it| it.get(2)) else {
        panic!("{requests:?}");
    };
    assert_eq!(
        results[0].content[0].as_text().unwrap(),
        "[the skill `review` was loaded here: Does review. Load it again with load_skill before you follow it further]"
    );
}
