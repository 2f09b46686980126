//! `ambit ls` from the start of the process, on a catalog that was seen before.

use std::error::Error;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::report::{Baseline, Figure, Quantity, Spread, Target};
use crate::sample::Sample;

const SIZES: [usize; 3] = [1_000, 5_000, 20_000];
const RUNS: usize = 30;

pub(crate) fn measure() -> Result<Vec<Figure>, Box<dyn Error>> {
    let ambit = binary()?;
    let mut figures = Vec::new();
    for size in SIZES {
        let sample = Sample::new(size)?;
        let list = || command(&ambit, &["ls", "--json"], &sample);
        check(list(), size)?;
        let times = spread(list)?;
        let baselines = vec![
            Baseline {
                what: "`true`",
                measured: milliseconds(spread(|| Command::new("true"))?.median),
            },
            Baseline {
                what: "`ambit --version`",
                measured: milliseconds(spread(|| command(&ambit, &["--version"], &sample))?.median),
            },
        ];
        let measured_for = |case: &str, measured, target: Option<Quantity>| Figure {
            bench: "ls",
            case: format!("{size} capabilities, {case}"),
            measured,
            target: target.filter(|_| size == 5_000).map(Target::AtMost),
            baselines: Vec::new(),
        };
        let median = milliseconds(times.median);
        figures.push(Figure {
            baselines,
            ..measured_for("median", median, Some(milliseconds(50.0)))
        });
        figures.push(measured_for("p99", milliseconds(times.p99), None));
        let memory = peak_megabytes(list())?;
        figures.push(measured_for(
            "peak memory",
            megabytes(memory),
            Some(megabytes(25.0)),
        ));
    }
    Ok(figures)
}

fn milliseconds(value: f64) -> Quantity {
    Quantity::new(value, "ms")
}

fn megabytes(value: f64) -> Quantity {
    Quantity::new(value, "MB")
}

/// The binary built beside this example.
fn binary() -> Result<PathBuf, Box<dyn Error>> {
    let example = std::env::current_exe()?;
    let beside = example.parent().and_then(Path::parent);
    let ambit = beside.map(|it| it.join("ambit")).filter(|it| it.is_file());
    Ok(ambit.ok_or("there is no `ambit` beside this example: build it first, in release")?)
}

fn command(ambit: &Path, arguments: &[&str], sample: &Sample) -> Command {
    let mut command = Command::new(ambit);
    command
        .args(arguments)
        .env_clear()
        .env("HOME", sample.home())
        .current_dir(sample.folder());
    command
}

/// Everything has to be listed, or the numbers mean nothing.
fn check(mut list: Command, size: usize) -> Result<(), Box<dyn Error>> {
    let output = list.output()?;
    let document: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let entries = document.get("capabilities").and_then(|it| it.as_array());
    let listed = entries.map_or(0, |it| {
        it.iter()
            .filter(|it| {
                it.get("source")
                    .is_some_and(|it| it.as_str().is_some_and(|it| it.starts_with("mcp:")))
            })
            .count()
    });
    if listed == size {
        Ok(())
    } else {
        Err(format!("{listed} of {size} capabilities listed").into())
    }
}

/// From the start of a process until all it prints has been read.
fn spread(command: impl Fn() -> Command) -> Result<Spread, Box<dyn Error>> {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let mut command = command();
        let begun = Instant::now();
        command.output()?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(Spread::of(times))
}

/// The most memory a process had resident. Its output is larger than a pipe holds, so it is
/// there to be looked at until the output has been read; the highest mark never falls.
fn peak_megabytes(mut command: Command) -> Result<f64, Box<dyn Error>> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut output = child.stdout.take().ok_or("no output to read")?;
    let mut piece = [0; 4096];
    let mut peak = None;
    while output.read(&mut piece)? > 0 {
        peak = std::fs::read_to_string(&status)
            .ok()
            .and_then(|it| kilobytes(&it))
            .or(peak);
    }
    child.wait()?;
    let kilobytes = peak.ok_or("this system does not tell how much memory a process has")?;
    Ok(kilobytes * 1024.0 / 1e6)
}

fn kilobytes(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}
