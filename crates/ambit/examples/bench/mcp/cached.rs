//! 50 servers of 40 tools, all seen before: how soon a client is answered, what its list costs,
//! how much memory that takes, and that none of the servers is started for it.

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::json;

use super::client::Client;
use super::contenders::beside;
use crate::report::{Baseline, Figure, Quantity, Spread, Target};
use crate::sample::Sample;

const SERVERS: usize = 50;
const TOOLS: usize = 40;
const STARTS: usize = 20;
const LISTS: usize = 200;
const STYLES: [&str; 3] = ["dynamic", "dispatch", "full"];

pub(crate) fn measure() -> Result<Vec<Figure>, Box<dyn Error>> {
    let sample = Sample::of(SERVERS * TOOLS, TOOLS)?;
    let mut figures = Vec::new();
    for style in STYLES {
        figures.extend(measure_style(&sample, style)?);
    }
    Ok(figures)
}

fn measure_style(sample: &Sample, style: &str) -> Result<Vec<Figure>, Box<dyn Error>> {
    let mut answers = Vec::new();
    let mut lists = Vec::new();
    let mut last = None;
    for _ in 0..STARTS {
        let begun = Instant::now();
        let mut client = Client::start(serve(sample, style)?)?;
        client.hello()?;
        answers.push(millis_since(begun));
        client.request("tools/list", &json!({}))?;
        lists.push(millis_since(begun));
        last = Some(client);
    }
    let mut client = last.ok_or("nothing was started")?;
    let mut again = Vec::new();
    let mut bytes = 0;
    for _ in 0..LISTS {
        let begun = Instant::now();
        bytes = client.request("tools/list", &json!({}))?.len();
        again.push(millis_since(begun));
    }
    if children(client.process())? > 0 {
        return Err("a server was started for a list that is known".into());
    }
    let (answer, first, again) = (Spread::of(answers), Spread::of(lists), Spread::of(again));
    let row = |case: &str, measured: Quantity, target: Option<Quantity>| Figure {
        bench: "mcp",
        case: format!("{SERVERS} × {TOOLS} tools, {style}, {case}"),
        measured,
        target: target.map(Target::AtMost),
        baselines: Vec::new(),
    };
    let size = Baseline {
        what: "the answer",
        measured: Quantity::new(bytes as f64 / 1e3, "kB"),
    };
    Ok(vec![
        row(
            "start to first answer, median",
            millis(answer.median),
            Some(millis(60.0)),
        ),
        row("start to first list, median", millis(first.median), None),
        Figure {
            baselines: vec![size],
            ..row(
                "`tools/list`, median",
                millis(again.median),
                Some(millis(2.0)),
            )
        },
        row("`tools/list`, p99", millis(again.p99), None),
        row(
            "resident memory",
            resident(client.process())?,
            Some(megabytes(40.0)),
        ),
    ])
}

fn serve(sample: &Sample, style: &str) -> Result<Command, Box<dyn Error>> {
    let mut command = Command::new(beside("ambit")?);
    command.args(["mcp", "--style", style]).env_clear();
    command
        .env("HOME", sample.home())
        .current_dir(sample.folder());
    Ok(command)
}

fn millis(value: f64) -> Quantity {
    Quantity::new(value, "ms")
}

fn megabytes(value: f64) -> Quantity {
    Quantity::new(value, "MB")
}

fn millis_since(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e3
}

fn resident(process: u32) -> Result<Quantity, Box<dyn Error>> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|it| it.trim().trim_end_matches(" kB").parse::<f64>().ok());
    let kilobytes = kilobytes.ok_or("this system does not tell how much memory a process has")?;
    Ok(megabytes(kilobytes * 1024.0 / 1e6))
}

/// How many children a process has.
fn children(process: u32) -> Result<usize, Box<dyn Error>> {
    let tasks = std::fs::read_dir(Path::new("/proc").join(process.to_string()).join("task"))?;
    let lists = tasks
        .flatten()
        .filter_map(|it| std::fs::read_to_string(it.path().join("children")).ok());
    Ok(lists.map(|it| it.split_whitespace().count()).sum())
}
