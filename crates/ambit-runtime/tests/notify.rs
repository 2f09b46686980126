//! `notify_user`: there in background runs only, in every mode, and what it says arrives.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use ambit_core::manifest::ChannelFeature;
use ambit_core::permission::Mode;
use ambit_runtime::discovery::TurnRequest;
use ambit_runtime::resolver::{Notice, Notify, Urgency};
use ambit_runtime::session::Session;
use ambit_testkit::{Bench, call, events};
use serde_json::{Value, json};

fn heard() -> (Notify, Arc<Mutex<Vec<Notice>>>) {
    let heard: Arc<Mutex<Vec<Notice>>> = Arc::default();
    let hears = Arc::clone(&heard);
    let notify: Notify = Arc::new(move |notice: Notice| match notice.message.as_str() {
        "refuse" => Err("the line is dead".to_owned()),
        _ => {
            hears.lock().unwrap().push(notice);
            Ok(())
        }
    });
    (notify, heard)
}

async fn session(
    bench: &Bench,
    mode: Mode,
    channel: &[ChannelFeature],
    notify: Option<Notify>,
) -> Session {
    let mut spec = bench.spec(mode);
    spec.channel = channel.iter().copied().collect::<BTreeSet<_>>();
    spec.callbacks.notify = notify;
    let session = bench.market().open_session(spec).await.unwrap();
    session.begin_turn(&TurnRequest::default());
    session
}

async fn says(session: &Session, arguments: Value) -> String {
    let observation = call(session, "notify_user", arguments).await.observation;
    match observation.code() {
        None => "told".to_owned(),
        Some(code) => format!("{}: {}", code.as_str(), observation.reason().unwrap_or("")),
    }
}

#[tokio::test]
async fn only_in_the_background_and_only_where_somebody_hears_it() {
    let bench = Bench::default();
    let background = [ChannelFeature::RunInBackground];
    for (mode, channel, has_callback, is_there) in [
        (Mode::ReadOnly, &background[..], true, true),
        (Mode::Ask, &background[..], true, true),
        (Mode::Auto, &background[..], true, true),
        (Mode::Auto, &background[..], false, false),
        (Mode::Auto, &[ChannelFeature::AskUser][..], true, false),
        (Mode::Auto, &[][..], true, false),
    ] {
        let (notify, heard) = heard();
        let session = session(&bench, mode, channel, has_callback.then_some(notify)).await;
        let visible = session.visible().find("notify_user").is_some();
        assert_eq!(visible, is_there, "{mode:?} {channel:?} {has_callback}");
        let said = says(&session, json!({"message": "done"})).await;
        match is_there {
            true => assert_eq!(said, "told"),
            false => assert!(said.starts_with("not_visible"), "{said}"),
        }
        assert_eq!(heard.lock().unwrap().len(), usize::from(is_there));
    }
}

#[tokio::test]
async fn what_arrives_and_what_does_not() {
    let bench = Bench::default().secret("hunter2-canary");
    let (notify, heard) = heard();
    let background = [ChannelFeature::RunInBackground];
    let session = session(&bench, Mode::Ask, &background, Some(notify)).await;
    for (arguments, said) in [
        (
            json!({"message": "the build broke", "urgency": "high"}),
            "told",
        ),
        (json!({"message": "the key is hunter2-canary"}), "told"),
        (
            json!({"message": "refuse"}),
            "provider_failed: the user could not be told: the line is dead",
        ),
        (
            json!({"message": "  "}),
            "refused: the message says nothing",
        ),
        (json!({"message": ""}), "input_invalid"),
        (json!({}), "input_invalid"),
        (json!({"message": "x".repeat(2_001)}), "input_invalid"),
        (json!({"message": "x", "urgency": "panic"}), "input_invalid"),
        (
            json!({"message": "x", "to": "somebody else"}),
            "input_invalid",
        ),
    ] {
        let answer = says(&session, arguments.clone()).await;
        assert!(answer.starts_with(said), "{arguments}: {answer}");
    }
    let heard = heard.lock().unwrap();
    let [first, second] = heard.as_slice() else {
        panic!("{heard:?}");
    };
    assert_eq!(
        (first.agent.as_str(), first.urgency),
        ("tester", Urgency::High)
    );
    assert_eq!(first.session, session.id().to_string());
    assert_eq!(second.urgency, Urgency::Normal);
    assert!(!second.message.contains("hunter2-canary"), "{second:?}");
}

#[tokio::test]
async fn it_is_on_record_like_any_call() {
    let bench = Bench::default();
    let market = bench.market();
    let mut spec = bench.spec(Mode::ReadOnly);
    spec.channel = [ChannelFeature::RunInBackground].into();
    spec.callbacks.notify = Some(heard().0);
    let session = market.open_session(spec).await.unwrap();
    session.begin_turn(&TurnRequest::default());
    says(&session, json!({"message": "done"})).await;
    let events = events(&market, &session).await;
    let names: Vec<_> = events.iter().map(|it| it.body.type_name()).collect();
    assert!(
        names.contains(&"tool.started") && names.contains(&"tool.observation"),
        "{names:?}"
    );
}
