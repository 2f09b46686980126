use std::path::PathBuf;
use std::sync::Arc;

use ambit_core::digest::Digest;
use ambit_core::event::{EventBody, ObservationRecord};
use ambit_core::intent::CallId;
use ambit_core::observation::{Failure, Observation};
use ambit_core::permission::Mode;
use ambit_core::redact::Redactor;
use ambit_core::run::ModelUsage;
use ambit_runtime::journal::{Durability, Journal, SessionId};
use ambit_testkit::{Bench, call, events};
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::index::Pace;
use super::threads::Threads;
use super::{Added, HistoryResolver, Transcript, Transcripts, tools};
use crate::store::Store;
use crate::{Builtins, Clock, OpenJournal};

/// A journal and a store, and sessions written line by line.
struct Past {
    folder: TempDir,
    journal: Journal,
}

fn clock() -> Clock {
    Arc::new(|| "2026-11-15T12:00:00Z".parse().unwrap())
}

fn opening(journal: &Journal) -> OpenJournal {
    let journal = journal.clone();
    Arc::new(move || journal.reader().map(Some))
}

impl Past {
    fn new() -> Self {
        Past {
            folder: TempDir::new().unwrap(),
            journal: Journal::in_memory().unwrap(),
        }
    }

    fn store(&self) -> Arc<Store> {
        Store::at(self.folder.path())
    }

    fn of(&self, agent: &str) -> Threads {
        Threads {
            store: self.store(),
            journal: Some(opening(&self.journal)),
            agent: agent.to_owned(),
            workspace: PathBuf::from("/w"),
            current: None,
            pace: Pace::default(),
        }
    }

    /// `user: …`, `assistant: …`, `call: …`, `result: …` or `outside: …`.
    async fn session(&self, name: &str, agent: &str, workspace: &str, lines: &[&str]) {
        let mut bodies = vec![EventBody::SessionStarted {
            agent: agent.to_owned(),
            mode: Mode::Auto,
            workspace: workspace.to_owned(),
            version: "0".to_owned(),
            front: None,
        }];
        bodies.extend(lines.iter().map(|it| body(it)));
        let session: SessionId = name.parse().unwrap();
        let events = bodies.into_iter().map(Into::into).collect();
        let receipt = self
            .journal
            .append(&session, events, Vec::new(), Durability::Written);
        receipt.written().await.unwrap();
    }
}

fn body(line: &str) -> EventBody {
    let (role, text) = line.split_once(": ").unwrap();
    let text = text.to_owned();
    match role {
        "user" => EventBody::MessageUser {
            text,
            message: Digest::ZERO,
        },
        "assistant" => EventBody::ModelResponded {
            turn: 1,
            text,
            intents: Vec::new(),
            stop: "answered".to_owned(),
            usage: ModelUsage::default(),
            message: Digest::ZERO,
        },
        "call" => EventBody::ToolIntent {
            call: CallId("c".to_owned()),
            turn: 1,
            id: text.parse().ok(),
            target: text,
            via: None,
            arguments: json!({}),
            digest: Digest::ZERO,
        },
        _ => EventBody::ToolObservation(ObservationRecord {
            call: CallId("c".to_owned()),
            status: "completed".to_owned(),
            code: None,
            reason: None,
            bytes: 0,
            digest: Digest::ZERO,
            excerpt: text,
            result_ref: None,
            untrusted: role == "outside",
            duration_ms: 0,
        }),
    }
}

fn parse(text: &str) -> Result<Transcript, super::TranscriptError> {
    Transcript::parse(text, &Redactor::new([]))
}

/// What a tool says, or the refusal with its code before it; `!` before what came from outside.
fn text(threads: &Threads, name: &str, arguments: Value) -> String {
    let tool = tools::TOOLS.iter().find(|it| it.name == name).unwrap();
    match (tool.run)(threads, arguments) {
        Ok(output) => {
            let mark = if output.from_outside { "! " } else { "" };
            format!("{mark}{}", output.content[0].as_text().unwrap())
        }
        Err(Failure { code, message, .. }) => format!("{}: {message}", code.as_str()),
    }
}

/// What a search finds, without the days.
#[track_caller]
fn check(threads: &Threads, query: &str, expected: Expect) {
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let said = text(threads, "search_threads", json!({"query": query}));
    expected.assert_eq(&said.replace(&today, "today"));
}

const FLAKY: &[&str] = &[
    "user: why is the parser test flaky?",
    "assistant: I look at it.",
    "call: files__read_file",
    "result: fn parses_dates() uses the clock of the machine",
    "assistant: The clock is the reason. I would pass the time in.",
    "user: do that",
];

#[tokio::test]
async fn the_best_place_of_each_thread_is_found_with_what_is_around() {
    let past = Past::new();
    past.session("s1", "coder", "/w", FLAKY).await;
    let deploy = [
        "user: deploy the release",
        "outside: the machine answers 200",
    ];
    past.session("s2", "coder", "/w", &deploy).await;
    past.session(
        "s3",
        "coder",
        "/elsewhere",
        &["user: clock of another workspace"],
    )
    .await;
    past.session("s4", "other", "/w", &["user: clock of another agent"])
        .await;
    let threads = past.of("coder");
    check(
        &threads,
        "what was it about clocks?",
        expect![[r#"
            s1: why is the parser test flaky? (today)
              [3] assistant: I look at it.
              [4] call: files__read_file {}
            > [5] result: fn parses_dates() uses the clock of the machine
              [6] assistant: The clock is the reason. I would pass the time in.
              [7] user: do that"#]],
    );
    check(
        &threads,
        "the machine",
        expect![[r#"
            ! s2: deploy the release (today)
              [9] user: deploy the release
            > [10] result: the machine answers 200

            s1: why is the parser test flaky? (today)
              [3] assistant: I look at it.
              [4] call: files__read_file {}
            > [5] result: fn parses_dates() uses the clock of the machine
              [6] assistant: The clock is the reason. I would pass the time in.
              [7] user: do that"#]],
    );
    check(
        &threads,
        "elephants OR (",
        expect!["no earlier conversation has any of these words; try others"],
    );
    let now = Threads {
        current: Some("s1".to_owned()),
        ..past.of("coder")
    };
    check(
        &now,
        "clock",
        expect!["no earlier conversation has any of these words; try others"],
    );
    // What is said later is found by the next search.
    past.session("s5", "coder", "/w", &["user: another clock"])
        .await;
    assert!(text(&now, "search_threads", json!({"query": "clock"})).starts_with("s5: "));
}

#[tokio::test]
async fn a_thread_is_read_in_pages() {
    let past = Past::new();
    past.session("s1", "coder", "/w", FLAKY).await;
    let threads = past.of("coder");
    let mut read = Vec::new();
    let mut from = 0;
    loop {
        let tool = tools::TOOLS
            .iter()
            .find(|it| it.name == "read_thread")
            .unwrap();
        let output =
            (tool.run)(&threads, json!({"thread": "s1", "from": from, "limit": 4})).unwrap();
        let page = output.structured.unwrap();
        for it in page["messages"].as_array().unwrap() {
            read.push(format!(
                "{}: {}",
                it["role"].as_str().unwrap(),
                it["text"].as_str().unwrap()
            ));
        }
        match page["next"].as_i64() {
            Some(next) => from = next,
            None => break,
        }
    }
    let mut expected: Vec<String> = FLAKY.iter().map(|it| (*it).to_owned()).collect();
    expected[2] += " {}";
    assert_eq!(read, expected);
    for (thread, from, said) in [
        ("s1", 99, "s1: why is the parser test flaky?"),
        (
            "s9",
            0,
            "refused: there is no thread `s9` of yours: search_threads finds those there are",
        ),
        ("../x", 0, "refused: there is no thread `../x` of yours"),
    ] {
        let arguments = json!({"thread": thread, "from": from});
        let answer = text(&threads, "read_thread", arguments.clone());
        assert!(answer.starts_with(said), "{answer}");
        let other = text(&past.of("other"), "read_thread", arguments);
        assert!(other.starts_with("refused: there is no thread"), "{other}");
    }
}

#[tokio::test]
async fn a_long_history_is_taken_in_step_by_step() {
    let past = Past::new();
    for n in 0..10 {
        past.session(
            &format!("s{n}"),
            "coder",
            "/w",
            &["user: alpha", "assistant: beta"],
        )
        .await;
    }
    let threads = Threads {
        pace: Pace {
            batch: 4,
            batches: 2,
        },
        ..past.of("coder")
    };
    let mut found = Vec::new();
    for _ in 0..5 {
        let said = text(
            &threads,
            "search_threads",
            json!({"query": "beta", "limit": 20}),
        );
        let behind = said.ends_with("search again for it");
        found.push((said.matches("> [").count(), behind));
    }
    assert_eq!(
        found,
        [(2, true), (5, true), (8, true), (10, false), (10, false)]
    );
}

#[tokio::test]
async fn a_search_is_never_found_however_it_was_taken_in() {
    let past = Past::new();
    let lines = [
        "call: local__history__search_threads",
        "result: an alpha that was found",
    ];
    past.session("s1", "coder", "/w", &lines).await;
    let threads = Threads {
        pace: Pace {
            batch: 1,
            batches: 1,
        },
        ..past.of("coder")
    };
    for _ in 0..5 {
        let said = text(&threads, "search_threads", json!({"query": "alpha"}));
        assert!(said.starts_with("no earlier"), "{said}");
    }
}

#[tokio::test]
async fn another_journal_is_read_from_its_beginning() {
    let mut past = Past::new();
    past.session("s1", "coder", "/w", FLAKY).await;
    let imported = parse(r#"[{"role": "user", "content": "clock from elsewhere"}]"#).unwrap();
    let transcripts = Transcripts::new(past.store(), clock());
    transcripts.add("coder", "file.json", &imported).unwrap();
    let find = json!({"query": "clock"});
    let said = text(&past.of("coder"), "search_threads", find.clone());
    assert!(
        said.contains("s1: ") && said.contains("elsewhere"),
        "{said}"
    );
    past.journal = Journal::in_memory().unwrap();
    past.session("s2", "coder", "/w", &["user: a new clock"])
        .await;
    let said = text(&past.of("coder"), "search_threads", find);
    assert!(
        !said.contains("s1: ") && said.contains("s2: ") && said.contains("elsewhere"),
        "{said}"
    );
}

#[tokio::test]
async fn imported_conversations_are_found_once_and_marked() {
    let past = Past::new();
    let transcripts = Transcripts::new(past.store(), clock());
    let line = |n: usize| json!({"sessionId": "x", "type": "user", "message": {"role": "user", "content": format!("zebra {n}")}});
    let one = parse(&line(1).to_string()).unwrap();
    let two = parse(&format!("{}\n{}", line(1), line(2))).unwrap();
    let (thread, added) = transcripts.add("coder", "x.jsonl", &one).unwrap();
    assert_eq!(added, Added::New);
    assert_eq!(
        transcripts.add("coder", "x.jsonl", &one).unwrap(),
        (thread.clone(), Added::Known)
    );
    assert_ne!(transcripts.add("other", "x.jsonl", &one).unwrap().0, thread);
    let threads = past.of("coder");
    let find = |query: &str| {
        text(&threads, "search_threads", json!({"query": query})).replace(&thread, "T")
    };
    assert_eq!(
        find("zebras"),
        "! T: zebra 1 (imported)\n> [1] user: zebra 1"
    );
    // It has gone on since.
    assert_eq!(
        transcripts.add("coder", "x.jsonl", &two).unwrap(),
        (thread.clone(), Added::Replaced)
    );
    assert_eq!(
        find("zebra 2"),
        "! T: zebra 1 (imported)\n  [1] user: zebra 1\n> [2] user: zebra 2"
    );
    let listed = transcripts.list().unwrap();
    let listed: Vec<_> = listed
        .iter()
        .map(|it| (it.agent.as_str(), it.messages))
        .collect();
    assert_eq!(listed.len(), 2);
    assert!(listed.contains(&("coder", 2)) && listed.contains(&("other", 1)));
    // Elsewhere, it is found again.
    let there = TempDir::new().unwrap();
    let store = Store::at(there.path());
    store.import(&past.store().export().unwrap()).unwrap();
    let moved = Threads {
        store,
        ..past.of("coder")
    };
    assert!(text(&moved, "search_threads", json!({"query": "zebra"})).contains("zebra 2"));
    assert!(transcripts.remove(&thread).unwrap());
    assert!(!transcripts.remove(&thread).unwrap());
    assert!(find("zebra").starts_with("no earlier"), "{}", find("zebra"));
}

#[tokio::test]
async fn what_came_from_outside_is_still_from_there() {
    let bench = Bench::default();
    let journal = Journal::in_memory().unwrap();
    let store = Store::at(&bench.folder.path().join("data"));
    let transcripts = Transcripts::new(Arc::clone(&store), clock());
    let imported = parse(r#"[{"role": "user", "content": "zebra"}]"#).unwrap();
    transcripts.add("tester", "x", &imported).unwrap();
    let builtins = Builtins {
        journal: Some(opening(&journal)),
        ..Builtins::new(store)
    };
    let resolver = Arc::new(HistoryResolver(builtins));
    let bench = bench.journal(journal.clone()).with(resolver, json!({}));
    let market = bench.market();
    let session = bench.session_on(&market, Mode::ReadOnly).await;
    let search = async |session: &_, query: &str| {
        let report = call(session, "history__search_threads", json!({"query": query})).await;
        match report.observation {
            Observation::Completed(it) => (
                it.untrusted,
                it.output.content[0].as_text().unwrap().to_owned(),
            ),
            other => panic!("{other:?}"),
        }
    };
    assert!(search(&session, "zebra").await.0);
    // Neither this conversation nor earlier searches are found.
    journal.flush().await.unwrap();
    for session in [&session, &bench.session(Mode::ReadOnly).await] {
        let (untrusted, said) = search(session, "search_threads query").await;
        assert!(!untrusted && said.starts_with("no earlier"), "{said}");
    }
    let taints = events(&market, &session).await;
    let taints: Vec<bool> = taints
        .iter()
        .filter_map(|it| match &it.body {
            EventBody::ToolPermission { input, .. } => Some(input.taint.saw_untrusted),
            _ => None,
        })
        .collect();
    assert_eq!(taints, [false, true], "it counts for the calls after it");
    for (tool, arguments, code) in [
        (
            "search_threads",
            json!({"query": "x".repeat(1001)}),
            "input_invalid",
        ),
        ("search_threads", json!({"query": "?"}), "refused"),
        ("search_threads", json!({}), "input_invalid"),
        ("read_thread", json!({"thread": ""}), "input_invalid"),
        (
            "read_thread",
            json!({"thread": "x", "from": -1}),
            "input_invalid",
        ),
        (
            "read_thread",
            json!({"thread": "x", "limit": 201}),
            "input_invalid",
        ),
        ("read_thread", json!({"thread": "x"}), "refused"),
    ] {
        let ended = call(&session, &format!("history__{tool}"), arguments.clone())
            .await
            .observation;
        assert_eq!(ended.code().unwrap().as_str(), code, "{tool} {arguments}");
    }
}

#[tokio::test]
async fn without_a_journal_there_is_nothing() {
    let store = Store::at("nowhere".as_ref());
    let bench = Bench::default().with(Arc::new(HistoryResolver(Builtins::new(store))), json!({}));
    let ended = bench
        .call(Mode::Auto, "history__search_threads", json!({"query": "x"}))
        .await;
    assert_eq!(ended.code().unwrap().as_str(), "not_visible");
}
