//! What the pipeline adds to a read that does nothing: gates, schemas, redaction, and a record
//! of it all.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use ambit_core::permission::Mode;

use crate::no_op::{READ, answer, complete, market};
use crate::report::{Baseline, Figure, Quantity, Spread, Target};

const CALLS: usize = 20_000;
const WARM_UP: usize = 1_000;

pub(crate) fn measure() -> Result<Vec<Figure>, Box<dyn Error>> {
    let runtime = tokio::runtime::Runtime::new()?;
    let (calls, direct, switches) = runtime.block_on(async {
        // On a worker, where a server's calls run.
        tokio::spawn(all()).await?.map_err(Box::<dyn Error>::from)
    })?;
    let micros = |value| Quantity::new(value, "µs");
    let baselines = vec![
        Baseline {
            what: "called directly",
            measured: micros(direct.median),
        },
        Baseline {
            what: "a task switch",
            measured: micros(switches.median),
        },
    ];
    Ok(vec![
        Figure {
            bench: "pipeline",
            case: format!("no-op read, median of {CALLS}"),
            measured: micros(calls.median),
            target: Some(Target::AtMost(micros(25.0))),
            baselines,
        },
        Figure {
            bench: "pipeline",
            case: "no-op read, p99".to_owned(),
            measured: micros(calls.p99),
            target: None,
            baselines: Vec::new(),
        },
    ])
}

async fn all() -> Result<(Spread, Spread, Spread), String> {
    let folder = tempfile::tempdir().map_err(|it| it.to_string())?;
    let market = market(&folder.path().join("journal.db")).map_err(|it| it.to_string())?;
    let session = market.session(Mode::Ask).await;
    for _ in 0..WARM_UP {
        complete(&session, READ).await?;
    }
    let mut calls = Vec::with_capacity(CALLS);
    let mut direct = Vec::with_capacity(CALLS);
    let mut switches = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let begun = Instant::now();
        complete(&session, READ).await?;
        calls.push(micros_since(begun));
    }
    for _ in 0..CALLS {
        let begun = Instant::now();
        black_box(answer());
        direct.push(micros_since(begun));
        let begun = Instant::now();
        tokio::task::yield_now().await;
        switches.push(micros_since(begun));
    }
    Ok((Spread::of(calls), Spread::of(direct), Spread::of(switches)))
}

fn micros_since(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e6
}
