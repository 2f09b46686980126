//! `cargo xtask bench`: the example `bench` of `ambit`, in release, beside a release binary.

use std::path::Path;

use crate::run::{Failure, Result, cargo, show};

const EXAMPLE: &str = "crates/ambit/examples/bench/main.rs";

pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result {
    if !root.join(EXAMPLE).is_file() {
        return Err(Failure::Found(format!("there is no `{EXAMPLE}` to run")));
    }
    let mut build = cargo(root);
    build.args(["build", "--release", "--package", "ambit"]);
    show(build)?;
    let mut bench = cargo(root);
    bench
        .args([
            "run",
            "--quiet",
            "--release",
            "--package",
            "ambit",
            "--example",
            "bench",
            "--",
        ])
        .args(arguments);
    show(bench)
}
