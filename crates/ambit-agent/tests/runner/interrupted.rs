//! Ctrl-C, at any moment: the session goes on, nothing is done twice unasked, and the model is
//! told what is not known.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ambit_agent::runner::{RunListener, RunNews, Task};
use ambit_core::lineage::Lineage;
use ambit_core::observation::Output;
use ambit_core::run::RunEnd;
use ambit_runtime::CancellationToken;
use ambit_testkit::{Behaviour, Bench, FixtureResolver, fixture_tool};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::support::{Heard, Stage, begin, call};

/// Cancels when it has heard so much.
struct CancelsAt {
    left: AtomicUsize,
    cancel: Mutex<CancellationToken>,
}

impl RunListener for CancelsAt {
    fn hear(&self, _: &Lineage, _: RunNews<'_>) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.cancel.lock().cancel();
        }
    }
}

const SEEDS: usize = 200;

fn turns() -> Value {
    let look = || call("kit__look", json!({}));
    let change = || call("kit__change", json!({}));
    json!([
        {"say": "I look at three things.", "calls": [look(), look(), look()]},
        {"say": "I change one.", "calls": [change(), look(), change()]},
        {"calls": [{"tool": "kit__look", "malformed": "{"}, call("kit__none", json!({}))]},
        {"say": "Once more.", "calls": [look(), change()]},
        {"say": "All done, and well."},
    ])
}

#[tokio::test]
async fn it_leaves_a_session_that_goes_on() {
    let mut ends = [0, 0];
    for seed in 0..SEEDS {
        let written = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&written);
        let change = Behaviour::does(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            Ok(Output::text("changed"))
        });
        let kit = FixtureResolver::new(
            "kit",
            vec![
                (
                    fixture_tool("local__kit__look reads"),
                    Behaviour::says("seen"),
                ),
                (fixture_tool("local__kit__change writes"), change),
            ],
        );
        let mut stage = Stage::new(Bench::default().with(Arc::new(kit), json!({})));
        let cancel = CancellationToken::new();
        // A few come too late and change nothing.
        stage.listener = Arc::new(CancelsAt {
            left: AtomicUsize::new(1 + (seed * 7919) % 47),
            cancel: Mutex::new(cancel.clone()),
        });
        let engine = Heard::new(turns());
        let mut report = stage
            .run_until(&engine, begin("change things"), &cancel)
            .await;
        let session = report.session.clone();
        ends[usize::from(report.ended == RunEnd::Answered)] += 1;
        if report.ended != RunEnd::Answered {
            assert_eq!(
                report.ended,
                RunEnd::Interrupted,
                "{seed}: {:?}",
                report.error
            );
            let again = Task::GoOn {
                session: session.clone(),
                said: None,
            };
            report = stage.run(&engine, again).await;
        }
        assert_eq!(report.ended, RunEnd::Answered, "{seed}: {:?}", report.error);
        // What was not begun was not done, and what was done was done once.
        assert!(written.load(Ordering::SeqCst) <= 3, "{seed}");
        stage.assert_replays(&session).await;
        let verified = stage.market.journal().reader().unwrap().verify().unwrap();
        assert!(
            verified.damage.is_none() && verified.unfinished.is_empty(),
            "{seed}: {verified:?}"
        );
    }
    assert!(ends[0] > 180, "{ends:?}");
}

#[tokio::test]
async fn what_is_not_known_is_said() {
    let kit = Arc::new(FixtureResolver::lines(
        "kit",
        "local__kit__change writes\nlocal__kit__look reads",
        &Behaviour::Hangs,
    ));
    for (tool, told) in [
        (
            "kit__change",
            "outcome unknown: it had begun when the run was stopped, and may have had its effect. Look before you do it again.",
        ),
        (
            "kit__look",
            "failed (cancelled): whoever asked called it off",
        ),
    ] {
        let stage = Stage::new(Bench::default().with(Arc::clone(&kit) as _, json!({})));
        let engine = Heard::new(json!([
            {"calls": [call(tool, json!({})), call("kit__change", json!({}))]},
            {"say": "I see."},
        ]));
        let cancel = CancellationToken::new();
        let (stop, watched, before) = (cancel.clone(), Arc::clone(&kit), kit.executed());
        tokio::spawn(async move {
            watched.until_executing(before + 1).await;
            stop.cancel();
        });
        let report = stage.run_until(&engine, begin("change it"), &cancel).await;
        assert_eq!(report.ended, RunEnd::Interrupted);
        let again = Task::GoOn {
            session: report.session,
            said: None,
        };
        stage.run(&engine, again).await;
        let results = engine.last_results();
        assert_eq!(results[0], told);
        assert_eq!(
            results[1],
            "failed (cancelled): not run: the run was stopped before"
        );
    }
}
