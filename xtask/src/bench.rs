//! `cargo xtask bench`: the example `bench` of `ambit`, in release, beside a release binary;
//! `cargo xtask bench search`: the example `bench_search`. With `--proxies`, what others offer is
//! installed and measured beside it.

use std::path::{Path, PathBuf};

use crate::peers;
use crate::run::{Failure, Result, cargo, show};

const EXAMPLE: &str = "crates/ambit/examples/bench/main.rs";

pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result {
    if let ["search", rest @ ..] = arguments {
        return example(root, "bench_search", rest, Vec::new());
    }
    if !root.join(EXAMPLE).is_file() {
        return Err(Failure::Found(format!("there is no `{EXAMPLE}` to run")));
    }
    let mut build = cargo(root);
    build.args([
        "build",
        "--release",
        "--package",
        "ambit",
        "--package",
        "ambit-mcp",
    ]);
    build.args(["--bin", "ambit", "--example", "bench"]);
    // The servers it calls.
    for server in ["bench_axum", "bench_echo", "bench_relay", "faulty_server"] {
        build.args(["--example", server]);
    }
    show(build)?;
    let (flags, rest): (Vec<&str>, Vec<&str>) =
        arguments.iter().partition(|it| **it == "--proxies");
    let variables = match flags.is_empty() {
        true => Vec::new(),
        false => peers::proxies()?,
    };
    example(root, "bench", &rest, variables)
}

fn example(
    root: &Path,
    name: &str,
    arguments: &[&str],
    variables: Vec<(&'static str, PathBuf)>,
) -> Result {
    let mut bench = cargo(root);
    bench.envs(variables);
    bench
        .args(["run", "--quiet", "--release", "--package", "ambit"])
        .args(["--example", name, "--"])
        .args(arguments);
    show(bench)
}
