//! 64 bytes there and back, one call at a time and 32 at once. All contenders are connected
//! throughout and take turns in short rounds, so that whatever else the machine does hits each of
//! them alike; a ratio is of one round, and the median of the rounds is told.

use std::error::Error;
use std::time::Duration;

use crate::mcp::client::Calls;
use crate::mcp::contenders::{READS, RELAY, contenders};
use crate::mcp::cost::Cost;
use crate::report::{Baseline, Figure, Quantity, Spread, Target};

const AT_ONCE: [usize; 2] = [1, 32];
const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_millis(300);
/// What a read through Ambit may cost, in relays.
const RATIO: f64 = 1.25;

pub(crate) fn measure() -> Result<Vec<Figure>, Box<dyn Error>> {
    let mut contenders = contenders()?;
    let mut figures = Vec::new();
    for at_once in AT_ONCE {
        let mut rounds: Vec<Vec<Calls>> = contenders.iter().map(|_| Vec::new()).collect();
        let mut costs = vec![Cost::default(); contenders.len()];
        // The first round warms up.
        for round in 0..=ROUNDS {
            for ((contender, calls), cost) in contenders.iter_mut().zip(&mut rounds).zip(&mut costs)
            {
                let before = contender.cost();
                let measured = contender.calls(at_once, ROUND)?;
                if round > 0 {
                    calls.push(measured);
                    *cost = *cost + (contender.cost() - before);
                }
            }
        }
        let medians: Vec<Vec<f64>> = rounds
            .iter()
            .map(|calls| {
                calls
                    .iter()
                    .map(|it| Spread::of(it.each.clone()).median)
                    .collect()
            })
            .collect();
        let relays = contenders.iter().position(|it| it.name == RELAY);
        let relays = relays.and_then(|at| medians.get(at)).ok_or("no relay")?;
        let measured = contenders.iter().zip(rounds).zip(&medians).zip(costs);
        for (((contender, calls), medians), cost) in measured {
            let ratios = medians.iter().zip(relays).map(|(it, relay)| it / relay);
            let ratio = Spread::of(ratios.collect()).median;
            let count: usize = calls.iter().map(|it| it.each.len()).sum();
            let seconds: f64 = calls.iter().map(|it| it.all).sum();
            let spread = Spread::of(calls.into_iter().flat_map(|it| it.each).collect());
            let row = |what: &str, measured: Quantity, baselines| Figure {
                bench: "mcp",
                case: format!("echo, {at_once} at once, {}, {what}", contender.name),
                measured,
                target: None,
                baselines,
            };
            let relay = Spread::of(relays.clone()).median;
            let compared = [(RELAY, millis(relay)), ("of it", Quantity::new(ratio, "×"))];
            let compared = compared.map(|(what, measured)| Baseline { what, measured });
            let bound = Target::AtMost(millis(relay * RATIO));
            figures.push(Figure {
                target: (contender.name == READS).then_some(bound),
                ..row("median", millis(spread.median), compared.into())
            });
            figures.push(row("p99", millis(spread.p99), Vec::new()));
            let rate = Quantity::new(count as f64 / seconds, "calls/s");
            figures.push(row("rate", rate, Vec::new()));
            let switches = Baseline {
                what: "switches",
                measured: Quantity::new(cost.switches / count as f64, "a call"),
            };
            let processor = Quantity::new(cost.processor / count as f64, "µs");
            figures.push(row("on a processor, a call", processor, vec![switches]));
        }
    }
    Ok(figures)
}

fn millis(value: f64) -> Quantity {
    Quantity::new(value, "ms")
}
