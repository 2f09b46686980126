//! `cargo xtask check`: all that can be said about the sources without running them.
//!
//! Every step runs, whatever the others found; the quick ones come first.

use std::path::Path;

use crate::run::{Failure, Result, Step, capture, cargo};
use crate::{charter, direction, generate, mentions, metadata};

type Check = fn(&Path) -> Result;

const CHECKS: &[(&str, Check)] = &[
    ("format", format),
    ("direction of dependencies", |root| {
        none(direction::violations(&metadata::packages(root)?))
    }),
    ("a charter per crate", |root| {
        none(charter::violations(&metadata::packages(root)?))
    }),
    ("no registries, no homes", |root| {
        none(mentions::violations(root)?)
    }),
    ("lints", lints),
    ("documentation", documentation),
    ("generated files", generate::check),
];

pub(crate) fn run(root: &Path) -> Result {
    let mut failed = 0;
    for (name, check) in CHECKS {
        let step = Step::start(name);
        match check(root) {
            Ok(()) => step.end("ok"),
            Err(failure) => {
                step.end("failed");
                println!("{}", indent(&failure.to_string()));
                failed += 1;
            }
        }
    }
    if failed == 0 {
        Ok(())
    } else {
        Err(Failure::Found(format!(
            "{failed} of {} checks failed",
            CHECKS.len()
        )))
    }
}

fn format(root: &Path) -> Result {
    let mut command = cargo(root);
    command.args(["fmt", "--all", "--check"]);
    capture(command).map(drop)
}

fn lints(root: &Path) -> Result {
    let mut command = cargo(root);
    command.args([
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]);
    capture(command).map(drop)
}

fn documentation(root: &Path) -> Result {
    let mut command = cargo(root);
    command
        .args(["doc", "--quiet", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings");
    capture(command).map(drop)
}

fn none(violations: Vec<String>) -> Result {
    if violations.is_empty() {
        Ok(())
    } else {
        Err(Failure::Found(violations.join("\n")))
    }
}

fn indent(text: &str) -> String {
    text.lines()
        .map(|line| format!("    {line}").trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}
