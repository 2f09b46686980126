//! The numbers Ambit is held to, each beside what this machine can do at all.
//!
//! `bench [--json] [NAME…]` measures and prints; `mcp` means all of `mcp.…`. It asserts nothing: a busy machine is slow, and
//! only a person can tell that from a slow program.

mod effects;
mod http;
mod ls;
#[path = "../support/made_up.rs"]
mod made_up;
mod mcp;
mod no_op;
mod pipeline;
mod report;
mod runner;
mod sample;
mod select;
mod turns;

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use report::Figure;

type Bench = fn() -> Result<Vec<Figure>, Box<dyn Error>>;

const BENCHES: [(&str, Bench); 10] = [
    ("pipeline", pipeline::measure),
    ("effects", effects::measure),
    ("ls", ls::measure),
    ("select", select::measure),
    ("runner", runner::measure),
    ("mcp.echo", mcp::echo::measure),
    ("mcp.list", mcp::cached::measure),
    ("mcp.neighbours", mcp::neighbours::measure),
    ("http", http::measure),
    ("turns", turns::measure),
];

/// Whether a bench is meant by a name.
fn is_meant(bench: &str, name: &str) -> bool {
    let rest = bench.strip_prefix(name);
    rest.is_some_and(|it| it.is_empty() || it.starts_with('.'))
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (flags, names): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|it| it.starts_with('-'));
    let known = |name: &String| BENCHES.iter().any(|(it, _)| is_meant(it, name));
    if flags.iter().any(|it| it != "--json") || !names.iter().all(known) {
        let all: Vec<&str> = BENCHES.iter().map(|(name, _)| *name).collect();
        writeln!(
            std::io::stderr(),
            "usage: bench [--json] [NAME…]; there are {}",
            all.join(", ")
        )?;
        return Ok(ExitCode::from(2));
    }
    let mut figures = Vec::new();
    for (name, measure) in BENCHES {
        if names.is_empty() || names.iter().any(|it| is_meant(name, it)) {
            figures.extend(measure()?);
        }
    }
    let mut out = std::io::stdout();
    if flags.is_empty() {
        write!(out, "{}", report::table(&figures))?;
    } else {
        writeln!(out, "{}", report::document(&figures))?;
    }
    Ok(ExitCode::SUCCESS)
}
