//! What the journal promises to those who append and read.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod journal_support;

use ambit_core::digest::Digest;
use ambit_core::event::EventBody;
use ambit_runtime::journal::{
    Cause, Durability, EventFilter, Journal, JournalError, NewEvent, SessionId,
};
use journal_support::{all, begun, observed, open, put, session, started, wait};

fn caused(body: EventBody, cause: Cause) -> NewEvent {
    NewEvent {
        body,
        cause: Some(cause),
    }
}

#[test]
fn causes_become_numbers() {
    let journal = Journal::in_memory().unwrap();
    let a = session("a");
    let first = journal.append(&a, vec![begun("x").into()], vec![], Durability::Behind);
    let second = journal.append(
        &a,
        vec![
            caused(started("c1"), Cause::Earlier(first.clone())),
            caused(observed("c1"), Cause::InBatch(0)),
        ],
        vec![],
        Durability::Behind,
    );
    let third = journal.append(
        &session("b"),
        vec![caused(begun("y"), Cause::Seq(1)), begun("z").into()],
        vec![],
        Durability::Synced,
    );
    wait(journal.flush()).unwrap();
    assert_eq!(first.range(), Some((1, 1)));
    assert_eq!(second.range(), Some((2, 3)));
    assert_eq!(third.range(), Some((4, 5)));
    let events = all(&journal.reader().unwrap());
    let seen: Vec<_> = events
        .iter()
        .map(|it| (it.seq, it.cause, it.correlation.as_deref()))
        .collect();
    assert_eq!(
        seen,
        [
            (1, None, None),
            (2, Some(1), Some("c1")),
            (3, Some(2), Some("c1")),
            (4, Some(1), None),
            (5, None, None)
        ]
    );
}

#[test]
fn an_event_without_its_cause_is_not_recorded() {
    let journal = Journal::in_memory().unwrap();
    let a = session("a");
    let append = |cause| {
        let event = caused(begun("x"), cause);
        journal.append(&a, vec![event], vec![], Durability::Behind)
    };
    let bad = append(Cause::Seq(7));
    let after_bad = append(Cause::Earlier(bad.clone()));
    let forward = append(Cause::InBatch(0));
    let good = journal.append(&a, vec![begun("x").into()], vec![], Durability::Behind);
    let told = wait(journal.flush());
    for receipt in [bad, after_bad, forward] {
        assert!(matches!(
            wait(receipt.written()),
            Err(JournalError::CauseNotRecorded { index: 0 })
        ));
        assert_eq!(receipt.range(), None);
    }
    assert!(told.is_err(), "a flush tells what was lost");
    assert!(wait(journal.flush()).is_ok(), "once");
    assert_eq!(good.range(), Some((1, 1)));
    assert_eq!(journal.reader().unwrap().verify().unwrap().events, 1);
}

#[test]
fn an_event_is_one_flat_object() {
    let journal = Journal::in_memory().unwrap();
    put(&journal, "s", begun("x"));
    let event = caused(observed("c1"), Cause::Seq(1));
    let receipt = journal.append(&session("s"), vec![event], vec![], Durability::Written);
    wait(receipt.written()).unwrap();
    let event = all(&journal.reader().unwrap()).remove(1);
    let text = serde_json::to_string(&event).unwrap();
    let at = format!("{:.6}", event.at);
    assert_eq!(at.len(), "2026-11-15T11:22:33.000000Z".len());
    let expected = format!(
        r#"{{"seq":2,"session":"s","at":"{at}","type":"tool.observation","call":"c1","status":"completed","bytes":2,"digest":"{}","excerpt":"ok","untrusted":false,"durationMs":3,"cause":1,"correlation":"c1","hash":"{}"}}"#,
        Digest::of_bytes(b"ok"),
        event.hash
    );
    assert_eq!(text, expected);
}

#[test]
fn what_waits_is_written_when_the_last_handle_goes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.db");
    let journal = open(&path);
    let receipt = journal.append(
        &session("a"),
        vec![begun("x").into()],
        vec![],
        Durability::Behind,
    );
    drop(journal.clone());
    drop(journal);
    assert_eq!(receipt.range(), Some((1, 1)));
    let reader = Journal::open_read_only(&path).unwrap();
    assert_eq!(all(&reader).len(), 1);
}

#[test]
fn nobody_has_to_ask_for_what_is_behind() {
    let journal = Journal::in_memory().unwrap();
    let receipt = journal.append(
        &session("a"),
        vec![begun("x").into()],
        vec![],
        Durability::Behind,
    );
    assert_eq!(wait(receipt.written()).unwrap(), (1, 1));
}

#[test]
fn several_writers_share_a_session() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.db");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || {
                let journal = open(path);
                for n in 0..50 {
                    put(&journal, "shared", started(&format!("w{writer}-{n}")));
                    put(&journal, &format!("own-{writer}"), observed("c"));
                }
            });
        }
    });
    let reader = Journal::open_read_only(&path).unwrap();
    let report = reader.verify().unwrap();
    assert_eq!((report.events, report.sessions), (400, 5));
    assert_eq!(report.damage, None);
    assert_eq!(report.unfinished.len(), 200);
    let shared = EventFilter {
        session: Some(session("shared")),
        ..EventFilter::default()
    };
    assert_eq!(reader.events(&shared).unwrap().len(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(&dir.path().join("journal.db"));
    let callers: Vec<_> = (0..128)
        .map(|caller| {
            let journal = journal.clone();
            tokio::spawn(async move {
                let session = SessionId::generate();
                let mut acknowledged = Vec::new();
                for n in 0..5 {
                    let call = format!("{caller}-{n}");
                    let events = vec![started(&call).into()];
                    let receipt = journal.append(&session, events, vec![], Durability::Synced);
                    acknowledged.push((receipt.written().await.unwrap().0, call));
                }
                acknowledged
            })
        })
        .collect();
    let mut acknowledged = Vec::new();
    for caller in callers {
        acknowledged.extend(caller.await.unwrap());
    }
    acknowledged.sort();
    let reader = journal.reader().unwrap();
    let recorded: Vec<_> = all(&reader)
        .into_iter()
        .map(|it| (it.seq, it.correlation.unwrap()))
        .collect();
    assert_eq!(acknowledged, recorded);
    assert_eq!(reader.verify().unwrap().damage, None);
}

#[test]
fn sessions_are_found_as_people_name_them() {
    let journal = Journal::in_memory().unwrap();
    for (name, agent) in [
        ("20261115-112233-x7k2p9", "one"),
        ("20261115-112244-abcdef", "two"),
        ("20261116-090000-qqqqqq", "three"),
    ] {
        put(&journal, name, begun(agent));
    }
    put(&journal, "20261115-112233-x7k2p9", started("c"));
    let reader = journal.reader().unwrap();
    let sessions: Vec<_> = reader
        .sessions()
        .unwrap()
        .into_iter()
        .map(|it| (it.agent.unwrap(), it.events, it.started <= it.last))
        .collect();
    let expected = [("one", 2, true), ("two", 1, true), ("three", 1, true)];
    assert_eq!(
        sessions,
        expected.map(|(agent, events, order)| (agent.to_owned(), events, order))
    );
    let check = |text: &str, expected: &str| {
        let found = match reader.find_session(text) {
            Ok(id) => id.to_string(),
            Err(error) => format!("{error}; {}", error.hint().unwrap_or_default()),
        };
        assert!(found.contains(expected), "{text}: {found}");
    };
    check("last", "20261116-090000-qqqqqq");
    check("20261115-112244-abcdef", "20261115-112244-abcdef");
    check("20261115-112233", "20261115-112233-x7k2p9");
    check(
        "20261115",
        "several sessions begin with `20261115`; did you mean `20261115-112233",
    );
    check(
        "20261116-090000-qqqqqx",
        "did you mean `20261116-090000-qqqqqq`?",
    );
    check("nothing", "no session is named `nothing`");
    check("", "no session is named ``");
}

#[test]
fn a_filter_narrows() {
    let journal = Journal::in_memory().unwrap();
    journal_support::fill(&journal, 12);
    let reader = journal.reader().unwrap();
    let check = |filter: EventFilter, expected: &[u64]| {
        let events = reader.events(&filter).unwrap();
        let numbers: Vec<_> = events.iter().map(|it| it.seq).collect();
        assert_eq!(numbers, expected, "{filter:?}");
    };
    let filter = EventFilter::default;
    check(
        EventFilter {
            session: Some(session("a")),
            after: Some(5),
            ..filter()
        },
        &[7, 9, 11],
    );
    check(
        EventFilter {
            types: vec!["session.started".to_owned(), "tool.observation".to_owned()],
            limit: Some(3),
            ..filter()
        },
        &[1, 2, 5],
    );
    check(
        EventFilter {
            session: Some(session("nobody")),
            ..filter()
        },
        &[],
    );
    check(
        EventFilter {
            after: Some(u64::MAX),
            ..filter()
        },
        &[],
    );
}

#[test]
fn objects_are_kept_once() {
    let journal = Journal::in_memory().unwrap();
    let digest = Digest::of_bytes(b"x");
    for json in ["{}", "{\"second\":true}"] {
        let objects = vec![(digest, json.to_owned())];
        let receipt = journal.append(&session("a"), vec![], objects, Durability::Written);
        assert_eq!(wait(receipt.written()).unwrap(), (0, 0));
    }
    let reader = journal.reader().unwrap();
    assert_eq!(reader.object(&digest).unwrap().as_deref(), Some("{}"));
    assert_eq!(reader.object(&Digest::ZERO).unwrap(), None);
}

#[test]
fn more_than_fits_in_memory_is_refused() {
    let journal = Journal::in_memory().unwrap();
    let objects = vec![(Digest::ZERO, " ".repeat(65 << 20))];
    let receipt = journal.append(&session("a"), vec![], objects, Durability::Synced);
    assert!(matches!(
        wait(receipt.written()),
        Err(JournalError::Overloaded { .. })
    ));
    assert_eq!(put(&journal, "a", begun("x")), (1, 1));
}

#[cfg(unix)]
#[test]
fn only_its_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.db");
    let journal = open(&path);
    put(&journal, "a", begun("x"));
    for name in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        let mode = std::fs::metadata(dir.path().join(name))
            .unwrap()
            .permissions();
        assert_eq!(mode.mode() & 0o777, 0o600, "{name}");
    }
}
