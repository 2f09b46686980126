use std::sync::Barrier;

use ambit_core::permission::Answer;
use ambit_core::quarantine::{Quarantine, QuarantineReason};
use ambit_mcp::{Definition, Held, Judged, PinStore};

use super::*;

struct Home {
    _directory: tempfile::TempDir,
    places: Places,
}

fn home() -> Home {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_owned();
    let places = Places::new(&|name| (name == "HOME").then(|| path.clone().into())).unwrap();
    Home {
        _directory: directory,
        places,
    }
}

impl Home {
    fn store(&self) -> TrustStore {
        TrustStore::open(&self.places).unwrap()
    }
}

fn bytes(text: &str) -> Digest {
    Digest::of_bytes(text.as_bytes())
}

fn request(call: &str) -> NewRequest {
    NewRequest {
        agent: "coder".into(),
        session: "s1".into(),
        capability: "local__files__write_file".parse().unwrap(),
        definition: bytes("definition"),
        call: bytes(call),
        arguments: "{}".into(),
        why: "it writes".into(),
        yes_for: YesFor::Standing,
    }
}

#[test]
fn a_yes_to_one_call_never_stands() {
    let home = home();
    let store = home.store();
    for answer in [Answer::Always, Answer::Session, Answer::Once] {
        let request = NewRequest {
            yes_for: YesFor::ThisCall,
            ..request(&format!("{answer:?}"))
        };
        let n = store.add_pending(&request).unwrap();
        let (decided, came_to) = store.decide(n, answer).unwrap();
        assert_eq!(
            (decided.request.yes_for, came_to),
            (YesFor::ThisCall, Answer::Once)
        );
        assert_eq!(
            store.take_once(&request.call).unwrap(),
            Some(OnceDecision::Allowed)
        );
    }
    assert!(store.standing(None).unwrap().is_empty());
}

#[test]
fn a_project_is_trusted_as_it_was_accepted() {
    let home = home();
    let (here, there) = (Path::new("/p/ambit.json"), Path::new("/q/ambit.json"));
    let (one, two) = (home.store(), home.store());
    let trust = |path, text| two.project_trust(path, &bytes(text)).unwrap();
    assert_eq!(trust(here, "a"), ProjectTrust::Unknown);
    one.accept_project(here, &bytes("a")).unwrap();
    assert_eq!(trust(here, "a"), ProjectTrust::Trusted);
    assert!(matches!(trust(here, "b"), ProjectTrust::Changed { .. }));
    assert_eq!(trust(there, "a"), ProjectTrust::Unknown);
    one.accept_project(here, &bytes("b")).unwrap();
    one.accept_project(here, &bytes("b")).unwrap();
    assert_eq!(
        (trust(here, "a"), trust(here, "b")),
        (ProjectTrust::Trusted, ProjectTrust::Trusted)
    );
    assert_eq!(two.accepted_projects().unwrap().len(), 2);
    assert_eq!(one.revoke_project(here).unwrap(), 2);
    assert_eq!(trust(here, "a"), ProjectTrust::Unknown);
}

#[test]
fn one_call_is_one_request_and_one_decision() {
    let home = home();
    let (agent, person) = (home.store(), home.store());
    let n = agent.add_pending(&request("a")).unwrap();
    assert_eq!(agent.add_pending(&request("a")).unwrap(), n);
    let waiting = person.pending().unwrap();
    assert_eq!(waiting.len(), 1);
    assert_eq!((waiting[0].n, &waiting[0].request), (n, &request("a")));
    assert_eq!(agent.take_once(&bytes("a")).unwrap(), None);
    person.decide(n, Answer::Once).unwrap();
    assert!(matches!(
        person.decide(n, Answer::Once),
        Err(TrustError::NoSuchRequest(_))
    ));
    assert_eq!(agent.take_once(&bytes("b")).unwrap(), None);
    assert_eq!(
        agent.take_once(&bytes("a")).unwrap(),
        Some(OnceDecision::Allowed)
    );
    assert_eq!(agent.take_once(&bytes("a")).unwrap(), None);
    assert!(person.pending().unwrap().is_empty() && person.standing(None).unwrap().is_empty());
    agent.add_pending(&request("c")).unwrap();
    assert!(agent.withdraw(&bytes("c")).unwrap() && !agent.withdraw(&bytes("c")).unwrap());
}

#[test]
fn answers_reach_as_far_as_they_say() {
    for (answer, decision, scope) in [
        (Answer::Once, Some(OnceDecision::Allowed), None),
        (Answer::Deny, Some(OnceDecision::Denied), None),
        (Answer::Session, None, Some(Scope::Session("s1".into()))),
        (Answer::Always, None, Some(Scope::Always)),
    ] {
        let home = home();
        let store = home.store();
        let n = store.add_pending(&request("a")).unwrap();
        store.decide(n, answer).unwrap();
        assert_eq!(store.take_once(&bytes("a")).unwrap(), decision);
        let standing = store.standing(Some("coder")).unwrap();
        assert_eq!(standing.iter().map(|it| it.scope.clone()).next(), scope);
        assert!(store.standing(Some("other")).unwrap().is_empty());
        store.end_session("s1").unwrap();
        for it in store.standing(None).unwrap() {
            assert_eq!(it.scope, Scope::Always);
            assert!(store.remove_standing(it.n).unwrap() && !store.remove_standing(it.n).unwrap());
        }
    }
}

#[test]
fn a_standing_approval_is_kept_once() {
    let home = home();
    let store = home.store();
    let session = |it: &str| Scope::Session(it.into());
    for scope in [
        session(""),
        Scope::Always,
        session("s1"),
        session(""),
        Scope::Always,
    ] {
        store.add_standing(&request("a"), &scope).unwrap();
    }
    assert_eq!(store.standing(None).unwrap().len(), 3);
}

#[test]
fn of_all_who_ask_one_gets_the_decision() {
    let home = home();
    let barrier = Barrier::new(8);
    for round in 0..10 {
        let call = format!("call {round}");
        let store = home.store();
        let n = store.add_pending(&request(&call)).unwrap();
        store.decide(n, Answer::Once).unwrap();
        let taken = std::thread::scope(|scope| {
            let ask = || {
                let store = home.store();
                barrier.wait();
                store.take_once(&bytes(&call)).unwrap()
            };
            let asking: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            asking
                .into_iter()
                .filter_map(|it| it.join().unwrap())
                .count()
        });
        assert_eq!(taken, 1);
    }
}

#[test]
fn many_may_open_it_at_once() {
    let home = home();
    let barrier = Barrier::new(8);
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (home, barrier) = (&home, &barrier);
            scope.spawn(move || {
                barrier.wait();
                home.store().add_pending(&request(&n.to_string())).unwrap();
            });
        }
    });
    assert_eq!(home.store().pending().unwrap().len(), 8);
}

fn judged(pinned: &[(&str, &str)], held: &[(&str, &str)]) -> Judged {
    let definition = |name: &str, description: &str| {
        let id: CapabilityId = format!("mcp__s__{name}").parse().unwrap();
        let definition = Definition {
            server: "npx (1)".into(),
            name: name.into(),
            title: None,
            description: description.into(),
            input_schema: serde_json::json!({"type": "object"}),
            output_schema: None,
            annotations: None,
        };
        (id, definition)
    };
    Judged {
        pinned: pinned.iter().map(|it| definition(it.0, it.1)).collect(),
        held: held
            .iter()
            .map(|it| {
                let (id, definition) = definition(it.0, it.1);
                let (reason, diff) = (QuarantineReason::Changed, "- a\n+ b".into());
                let quarantine = Quarantine { reason, diff };
                Held {
                    id,
                    definition,
                    quarantine,
                }
            })
            .collect(),
    }
}

#[test]
fn pins_stay_and_what_is_held_back_is_what_the_last_listing_left() {
    let home = home();
    let (store, person) = (home.store(), home.store());
    let accepted = || {
        let accepted = store.accepted("s").unwrap();
        accepted.map(|it| it.values().map(|it| it.len()).collect::<Vec<_>>())
    };
    let held = || {
        store
            .held("s")
            .unwrap()
            .into_keys()
            .map(|it| it.name().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(accepted(), None);
    store.record("s", &judged(&[], &[])).unwrap();
    assert_eq!(accepted(), Some(vec![]));
    store
        .record("s", &judged(&[("a", "1"), ("b", "1")], &[]))
        .unwrap();
    store
        .record("s", &judged(&[("a", "1")], &[("b", "2")]))
        .unwrap();
    assert_eq!(
        (accepted(), held()),
        (Some(vec![1, 1]), vec!["b".to_owned()])
    );
    assert!(store.held("other").unwrap().is_empty());

    // The server has changed it again while somebody was looking.
    let shown = person.held_definitions().unwrap();
    store.record("s", &judged(&[], &[("b", "3")])).unwrap();
    assert!(!person.accept_definition(&shown[0]).unwrap());
    let shown = person.held_definitions().unwrap();
    assert!(person.accept_definition(&shown[0]).unwrap());
    assert!(!person.accept_definition(&shown[0]).unwrap());
    assert_eq!((accepted(), held()), (Some(vec![1, 2]), vec![]));
    let last = |name: &str| {
        let id = format!("mcp__s__{name}").parse().unwrap();
        store.last_accepted(&id).unwrap().map(|it| it.description)
    };
    assert_eq!(
        (last("a"), last("b"), last("c")),
        (Some("1".into()), Some("3".into()), None)
    );
    store.record("s", &judged(&[], &[("a", "2")])).unwrap();
    store.record("s", &judged(&[], &[])).unwrap();
    assert!(held().is_empty());
}

#[test]
fn a_store_of_an_older_version_is_taken_along() {
    let home = home();
    drop(home.store());
    let raw = Connection::open(home.places.trust()).unwrap();
    for table in ["servers", "pins", "held", "tokens", "held_edits"] {
        raw.execute_batch(&format!("DROP TABLE {table}")).unwrap();
    }
    raw.execute_batch("ALTER TABLE pending DROP COLUMN stands; DROP TABLE proposed_edits")
        .unwrap();
    raw.execute_batch("INSERT INTO projects VALUES ('/p', 'x', 1)")
        .unwrap();
    raw.pragma_update(None, "user_version", 1).unwrap();
    drop(raw);
    let store = home.store();
    assert_eq!(store.accepted("s").unwrap(), None);
    let kept = store.project_trust(Path::new("/p"), &bytes("a")).unwrap();
    assert!(matches!(kept, ProjectTrust::Changed { .. }));
}

#[test]
fn a_newer_store_is_refused_and_left_alone() {
    let home = home();
    drop(home.store());
    let raw = Connection::open(home.places.trust()).unwrap();
    raw.pragma_update(None, "user_version", VERSION + 1)
        .unwrap();
    drop(raw);
    let before = std::fs::read(home.places.trust()).unwrap();
    let error = TrustStore::open(&home.places).unwrap_err();
    assert!(matches!(error, TrustError::Newer { found, .. } if found == VERSION + 1));
    assert_eq!(std::fs::read(home.places.trust()).unwrap(), before);
}

#[test]
fn nobody_else_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let home = home();
    let store = home.store();
    store.accept_project(Path::new("/p"), &bytes("a")).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(home.places.state()), 0o700);
    for entry in home.places.state().read_dir().unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{path:?}");
    }
}

#[test]
fn a_token_is_remembered_after_it_was_revoked() {
    let home = home();
    let store = home.store();
    let token = |text| ambit_gateway::http::TokenDigest::of(text);
    let numbers = ["a", "b", "c"].map(|it| store.add_token("coder", &token(it)).unwrap());
    store.add_token("other", &token("d")).unwrap();
    assert!(store.add_token("other", &token("a")).is_err(), "used twice");
    let live = || {
        let tokens = home.store().tokens().unwrap();
        let live = tokens.iter().filter(|it| it.revoked.is_none());
        live.map(|it| it.number).collect::<Vec<_>>()
    };
    let [a, b, c] = numbers;
    assert_eq!(
        store.revoke_tokens("other", Some(b)).unwrap(),
        0,
        "not its own"
    );
    assert_eq!(store.revoke_tokens("coder", Some(b)).unwrap(), 1);
    assert_eq!(live(), [a, c, c + 1]);
    assert_eq!(store.revoke_tokens("coder", None).unwrap(), 2);
    assert_eq!(live(), [c + 1]);
    assert_eq!(store.tokens().unwrap().len(), 4);
    assert_eq!(store.forget_tokens("coder").unwrap(), 3);
    assert_eq!(store.tokens().unwrap().len(), 1);
}

#[test]
fn what_another_process_wrote_is_noticed() {
    let home = home();
    let (one, two) = (home.store(), home.store());
    let before = one.written_elsewhere().unwrap();
    one.add_token("coder", &ambit_gateway::http::TokenDigest::of("a"))
        .unwrap();
    assert_eq!(one.written_elsewhere().unwrap(), before, "its own");
    two.hold_edit(Path::new("/p/ambit.json"), &bytes("a"), "wider")
        .unwrap();
    assert_ne!(one.written_elsewhere().unwrap(), before);
    assert_eq!(one.held_edits().unwrap().len(), 1);
    one.release_edit(Path::new("/p/ambit.json")).unwrap();
    assert_eq!(two.held_edits().unwrap(), []);
}

#[test]
fn a_store_of_the_first_version_is_brought_up() {
    let home = home();
    private_directory(home.places.state()).unwrap();
    let old = Connection::open(home.places.trust()).unwrap();
    old.execute_batch(SCHEMAS[0]).unwrap();
    old.pragma_update(None, "user_version", 1).unwrap();
    drop(old);
    home.store()
        .accept_project(Path::new("/p"), &bytes("a"))
        .unwrap();
    assert_eq!(home.store().tokens().unwrap(), []);
}
