//! The turn API: what a turn and a call cost over HTTP with a hundred capabilities, beside a bare
//! echo over the same sockets. All take turns in short rounds, so that whatever else the machine
//! does hits each of them alike.

mod client;

use std::error::Error;
use std::time::Duration;

use serde_json::json;
use tokio::task::LocalSet;

use crate::report::{Baseline, Figure, Quantity, Spread, Target};
use crate::sample::Sample;
use client::{Measured, Server, Subject};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const CAPABILITIES: usize = 100;
const AT_ONCE: [usize; 2] = [1, 32];
const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_millis(300);
/// What a turn may take on loopback, in milliseconds.
const TURN: f64 = 1.0;
const ECHO: &str = "a bare `axum` echo";

pub(crate) fn measure() -> Outcome<Vec<Figure>> {
    // One thread: the client should take little from what it measures.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(LocalSet::new().run_until(measured()))
}

async fn measured() -> Outcome<Vec<Figure>> {
    let sample = Sample::new(CAPABILITIES)?;
    std::fs::write(sample.folder().join("a.txt"), "hello")?;
    let ambit = Server::ambit(&sample)?;
    let echo = Server::echo()?;
    let turn = json!({"goal": "list the open issues of a repository"});
    let call = json!({"id": "files__read_file", "input": {"path": "a.txt"}});
    let most = AT_ONCE.into_iter().max().unwrap_or(1);
    let mut subjects = [
        (
            "begin a turn",
            Subject::in_sessions(&ambit, most, "turns", &turn).await?,
        ),
        (
            "call `read_file`",
            Subject::in_sessions(&ambit, most, "calls", &call).await?,
        ),
        (ECHO, Subject::plain(&echo, most, &turn).await?),
    ];
    let mut figures = Vec::new();
    for at_once in AT_ONCE {
        let mut all: Vec<Measured> = subjects.iter().map(|_| Measured::default()).collect();
        // The first round warms up.
        for round in 0..=ROUNDS {
            for ((_, subject), measured) in subjects.iter_mut().zip(&mut all) {
                let now = subject.ask(at_once, ROUND).await?;
                if round > 0 {
                    measured.add(now);
                }
            }
        }
        let ceiling = all.last().map_or(f64::NAN, Measured::rate);
        for ((name, _), measured) in subjects.iter().zip(all) {
            figures.push(figure(name, at_once, measured, ceiling));
        }
    }
    Ok(figures)
}

fn figure(name: &str, at_once: usize, measured: Measured, ceiling: f64) -> Figure {
    let rate = measured.rate();
    let spread = Spread::of(measured.each);
    let is_held = name == "begin a turn" && at_once == 1;
    Figure {
        bench: "turns",
        case: format!("{name}, {at_once} at once"),
        measured: Quantity::new(spread.median, "ms"),
        target: is_held.then(|| Target::AtMost(Quantity::new(TURN, "ms"))),
        baselines: [
            ("p99", Quantity::new(spread.p99, "ms")),
            ("rate", Quantity::new(rate, "/s")),
            ("of the echo's rate", Quantity::new(rate / ceiling, "×")),
        ]
        .map(|(what, measured)| Baseline { what, measured })
        .into(),
    }
}
