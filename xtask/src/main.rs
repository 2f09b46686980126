#![doc = include_str!("../README.md")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a terminal tool: printing is its output"
)]

mod bench;
mod browser;
mod charter;
mod check;
mod direction;
mod eval;
mod exposure;
mod generate;
mod libtest;
mod mentions;
mod metadata;
mod peers;
mod real_clients;
mod run;
mod soak;
mod test;

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use run::Failure;

const USAGE: &str = "\
usage: cargo xtask TASK

  test [FILTER]   every test of the workspace, with the real peers they talk to
  check           format, lints, docs, generated files, direction of dependencies
  gen [--check]   write the generated files, or say which are out of date
  gen-browser VERSION
                  ask @playwright/mcp of this version what it lists, and keep it
  soak [NAME]     long campaigns, in release
  bench [ARGS…]   measure; arguments go to the benchmark
  real-clients    Claude Code and Codex, with a played model, call a tool through Ambit
  eval [DIR]      measure search on labelled sets, and write docs/evaluation.md
  exposure [DIR]  measure what a model has to read, and write docs/exposure.md
  help            this text";

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let root = root();
    let outcome = match words.as_slice() {
        ["test"] => test::run(&root, None),
        ["test", filter] if !filter.starts_with('-') => test::run(&root, Some(filter)),
        ["check"] => check::run(&root),
        ["gen"] => generate::write(&root),
        ["gen", "--check"] => generate::check(&root),
        ["gen-browser", version] => browser::run(&root, version),
        ["soak"] => soak::run(&root, None),
        ["soak", name] => soak::run(&root, Some(name)),
        ["bench", rest @ ..] => bench::run(&root, rest),
        ["real-clients"] => real_clients::run(&root),
        ["eval", rest @ ..] => eval::run(&root, rest),
        ["exposure", rest @ ..] => exposure::run(&root, rest),
        ["help" | "-h" | "--help"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Told) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace. Asked of cargo at run time and not built in: worktrees may share one target
/// directory, and with it this program.
fn root() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .and_then(|xtask| Some(xtask.parent()?.to_owned()))
        .unwrap_or_else(|| PathBuf::from("."))
}
