//! What comes back from a server that behaves.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_core::code::Code;
use ambit_core::effects::{Effect, Effects};
use ambit_core::id::CapabilityId;
use ambit_core::observation::{Content, Observation};
use ambit_core::quarantine::{Quarantine, QuarantineReason};
use ambit_core::wire::Naming;
use ambit_mcp::{NewTools, RefusedReason};
use ambit_runtime::resolver::{CapabilityResolver, Offer};
use serde_json::json;

use crate::support::{Rig, spec, text};

#[tokio::test]
async fn tools_are_listed_and_called() {
    let rig = Rig::listed([spec("fix", "normal")]).await;
    assert_eq!(rig.server().status().tools, 16);
    let echoed = rig.call("mcp__fix__echo", json!({"text": "hello"})).await;
    assert_eq!(text(&echoed), "hello");
    let status = rig.server().status();
    assert_eq!(status.version.as_deref(), Some("1.2.3"));
    assert_eq!(status.protocol.as_deref(), Some("2025-11-25"));
}

#[tokio::test]
async fn the_stateless_era_is_spoken_too() {
    let rig = Rig::listed([spec("fix", "modern")]).await;
    assert_eq!(
        rig.server().status().protocol.as_deref(),
        Some("2026-07-28")
    );
    let echoed = rig.call("mcp__fix__echo", json!({"text": "hello"})).await;
    assert_eq!(text(&echoed), "hello");
}

#[tokio::test]
async fn a_server_that_dies_of_a_new_question_is_asked_the_old_one() {
    let rig = Rig::listed([spec("fix", "strict")]).await;
    assert_eq!(rig.server().status().last_error, None);
    rig.text("mcp__fix__calls").await;
}

#[tokio::test]
async fn answers_keep_their_shape() {
    let rig = Rig::listed([spec("fix", "normal")]).await;

    let Observation::Completed(it) = rig.call("mcp__fix__structured", json!({})).await else {
        panic!("structured");
    };
    assert_eq!(it.output.structured, Some(json!({"n": 1})));
    assert!(it.untrusted, "what a server says is data");

    let Observation::Completed(it) = rig.call("mcp__fix__image", json!({})).await else {
        panic!("image");
    };
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    assert_eq!(it.output.content, [Content::Block(image)]);

    for (tool, code, reason) in [
        ("fail", Code::ProviderFailed, "out of paper"),
        ("refuse", Code::Refused, "`text` must rhyme"),
    ] {
        let observation = rig.call(&format!("mcp__fix__{tool}"), json!({})).await;
        assert_eq!(observation.code(), Some(code), "{observation:?}");
        assert_eq!(observation.reason(), Some(reason));
    }
}

#[tokio::test]
async fn the_same_name_on_two_servers_is_two_tools() {
    let rig = Rig::listed([spec("one", "normal"), spec("two", "normal")]).await;
    for _ in 0..3 {
        rig.text("mcp__one__calls").await;
    }
    assert_eq!(rig.text("mcp__one__calls").await, "4");
    assert_eq!(rig.text("mcp__two__calls").await, "1");
}

#[tokio::test]
async fn names_that_could_be_mistaken_are_left_out() {
    let rig = Rig::listed([spec("fix", "look-alikes")]).await;
    let refused = rig.server().status().refused;
    let refused: Vec<_> = refused
        .iter()
        .map(|it| (it.name.as_str(), &it.reason))
        .collect();
    let like = |name: &str| RefusedReason::LooksLike(name.to_owned());
    assert_eq!(
        refused,
        [
            ("list", &like("1ist")),
            ("1ist", &like("list")),
            ("pаy", &like("pay")),
            ("pay", &like("pаy")),
            ("save", &like("Save")),
            ("Save", &like("save")),
        ]
    );
    assert_eq!(rig.server().status().tools, 2);
    let id = "mcp__fix__do_it-";
    let offered = rig.resolvers[0].server().list().await.unwrap();
    assert!(offered.iter().any(|it| it.id.as_str().starts_with(id)));
}

#[tokio::test]
async fn names_too_long_for_clients_are_shortened_and_stay_apart() {
    let rig = Rig::listed([spec("fix", "long-names")]).await;
    let names = rig.wire_names();
    assert_eq!(names.len(), 2, "{names:?}");
    let mut said = Vec::new();
    for name in &names {
        assert!(name.len() <= 48, "{name}");
        said.push(rig.text(name).await);
    }
    said.sort();
    assert_eq!(said, ["a", "b"]);
    assert_eq!(rig.restarted().await.wire_names(), names, "they last");
}

#[tokio::test]
async fn the_environment_is_what_is_listed_and_little_else() {
    let rig = Rig::listed([spec("fix", "normal")]).await;
    let names = rig.text("mcp__fix__get_env").await;
    let expected = |name: &str| {
        let fixed = [
            "LISTED", "PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP",
        ];
        fixed.contains(&name)
            || name.starts_with("LC_")
            || name.to_ascii_lowercase().ends_with("_proxy")
    };
    let names: Vec<&str> = names.split(' ').collect();
    assert!(names.contains(&"LISTED") && names.contains(&"PATH"));
    // Cargo sets variables of its own for every test.
    assert!(names.iter().all(|it| expected(it)), "{names:?}");
}

#[tokio::test]
async fn changed_tools_are_noticed_and_can_be_called() {
    let rig = Rig::listed([spec("fix", "normal")]).await;
    let mut changes = rig.server().changes();
    rig.text("mcp__fix__grow").await;
    changes.changed().await.unwrap();
    let id = "mcp__fix__grown".parse().unwrap();
    let output = rig.server().call(&id, json!({})).await.unwrap();
    assert_eq!(output.content, [Content::text("new here")]);
    assert_eq!(rig.server().status().tools, 17);
}

#[tokio::test]
async fn a_changed_definition_does_not_run_before_someone_saw_it() {
    let rig = Rig::listed([spec("fix", "normal")]).await;
    let echo = "mcp__fix__echo".parse().unwrap();
    assert_eq!(rig.text("mcp__fix__echo").await, "nothing");
    let mut changes = rig.server().changes();
    rig.text("mcp__fix__grow").await;
    changes.changed().await.unwrap();
    let Observation::Failed(failure) = rig.call("mcp__fix__echo", json!({})).await else {
        panic!("it ran");
    };
    assert_eq!(failure.code, Code::Refused);
    assert!(
        failure.message.contains("changed the definition"),
        "{failure:?}"
    );

    // Taken in, it waits for a person, and goes on waiting however often it is listed.
    for _ in 0..2 {
        rig.resolvers[0].refresh(&rig.cache()).await.unwrap();
        let held = held(&rig);
        let names: Vec<&str> = held.keys().map(|it| it.name()).collect();
        assert_eq!(names, ["echo"], "what is new is not what changed");
        let diff = &held[&echo].diff;
        assert!(diff.contains("\n+ "), "{diff}");
    }

    // A new process of it says what was accepted: there is nothing to wait for.
    let rig = rig.restarted().await;
    assert_eq!(held(&rig).len(), 1);
    let code = rig.call("mcp__fix__echo", json!({})).await.code();
    assert_eq!(code, Some(Code::NotVisible));
    rig.resolvers[0].refresh(&rig.cache()).await.unwrap();
    assert!(held(&rig).is_empty());
    let rig = rig.restarted().await;
    assert_eq!(rig.text("mcp__fix__echo").await, "nothing");
}

fn held(rig: &Rig) -> BTreeMap<CapabilityId, Quarantine> {
    match rig.resolvers[0].offer() {
        Offer::Seen { quarantined, .. } => quarantined,
        Offer::Declared(_) => panic!("a server declares nothing"),
    }
}

#[tokio::test]
async fn a_change_runs_once_a_person_has_accepted_it() {
    let mut spec = spec("fix", "normal");
    spec.new_tools = NewTools::Ask;
    let rig = Rig::listed([spec]).await;
    rig.text("mcp__fix__grow").await;
    rig.resolvers[0].refresh(&rig.cache()).await.unwrap();
    let waits = held(&rig);
    let waits: Vec<_> = waits
        .iter()
        .map(|(id, it)| (id.name(), it.reason))
        .collect();
    assert_eq!(
        waits,
        [
            ("echo", QuarantineReason::Changed),
            ("grown", QuarantineReason::New)
        ]
    );
    for id in ["mcp__fix__echo", "mcp__fix__grown"] {
        rig.pins.accept(&id.parse().unwrap());
    }
    assert!(held(&rig).is_empty());
    rig.resolvers[0].refresh(&rig.cache()).await.unwrap();
    assert!(held(&rig).is_empty());
}

#[tokio::test]
async fn a_user_says_what_tools_do_and_how_they_are_called() {
    let mut said = spec("fix", "normal");
    said.naming = Naming::Bare;
    said.effects.by_tool = [("echo".to_owned(), Effects::READS)].into();
    said.effects.others = Some(Effects::WRITES.with(Effect::Egress));
    let rig = Rig::listed([said]).await;
    let Offer::Seen { descriptors, .. } = rig.resolvers[0].offer() else {
        panic!();
    };
    for it in &descriptors {
        let expected = match it.id.name() {
            "echo" => "reads",
            _ => "reads writes egress",
        };
        assert_eq!(it.effects.to_string(), expected, "{}", it.id);
    }
    assert_eq!(rig.text("echo").await, "nothing");
    assert_eq!(rig.text("mcp__fix__echo").await, "nothing");
    let prefixed = rig.call("fix__echo", json!({})).await;
    assert_eq!(prefixed.code(), Some(Code::NotVisible));
}

#[tokio::test]
async fn a_server_may_have_less_time_than_others() {
    let mut short = spec("fix", "normal");
    short.timeouts.call = Some(Duration::from_millis(50));
    let rig = Rig::listed([short]).await;
    let ended = rig.call("mcp__fix__hang", json!({})).await;
    assert_eq!(ended.code(), Some(Code::DeadlineExceeded));
}
