//! 64 bytes there and back. All contenders are connected throughout and take turns in short
//! rounds, so that whatever else the machine does hits each of them alike; a ratio is of one
//! round, and the median of the rounds is told.

use std::time::Duration;

use tokio::task::LocalSet;

use super::contenders::{AMBIT, DIRECT, Listening, RELAY, Upstream, between, direct};
use super::subject::{By, Calls, Subject};
use super::{Era, Outcome};
use crate::report::{Baseline, Figure, Quantity, Spread, Target};

const AT_ONCE: [usize; 2] = [1, 32];
const ROUNDS: usize = 11;
const ROUND: Duration = Duration::from_millis(200);
/// What is measured in every way.
const OWN: [&str; 3] = [DIRECT, RELAY, AMBIT];
/// What a call through Ambit may cost, in relays.
const RATIO: f64 = 1.25;

pub(crate) async fn measure() -> Outcome<Vec<Figure>> {
    let server = direct()?;
    let mut figures = Vec::new();
    for upstream in [Upstream::Stdio, Upstream::Http] {
        let mut all = between(upstream, &server.url)?;
        if upstream == Upstream::Stdio {
            all.insert(0, direct()?);
        }
        for era in [Era::Sessions, Era::Stateless] {
            for by in [By::Raw, By::Sdk] {
                let case = format!("{}, {}, {}", upstream.name(), era.name(), by.name());
                // What all of them speak; the rest would take long, and tell no more.
                let is_common = era == Era::Sessions && by == By::Raw;
                let called: Vec<&Listening> = all
                    .iter()
                    .filter(|it| is_common || OWN.contains(&it.name))
                    .collect();
                figures.extend(take_turns(&called, era, by, &case).await?);
            }
        }
    }
    Ok(figures)
}

async fn take_turns(all: &[&Listening], era: Era, by: By, case: &str) -> Outcome<Vec<Figure>> {
    let local = LocalSet::new();
    let mut names = Vec::new();
    let mut subjects = Vec::new();
    for it in all {
        let connected = Subject::connect(by, &it.url, era, it.tool).await;
        let subject = connected.map_err(|error| format!("{case}, {}: {error}", it.name))?;
        names.push(it.name);
        subjects.push(subject);
    }
    let mut figures = Vec::new();
    for at_once in AT_ONCE {
        let mut rounds: Vec<Vec<Calls>> = subjects.iter().map(|_| Vec::new()).collect();
        // The first round warms up.
        for round in 0..=ROUNDS {
            for ((subject, calls), name) in subjects.iter_mut().zip(&mut rounds).zip(&names) {
                let measured = local.run_until(subject.calls(at_once, ROUND)).await;
                let measured = measured.map_err(|error| format!("{case}, {name}: {error}"))?;
                if round > 0 {
                    calls.push(measured);
                }
            }
        }
        figures.extend(compared(
            &names,
            rounds,
            &format!("{case}, {at_once} at once"),
        )?);
    }
    Ok(figures)
}

fn compared(names: &[&str], rounds: Vec<Vec<Calls>>, case: &str) -> Outcome<Vec<Figure>> {
    let medians: Vec<Vec<f64>> = rounds
        .iter()
        .map(|calls| {
            let each = calls.iter().map(|it| Spread::of(it.each.clone()).median);
            each.collect()
        })
        .collect();
    let relay = names.iter().position(|it| *it == RELAY);
    let relay = relay.and_then(|at| medians.get(at)).ok_or("no relay")?;
    let mut figures = Vec::new();
    for ((name, calls), medians) in names.iter().zip(rounds).zip(&medians) {
        let ratios = medians.iter().zip(relay).map(|(it, relay)| it / relay);
        let ratio = Spread::of(ratios.collect()).median;
        let count: usize = calls.iter().map(|it| it.each.len()).sum();
        let seconds: f64 = calls.iter().map(|it| it.all).sum();
        let spread = Spread::of(calls.into_iter().flat_map(|it| it.each).collect());
        let bound = Spread::of(relay.clone()).median * RATIO;
        figures.push(Figure {
            bench: "http",
            case: format!("{case}, {name}"),
            measured: Quantity::new(spread.median, "ms"),
            target: (*name == AMBIT).then(|| Target::AtMost(Quantity::new(bound, "ms"))),
            baselines: [
                ("p99", Quantity::new(spread.p99, "ms")),
                ("rate", Quantity::new(count as f64 / seconds, "calls/s")),
                ("of the relay", Quantity::new(ratio, "×")),
            ]
            .map(|(what, measured)| Baseline { what, measured })
            .into(),
        });
    }
    Ok(figures)
}
