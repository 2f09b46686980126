//! `cargo xtask bench`: the example `bench` of `ambit`, in release, beside a release binary;
//! `cargo xtask bench search`: the example `bench_search`.

use std::path::Path;

use crate::run::{Failure, Result, cargo, show};

const EXAMPLE: &str = "crates/ambit/examples/bench/main.rs";

pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result {
    if let ["search", rest @ ..] = arguments {
        return example(root, "bench_search", rest);
    }
    if !root.join(EXAMPLE).is_file() {
        return Err(Failure::Found(format!("there is no `{EXAMPLE}` to run")));
    }
    let mut build = cargo(root);
    build.args(["build", "--release", "--package", "ambit"]);
    show(build)?;
    example(root, "bench", arguments)
}

fn example(root: &Path, name: &str, arguments: &[&str]) -> Result {
    let mut bench = cargo(root);
    bench
        .args(["run", "--quiet", "--release", "--package", "ambit"])
        .args(["--example", name, "--"])
        .args(arguments);
    show(bench)
}
