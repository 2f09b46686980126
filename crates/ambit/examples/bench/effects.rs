//! How many events a second are recorded when many callers have effects at once, every start
//! synced before its effect runs.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_core::permission::Mode;
use ambit_runtime::journal::Journal;

use crate::no_op::{WRITE, complete, market};
use crate::report::{Baseline, Figure, Quantity, Target};

const CALLERS: [usize; 3] = [1, 32, 128];
const TIME: Duration = Duration::from_secs(3);

pub(crate) fn measure() -> Result<Vec<Figure>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let runtime = tokio::runtime::Runtime::new()?;
    let mut figures = Vec::new();
    for callers in CALLERS {
        let path = folder.path().join(format!("journal-{callers}.db"));
        let syncs = syncs_per_second(folder.path())?;
        let events = runtime.block_on(events_per_second(&path, callers))?;
        let target = Target::AtLeast(Quantity::new(20_000.0, "events/s"));
        figures.push(Figure {
            bench: "effects",
            case: format!("no-op writes, {callers} callers"),
            measured: Quantity::new(events, "events/s"),
            target: (callers == 128).then_some(target),
            baselines: vec![Baseline {
                what: "bare fdatasync",
                measured: Quantity::new(syncs, "/s"),
            }],
        });
    }
    Ok(figures)
}

/// What the disk can do: one page appended and synced, again and again.
fn syncs_per_second(folder: &Path) -> std::io::Result<f64> {
    let mut file = tempfile::tempfile_in(folder)?;
    let begun = Instant::now();
    let mut count = 0;
    while begun.elapsed() < Duration::from_secs(1) {
        file.write_all(&[7; 4096])?;
        file.sync_data()?;
        count += 1;
    }
    Ok(f64::from(count) / begun.elapsed().as_secs_f64())
}

/// Has every caller call, in a session of its own, until the time is over.
async fn events_per_second(path: &Path, callers: usize) -> Result<f64, Box<dyn Error>> {
    let bench = market(path)?;
    let market = bench.market();
    let mut sessions = Vec::new();
    for _ in 0..callers {
        sessions.push(Arc::new(bench.session_on(&market, Mode::Auto).await));
    }
    market.journal().flush().await?;
    let before = recorded(path)?;
    let begun = Instant::now();
    let running: Vec<_> = sessions
        .into_iter()
        .map(|session| {
            tokio::spawn(async move {
                while begun.elapsed() < TIME {
                    complete(&session, WRITE).await?;
                }
                Ok::<_, String>(())
            })
        })
        .collect();
    for caller in running {
        caller.await??;
    }
    market.journal().flush().await?;
    let seconds = begun.elapsed().as_secs_f64();
    let events = recorded(path)? - before;
    Ok(events as f64 / seconds)
}

/// Counted by reading them back, every hash checked.
fn recorded(path: &Path) -> Result<u64, Box<dyn Error>> {
    let report = Journal::open_read_only(path)?.verify()?;
    match report.damage {
        None => Ok(report.events),
        Some(damage) => Err(format!("the journal is damaged: {damage:?}").into()),
    }
}
