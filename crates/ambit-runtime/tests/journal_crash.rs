//! `kill -9` while effects are acknowledged: the record of none is lost.
//!
//! This binary runs itself as the process that is killed. `AMBIT_CRASH_ROUNDS` says how often.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod journal_support;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use ambit_runtime::journal::{Durability, Journal, SessionId};
use journal_support::{all, started};

const CHILD: &str = "AMBIT_CRASH_CHILD";

/// Rounds that share a journal, so that what one leaves behind the next one finds.
const ROUNDS_PER_JOURNAL: usize = 10;

#[test]
fn no_acknowledged_start_is_lost() {
    let rounds = std::env::var("AMBIT_CRASH_ROUNDS")
        .ok()
        .and_then(|it| it.parse().ok())
        .unwrap_or(20);
    let mut dir = tempfile::tempdir().unwrap();
    let mut repaired = 0;
    let mut acknowledged = 0;
    for round in 0..rounds {
        if round % ROUNDS_PER_JOURNAL == 0 {
            dir = tempfile::tempdir().unwrap();
        }
        let path = dir.path().join("journal.db");
        // Every other round, two processes write at once and are killed one after the other.
        let killed = std::thread::scope(|scope| {
            let children: Vec<_> = (0..=round % 2)
                .map(|_| scope.spawn(|| kill_one(dir.path())))
                .collect();
            let killed = children.into_iter().flat_map(|it| it.join().unwrap());
            killed.collect::<Vec<_>>()
        });
        let (journal, report) = Journal::open(&path).unwrap();
        repaired += usize::from(report.repaired.is_some());
        let reader = journal.reader().unwrap();
        let events = all(&reader);
        for (seq, call) in &killed {
            let event = events.get(usize::try_from(seq - 1).unwrap());
            let found = event.and_then(|it| it.correlation.as_deref());
            assert_eq!(found, Some(call.as_str()), "round {round}: event {seq}");
        }
        assert_eq!(reader.verify().unwrap().damage, None, "round {round}");
        acknowledged += killed.len();
    }
    eprintln!("{rounds} rounds, {acknowledged} acknowledged, {repaired} torn tails");
}

/// Runs a child until it has acknowledged a random number of starts, kills it, and returns
/// everything it had acknowledged by then.
fn kill_one(dir: &Path) -> Vec<(u64, String)> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_child", "--nocapture"])
        .env(CHILD, dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut random = [0; 1];
    getrandom::fill(&mut random).unwrap();
    let mut acknowledged = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let Some((seq, call)) = line.strip_prefix("ack ").and_then(|it| it.split_once(' ')) else {
            continue;
        };
        acknowledged.push((seq.parse().unwrap(), call.to_owned()));
        if acknowledged.len() == 1 + usize::from(random[0]) / 4 {
            // What the child is writing just now is not damage to anybody else.
            let (beside, report) = Journal::open(&dir.join("journal.db")).unwrap();
            assert_eq!(report.repaired, None);
            drop(beside);
            child.kill().unwrap();
        }
    }
    assert!(
        !child.wait().unwrap().success(),
        "the child ended by itself"
    );
    acknowledged
}

/// Appends until it is killed. Does nothing as an ordinary test.
#[test]
fn the_child() {
    let Some(dir) = std::env::var_os(CHILD) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    runtime.block_on(async {
        let (journal, _) = Journal::open(&Path::new(&dir).join("journal.db")).unwrap();
        // The harness leaves its own line unfinished.
        writeln!(std::io::stdout()).unwrap();
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let journal = journal.clone();
                tokio::spawn(async move {
                    let session = SessionId::generate();
                    for n in 0.. {
                        let call = format!("{session}-{n}");
                        let events = vec![started(&call).into()];
                        let receipt = journal.append(&session, events, vec![], Durability::Synced);
                        let (seq, _) = receipt.written().await.unwrap();
                        let line = format!("ack {seq} {call}\n");
                        std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            let _ = task.await;
        }
    });
}
