//! What a turn costs before a model sees anything: `select` by itself, and the whole of
//! `begin_turn`, which searches for the goal and records what changed.

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use ambit_core::catalog::CatalogSnapshot;
use ambit_core::manifest::CapabilityManifest;
use ambit_core::permission::Mode;
use ambit_core::policy::select;
use ambit_core::search::SearchDocument;
use ambit_core::turn::Shown;
use ambit_core::turn::TurnInput;
use ambit_runtime::discovery::{DiscoverySettings, TurnRequest};
use ambit_runtime::heard::Heard;
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::session::Session;
use ambit_testkit::{Behaviour, Bench, FixtureResolver, fixture_tool};
use serde_json::{Map, Value, json};

use crate::made_up::{made_up, repeated};
use crate::report::{Baseline, Figure, Quantity, Spread, Target};

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const SELECTIONS: usize = 300;
const TURNS: usize = 300;
/// Turns with one goal before the next comes up.
const TURNS_PER_GOAL: usize = 5;

pub(crate) fn measure() -> Result<Vec<Figure>, Box<dyn Error>> {
    let (documents, goals) = made_up();
    let runtime = tokio::runtime::Runtime::new()?;
    let mut figures = Vec::new();
    for size in SIZES {
        let bench = bench(repeated(&documents, size));
        let market = bench.market();
        let mut spec = bench.spec(Mode::Ask);
        spec.discovery = DiscoverySettings {
            budget: Some(8_000),
            limit: Some(60),
            ..DiscoverySettings::default()
        };
        let session = runtime
            .block_on(market.open_session(spec))
            .map_err(|problems| format!("{problems:?}"))?;
        let turns = turns(&session, &goals);
        runtime.block_on(market.journal().flush())?;
        let catalog = market.catalog();
        let directed = input(&market, &session, &goals);
        let undirected = TurnInput {
            relevance: Vec::new(),
            ..directed.clone()
        };
        let bounds = session.bounds();
        let granted = &bounds.granted;
        let timed = |input: &TurnInput| {
            spread(SELECTIONS, |_| {
                black_box(select(&catalog, granted, input));
            })
        };
        let pass = spread(SELECTIONS, |_| {
            black_box(writing(&catalog));
        });
        let mut figure = |case: &str, spread: &Spread, target: Option<f64>| {
            let row = |name: &str, value, target: Option<f64>, baselines| Figure {
                bench: "select",
                case: format!("{size} tools, {case}, {name}"),
                measured: millis(value),
                target: target.map(|it| Target::AtMost(millis(it))),
                baselines,
            };
            let baseline = Baseline {
                what: "one pass over the catalog",
                measured: millis(pass.median),
            };
            figures.push(row("median", spread.median, target, vec![baseline]));
            // What it costs when nothing else wants the processor.
            figures.push(row("fastest", spread.fastest, None, Vec::new()));
            figures.push(row("p99", spread.p99, None, Vec::new()));
        };
        let target = (size == 10_000).then_some(1.0);
        figure("`select` with a goal", &timed(&directed), target);
        figure("`select` without", &timed(&undirected), None);
        figure("`begin_turn`", &turns, None);
    }
    Ok(figures)
}

pub(crate) fn millis(value: f64) -> Quantity {
    Quantity::new(value, "ms")
}

/// All of them granted, source by source.
pub(crate) fn bench(documents: Vec<SearchDocument>) -> Bench {
    let mut sources: BTreeMap<String, Vec<(CapabilityManifest, Behaviour)>> = BTreeMap::new();
    for document in documents {
        let owner = document.id.owner().to_owned();
        let tool = (manifest(document), Behaviour::Echo);
        sources.entry(owner).or_default().push(tool);
    }
    sources
        .into_iter()
        .fold(Bench::default(), |bench, (key, tools)| {
            bench.with(Arc::new(FixtureResolver::new(&key, tools)), json!({}))
        })
}

fn manifest(document: SearchDocument) -> CapabilityManifest {
    let changes = ["create", "update", "delete", "send", "write", "add"];
    let effect = match changes.iter().any(|it| document.name.starts_with(it)) {
        true => "writes",
        false => "reads",
    };
    let parameters = document.parameters.into_iter();
    let properties: Map<String, Value> = parameters
        .map(|it| {
            let about = json!({"type": "string", "description": it.description});
            (it.name, about)
        })
        .collect();
    CapabilityManifest {
        description: document.description,
        input_schema: json!({"type": "object", "properties": properties}),
        ..fixture_tool(&format!("{} {effect}", document.id))
    }
}

/// What a turn in the middle of a session selects from.
fn input(market: &CapabilityMarketplace, session: &Session, goals: &[String]) -> TurnInput {
    let previous = session.visible();
    let previous = previous.entries().iter().map(Shown::from).collect();
    let request = request(goals, 0);
    let catalog = market.catalog();
    market.turn_input(
        &session.bounds(),
        &catalog,
        &request,
        &Heard::default(),
        previous,
    )
}

fn request(goals: &[String], turn: usize) -> TurnRequest {
    let nth = |at: usize| goals.iter().cycle().nth(at).cloned().unwrap_or_default();
    TurnRequest {
        goal: nth(turn / TURNS_PER_GOAL),
        evidence: vec![nth(turn + TURNS)],
        ..TurnRequest::default()
    }
}

fn turns(session: &Session, goals: &[String]) -> Spread {
    // The first builds the index and stores the catalog.
    session.begin_turn(&request(goals, 0));
    spread(TURNS, |turn| {
        black_box(session.begin_turn(&request(goals, turn)));
    })
}

/// What there is no way around: looking at every entry once.
fn writing(catalog: &CatalogSnapshot) -> usize {
    catalog.iter().filter(|it| it.effects.changes()).count()
}

fn spread(times: usize, mut once: impl FnMut(usize)) -> Spread {
    let times = (0..times).map(|at| {
        let begun = Instant::now();
        once(at);
        begun.elapsed().as_secs_f64() * 1e3
    });
    Spread::of(times.collect())
}
