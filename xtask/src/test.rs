//! `cargo xtask test`: every test of the workspace, one line of progress per test binary.
//!
//! The last line is always `N passed, N failed, N skipped`. All output is in the log; of a binary
//! that failed, the failing part is shown as well.

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::libtest::{Binary, Counts};
use crate::peers;
use crate::run::{Failure, Result, Step, cargo, show, stream};

/// How often the crash tests kill a process, unless the environment says otherwise.
const CRASH_ROUNDS: (&str, &str) = ("AMBIT_CRASH_ROUNDS", "200");

pub(crate) fn run(root: &Path, filter: Option<&str>) -> Result {
    let peers = peers::prepare()?;
    let counts = match build(root) {
        Ok(()) => test(root, filter, &peers)?,
        // Cargo has shown why. Whoever reads only the last line must see that it failed.
        Err(_) => Counts {
            failed: 1,
            ..Counts::default()
        },
    };
    println!("{counts}");
    if counts.failed == 0 {
        Ok(())
    } else {
        Err(Failure::Told)
    }
}

/// Apart from the run, so that cargo shows its own progress while it compiles.
fn build(root: &Path) -> Result {
    let mut command = cargo(root);
    command.args(["test", "--workspace", "--no-run"]);
    show(command)
}

fn test(root: &Path, filter: Option<&str>, peers: &[(&str, PathBuf)]) -> Result<Counts> {
    let path = log_path(root);
    let mut log = create(&path)?;
    let mut command = cargo(root);
    command.args(["test", "--workspace", "--no-fail-fast"]);
    // Behind `--`: before it, cargo would leave out the doc tests.
    command.args(["--", "--show-output"]).args(filter);
    command
        .env("CARGO_TERM_COLOR", "never")
        .envs(peers.iter().map(|(variable, program)| (variable, program)));
    if env::var_os(CRASH_ROUNDS.0).is_none() {
        command.env(CRASH_ROUNDS.0, CRASH_ROUNDS.1);
    }

    let mut progress = Progress::default();
    let status = stream(command, |line| {
        writeln!(log, "{line}").map_err(Failure::file(&path))?;
        progress.read(line);
        Ok(())
    })?;
    let mut total = progress.finish();
    println!("  log: {}", path.display());
    if !status.success() && total.failed == 0 {
        println!("  cargo failed outside of a test; the log says why");
        total.failed = 1;
    }
    Ok(total)
}

#[derive(Default)]
struct Progress {
    current: Option<(Step, Binary)>,
    total: Counts,
}

impl Progress {
    fn read(&mut self, line: &str) {
        if let Some(binary) = Binary::begins(line) {
            self.close();
            self.current = Some((Step::start(&binary.name), binary));
        } else if let Some((_, binary)) = &mut self.current {
            binary.read(line);
        }
    }

    fn close(&mut self) {
        let Some((step, binary)) = self.current.take() else {
            return;
        };
        let counts = binary.counts();
        step.end(&short(counts));
        if counts.failed > 0 {
            println!("{}", binary.failing_part().join("\n"));
        }
        self.total += counts;
    }

    fn finish(mut self) -> Counts {
        self.close();
        self.total
    }
}

/// Only what is not zero.
fn short(counts: Counts) -> String {
    let parts = [
        (counts.passed, "passed"),
        (counts.failed, "failed"),
        (counts.skipped, "skipped"),
    ];
    let said: Vec<_> = parts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{n} {what}"))
        .collect();
    if said.is_empty() {
        "no tests".to_owned()
    } else {
        said.join(", ")
    }
}

fn log_path(root: &Path) -> PathBuf {
    // Joining an absolute path replaces.
    root.join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
        .join("xtask/test.log")
}

fn create(path: &Path) -> Result<File> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(Failure::file(parent))?;
    }
    File::create(path).map_err(Failure::file(path))
}
