//! What is started, and when, while the time passes as a test says.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ambit_runtime::CancellationToken;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{Duration, Instant, sleep};

use super::super::*;
use crate::Clock;

/// A starter that says what it was told to start, and ends when it is let.
struct Scripted {
    started: mpsc::UnboundedSender<DueRun>,
    ends: Arc<Semaphore>,
}

#[async_trait]
impl Starter for Scripted {
    async fn start(&self, run: DueRun) -> RunEnd {
        let prompt = run.prompt.clone();
        self.started.send(run).unwrap();
        self.ends.acquire().await.unwrap().forget();
        match prompt.as_str() {
            "fail" => RunEnd::Failed("it failed".to_owned()),
            "panic" => panic!("as told"),
            _ => RunEnd::Done("it is done".to_owned()),
        }
    }
}

/// A workspace in which time is tokio's, beginning at 2026-03-29T00:00Z.
struct Stage {
    folder: TempDir,
    clock: Clock,
    started: mpsc::UnboundedReceiver<DueRun>,
    starter: Arc<Scripted>,
}

impl Stage {
    fn new(ends: usize) -> Self {
        let begun = Instant::now();
        let (sender, started) = mpsc::unbounded_channel();
        Stage {
            folder: tempfile::tempdir().unwrap(),
            clock: Arc::new(move || {
                let gone = SignedDuration::try_from(begun.elapsed()).unwrap();
                "2026-03-29T00:00Z".parse::<Timestamp>().unwrap() + gone
            }),
            started,
            starter: Arc::new(Scripted {
                started: sender,
                ends: Arc::new(Semaphore::new(ends)),
            }),
        }
    }

    fn store(&self) -> Arc<Store> {
        Store::at(&self.folder.path().join("data"))
    }

    fn workspace(&self) -> &Path {
        self.folder.path()
    }

    /// A trigger, named as its prompt.
    fn add(&self, schedule: Schedule, prompt: &str, missed: Missed) {
        let now = kept((self.clock)());
        let seen = match &schedule {
            Schedule::Watch { glob, .. } => Some(watch::look(self.workspace(), glob)),
            _ => None,
        };
        let trigger = Trigger {
            id: prompt.to_owned(),
            owner: "a".to_owned(),
            schedule,
            prompt: prompt.to_owned(),
            missed,
            paused: false,
            anchor: now,
            last: now,
            seen,
            secret: Some(webhook::digest("token")),
            created: now,
        };
        let store = self.store();
        store
            .write(|transaction| Roster { transaction, now }.add(&trigger))
            .unwrap();
    }

    fn begin(&self) -> (JoinHandle<()>, CancellationToken) {
        let stop = CancellationToken::new();
        let scheduler = Scheduler {
            store: self.store(),
            clock: Arc::clone(&self.clock),
            workspace: self.workspace().to_owned(),
            starter: Arc::clone(&self.starter) as _,
        };
        (tokio::spawn(scheduler.run(stop.clone())), stop)
    }

    /// When the next run is started, for which due time, and how many were missed.
    async fn next(&mut self) -> String {
        let run = self.started.recv().await.unwrap();
        let now = (self.clock)();
        let late = now.duration_since(run.due).as_secs();
        let missed = match run.missed {
            0 => String::new(),
            missed => format!(" missed {missed}"),
        };
        let due = run.due.strftime("%dT%H:%M:%S");
        format!(
            "{} {} {due} +{late}{missed}",
            run.prompt,
            run.reason.as_str()
        )
    }

    fn states(&self) -> Vec<String> {
        let overview = Overview::new(self.store(), Arc::clone(&self.clock));
        let runs = overview.history(None, 100).unwrap();
        runs.iter()
            .map(|(_, run)| {
                format!(
                    "{} {}",
                    run["trigger"].as_str().unwrap(),
                    run["state"].as_str().unwrap()
                )
            })
            .collect()
    }
}

async fn end((handle, stop): (JoinHandle<()>, CancellationToken)) {
    stop.cancel();
    handle.await.unwrap();
}

fn cron(text: &str) -> Schedule {
    Schedule::cron(text, "Europe/Berlin").unwrap()
}

#[tokio::test(start_paused = true)]
async fn due_times_are_started_when_they_come_across_a_change_of_clocks() {
    let mut stage = Stage::new(100);
    stage.add(cron("30 2 * * *"), "night", Missed::Once);
    stage.add(cron("0 9 * * *"), "morning", Missed::Skip);
    let duty = stage.begin();
    for expected in ["night due 29T01:30:00 +0", "morning due 29T07:00:00 +0"] {
        assert_eq!(stage.next().await, expected);
    }
    end(duty).await;
}

#[tokio::test(start_paused = true)]
async fn what_nobody_was_there_for_is_made_up_for_once_or_not_at_all() {
    let mut stage = Stage::new(100);
    stage.add(Schedule::every("1h").unwrap(), "once", Missed::Once);
    stage.add(Schedule::every("1h").unwrap(), "skip", Missed::Skip);
    sleep(Duration::from_secs(3 * 3600 + 600)).await;
    let duty = stage.begin();
    assert_eq!(stage.next().await, "once due 29T03:00:00 +600 missed 3");
    assert_eq!(stage.next().await, "once due 29T04:00:00 +0");
    assert_eq!(stage.next().await, "skip due 29T04:00:00 +0");
    end(duty).await;
}

#[tokio::test(start_paused = true)]
async fn a_restart_starts_nothing_again_and_tells_what_was_interrupted() {
    let mut stage = Stage::new(0);
    stage.add(Schedule::every("1h").unwrap(), "a", Missed::Once);
    let duty = stage.begin();
    assert_eq!(stage.next().await, "a due 29T01:00:00 +0");
    // As if it were killed: nothing is written any more.
    duty.0.abort();
    assert!(duty.0.await.unwrap_err().is_cancelled());
    assert_eq!(stage.states(), ["a running"]);
    stage.starter.ends.add_permits(100);
    let duty = stage.begin();
    assert_eq!(stage.next().await, "a due 29T02:00:00 +0");
    assert_eq!(stage.next().await, "a due 29T03:00:00 +0");
    assert_eq!(stage.states()[1..], ["a done", "a interrupted"]);
    end(duty).await;
}

#[tokio::test(start_paused = true)]
async fn stopping_ends_what_runs_and_says_so() {
    let mut stage = Stage::new(0);
    stage.add(Schedule::every("1h").unwrap(), "a", Missed::Once);
    let duty = stage.begin();
    stage.next().await;
    end(duty).await;
    assert_eq!(stage.states(), ["a interrupted"]);
}

#[tokio::test(start_paused = true)]
async fn a_trigger_never_runs_beside_itself() {
    let mut stage = Stage::new(0);
    stage.add(Schedule::every("10m").unwrap(), "long", Missed::Once);
    let duty = stage.begin();
    assert_eq!(stage.next().await, "long due 29T00:10:00 +0");
    sleep(Duration::from_secs(25 * 60)).await;
    stage.starter.ends.add_permits(1);
    assert_eq!(stage.next().await, "long due 29T00:30:00 +300 missed 2");
    end(duty).await;
}

#[tokio::test(start_paused = true)]
async fn only_so_many_run_at_once_and_the_rest_waits() {
    let mut stage = Stage::new(0);
    for name in ["a", "b", "c", "d", "e"] {
        stage.add(Schedule::every("1h").unwrap(), name, Missed::Skip);
    }
    let duty = stage.begin();
    for name in ["a", "b", "c", "d"] {
        assert_eq!(stage.next().await, format!("{name} due 29T01:00:00 +0"));
    }
    sleep(Duration::from_secs(30)).await;
    assert!(stage.started.try_recv().is_err());
    stage.starter.ends.add_permits(1);
    assert_eq!(stage.next().await, "e due 29T01:00:00 +30");
    end(duty).await;
}

#[tokio::test(start_paused = true)]
async fn two_on_one_store_start_each_due_time_once() {
    let mut stage = Stage::new(1_000);
    stage.add(Schedule::every("1m").unwrap(), "a", Missed::Once);
    let (first, second) = (stage.begin(), stage.begin());
    for minute in 1..=10 {
        assert_eq!(stage.next().await, format!("a due 29T00:{minute:02}:00 +0"));
    }
    // The other takes over.
    end(first).await;
    let after = stage.next().await;
    assert!(after.starts_with("a due 29T00:11:00"), "{after}");
    end(second).await;
    let mut runs = stage.states().len();
    stage.started.close();
    while stage.started.recv().await.is_some() {
        runs += 1;
    }
    assert_eq!(runs, 11);
}

#[tokio::test(start_paused = true)]
async fn how_it_ends_is_kept_and_what_was_asked_for_is_started() {
    let mut stage = Stage::new(100);
    stage.add(Schedule::Webhook, "hook", Missed::Once);
    stage.add(Schedule::every("1h").unwrap(), "fail", Missed::Once);
    stage.add(Schedule::every("1h").unwrap(), "panic", Missed::Once);
    receive(&stage.store(), (stage.clock)(), "hook", "token", b"hello").unwrap();
    receive(&stage.store(), (stage.clock)(), "hook", "token", b"").unwrap();
    let duty = stage.begin();
    let first = stage.started.recv().await.unwrap();
    assert_eq!(
        (first.reason, first.payload.as_deref()),
        (RunReason::Webhook, Some("hello"))
    );
    assert_eq!(stage.started.recv().await.unwrap().payload, None);
    assert_eq!(stage.next().await, "fail due 29T01:00:00 +0");
    assert_eq!(stage.next().await, "panic due 29T01:00:00 +0");
    sleep(Duration::from_secs(60)).await;
    let mut states = stage.states();
    states.sort();
    assert_eq!(
        states,
        ["fail failed", "hook done", "hook done", "panic failed"]
    );
    end(duty).await;
}

#[tokio::test(start_paused = true)]
async fn files_that_change_start_a_run_when_they_have_settled() {
    let mut stage = Stage::new(0);
    let watched = || Schedule::watch("*.md").unwrap();
    stage.add(watched(), "once", Missed::Once);
    stage.add(watched(), "skip", Missed::Skip);
    let page = stage.workspace().join("page.md");
    fs::write(&page, "changed while nobody looked").unwrap();
    let duty = stage.begin();
    let first = stage.next().await;
    assert!(first.starts_with("once change"), "{first}");
    // What its own run changes does not start it again; the other has not run yet.
    fs::write(&page, "changed by the run").unwrap();
    stage.starter.ends.add_permits(1);
    let second = stage.next().await;
    assert!(second.starts_with("skip change"), "{second}");
    stage.starter.ends.add_permits(1);
    sleep(Duration::from_secs(60)).await;
    assert!(stage.started.try_recv().is_err());
    fs::remove_file(&page).unwrap();
    let mut both = [stage.next().await, stage.next().await];
    both.sort();
    assert!(
        both[0].starts_with("once change") && both[1].starts_with("skip change"),
        "{both:?}"
    );
    end(duty).await;
}
