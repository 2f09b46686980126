//! `demo`: the whole chain from the binary alone, offline, in a temporary folder. Every step is a
//! command of its own process, as a person would type it.

mod server;

use std::path::Path;
use std::process::Command;

use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{BOLD, DIM, Printer, styled};
use crate::config::Problem;
pub(crate) use server::serve;

/// A file of the example, by its place in it.
macro_rules! example {
    ($path:literal) => {
        (
            $path,
            include_str!(concat!("../../../../../examples/test-fix/", $path)),
        )
    };
}

/// The example's files, as they are in the repository.
const FILES: [(&str, &str); 10] = [
    example!("ambit.json"),
    example!("script.json"),
    example!("src/components/avatar.sh"),
    example!("src/components/badge.sh"),
    example!("tests/avatar.test.sh"),
    example!("tests/badge.test.sh"),
    example!("tests/run.sh"),
    example!(".agents/skills/test-fix/SKILL.md"),
    example!(".agents/skills/frontend-component/SKILL.md"),
    example!("README.md"),
];

const GOAL: &str = "The tests fail. Make them pass.";

/// A command of the demo, and what to say before it.
const STEPS: [(&str, &[&str]); 4] = [
    (
        "A small project with a failing test, and a model that plays a script.",
        &[
            "run",
            "--trust-project",
            "--yes",
            "--script",
            "script.json",
            GOAL,
        ],
    ),
    (
        "What became visible when the search had found it, and why:",
        &["diff", "last", "3", "4"],
    ),
    (
        "Why one of them:",
        &[
            "explain",
            "github__get_pull_request",
            "--session",
            "last",
            "--turn",
            "4",
        ],
    ),
    (
        "Every decision once more, from what was recorded:",
        &["replay", "last"],
    ),
];

/// Plays it. A step that fails ends it.
pub(crate) fn demo(printer: &Printer) -> Result<Exit, Fail> {
    let folder = tempfile::Builder::new().prefix("ambit-demo-").tempdir()?;
    let (work, home) = (folder.path().join("test-fix"), folder.path().join("home"));
    std::fs::create_dir_all(&home)?;
    let own = std::env::current_exe()?;
    lay_out(&work, &own)?;
    for (said, arguments) in STEPS {
        if !printer.is_json() {
            printer.note(format!("\n{said}"));
            printer.note(styled(BOLD, format!("$ ambit {}", typed(arguments))));
        }
        let mut command = Command::new(&own);
        command
            .args(arguments)
            .args(printer.is_json().then_some("--json"))
            .current_dir(&work)
            .env("HOME", &home);
        for variable in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"] {
            command.env_remove(variable);
        }
        let status = command.status()?;
        if !status.success() {
            let message = format!("`ambit {}` ended with {status}", typed(arguments));
            let problem = Problem::error("demo_failed", message);
            return Err(Fail::no(
                problem.hint("please report what is printed above"),
            ));
        }
    }
    if !printer.is_json() {
        let text = "That was in a temporary folder, which is gone now. In a project of yours: `ambit init`, then `ambit run`.";
        printer.note(format!("\n{}", styled(DIM, text)));
    }
    Ok(Exit::Done)
}

/// Writes the example's files, its server started from this very binary.
fn lay_out(work: &Path, own: &Path) -> std::io::Result<()> {
    for (path, text) in FILES {
        let place = work.join(path);
        if let Some(parent) = place.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let own = serde_json::to_string(&own.display().to_string())?;
        match path {
            "ambit.json" => std::fs::write(&place, text.replace("\"ambit\"", &own))?,
            _ => std::fs::write(&place, text)?,
        }
    }
    Ok(())
}

/// As a person types it.
fn typed(arguments: &[&str]) -> String {
    let quoted = |it: &&str| match it.contains(' ') {
        true => format!("\"{it}\""),
        false => (*it).to_owned(),
    };
    arguments.iter().map(quoted).collect::<Vec<_>>().join(" ")
}
