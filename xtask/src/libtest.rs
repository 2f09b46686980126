//! What `cargo test` says, line by line, made into counts.
//!
//! The format is libtest's for people, with `--show-output`: its JSON is not stable. A test that
//! finds it cannot run (no peer, no such kernel feature) passes and prints a line that begins
//! with `skipped: `; here it counts as skipped.

use std::fmt;
use std::ops::AddAssign;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
    pub(crate) skipped: u32,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

/// One test binary, or the doc tests of one crate, while its lines come in.
#[derive(Debug)]
pub(crate) struct Binary {
    pub(crate) name: String,
    /// As libtest counts them: a test that skips itself has passed.
    counts: Counts,
    skips: u32,
    part: Part,
    said: Vec<String>,
    failures: Vec<String>,
}

/// Where in the output of a binary a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Tests,
    /// What a test that passed has printed.
    Success,
    /// The same, after it said that it skips.
    Skip,
    Failures,
}

impl Binary {
    /// The binary whose output begins with this line, if one does.
    pub(crate) fn begins(line: &str) -> Option<Self> {
        let name = if let Some(running) = line.strip_prefix("     Running ") {
            binary_name(running)
        } else {
            format!("{} documentation", line.strip_prefix("   Doc-tests ")?)
        };
        Some(Self {
            name,
            counts: Counts::default(),
            skips: 0,
            part: Part::Tests,
            said: Vec::new(),
            failures: Vec::new(),
        })
    }

    pub(crate) fn read(&mut self, line: &str) {
        if let Some(result) = line.strip_prefix("test result: ") {
            self.counts += counts(result);
            self.part = Part::Tests;
        } else if line == "failures:" {
            self.part = Part::Failures;
        } else if line == "successes:" || (self.part == Part::Skip && line.starts_with("---- ")) {
            self.part = Part::Success;
        } else if self.part == Part::Success && line.starts_with("skipped: ") {
            self.part = Part::Skip;
            self.skips += 1;
        } else if line.starts_with("error: test failed")
            || line.starts_with("error: doctest failed")
        {
            // Without a failed test it crashed, and never got to count.
            self.counts.failed = self.counts.failed.max(1);
        }
        if self.part == Part::Failures {
            self.failures.push(line.to_owned());
        }
        self.said.push(line.to_owned());
    }

    pub(crate) fn counts(&self) -> Counts {
        let Counts {
            passed,
            failed,
            skipped,
        } = self.counts;
        Counts {
            passed: passed.saturating_sub(self.skips),
            failed,
            skipped: skipped + self.skips,
        }
    }

    /// What to show of a binary that failed.
    pub(crate) fn failing_part(&self) -> &[String] {
        if self.failures.is_empty() {
            &self.said
        } else {
            &self.failures
        }
    }
}

/// `unittests src/lib.rs (target/debug/deps/ambit_core-0a1b)` → `ambit_core src/lib.rs`.
fn binary_name(running: &str) -> String {
    let (source, program) = running.rsplit_once(" (").unwrap_or((running, ""));
    let Some(source) = source.strip_prefix("unittests ") else {
        return source.to_owned();
    };
    let program = program
        .trim_end_matches(')')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    let name = program
        .rsplit_once('-')
        .map_or(program, |(name, _hash)| name);
    format!("{name} {source}")
}

/// `ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s`.
fn counts(result: &str) -> Counts {
    let words: Vec<_> = result
        .split([' ', ';'])
        .filter(|it| !it.is_empty())
        .collect();
    let of = |what: &str| {
        let counted = words.windows(2).find_map(|pair| match pair {
            [number, word] if *word == what => number.parse().ok(),
            _ => None,
        });
        counted.unwrap_or(0)
    };
    Counts {
        passed: of("passed"),
        failed: of("failed"),
        skipped: of("ignored"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `output` as the whole output of cargo and writes what was understood, a line per
    /// binary, with the lines that would be shown below.
    #[track_caller]
    fn check(output: &str, expected: &[&str]) {
        let mut binaries: Vec<Binary> = Vec::new();
        for line in output.lines() {
            match (Binary::begins(line), binaries.last_mut()) {
                (Some(binary), _) => binaries.push(binary),
                (None, Some(binary)) => binary.read(line),
                (None, None) => {}
            }
        }
        let mut understood = Vec::new();
        for binary in &binaries {
            understood.push(format!("{}: {}", binary.name, binary.counts()));
            if binary.counts().failed > 0 {
                understood.extend(binary.failing_part().iter().map(|it| format!("| {it}")));
            }
        }
        assert_eq!(understood, expected);
    }

    #[test]
    fn counts_per_binary() {
        check(
            "   Compiling ambit v0.1.0
     Running unittests src/lib.rs (target/debug/deps/ambit_core-0a1b)

running 3 tests
test id::tests::parses ... ok

test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.01s

     Running tests/folders.rs (target/debug/deps/folders-0a1b)
test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
",
            &[
                "ambit_core src/lib.rs: 2 passed, 0 failed, 1 skipped",
                "tests/folders.rs: 7 passed, 0 failed, 0 skipped",
            ],
        );
    }

    #[test]
    fn doc_tests_come_in_several_runs() {
        check(
            "   Doc-tests ambit_core
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

running 1 test
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
",
            &["ambit_core documentation: 3 passed, 0 failed, 0 skipped"],
        );
    }

    #[test]
    fn a_test_that_says_so_is_skipped_and_counted_once() {
        check(
            "     Running tests/public_validator.rs (target/debug/deps/public_validator-0a1b)
successes:

---- accepts stdout ----
skipped: AMBIT_SKILLS_REF is not set
skipped: really

---- reads stdout ----
nothing was skipped: fine

---- refuses stdout ----
skipped: AMBIT_SKILLS_REF is not set


successes:
    accepts
    reads
    refuses

test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
",
            &["tests/public_validator.rs: 1 passed, 0 failed, 2 skipped"],
        );
    }

    #[test]
    fn failures_are_shown_without_the_rest() {
        check(
            "     Running unittests src/main.rs (target/debug/deps/xtask-0a1b)
test a ... ok
successes:
---- a stdout ----
fine
failures:

---- b stdout ----
skipped: no, it failed

failures:
    b

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

error: test failed, to rerun pass `-p xtask --bin xtask`
",
            &[
                "xtask src/main.rs: 1 passed, 1 failed, 0 skipped",
                "| failures:",
                "| ",
                "| ---- b stdout ----",
                "| skipped: no, it failed",
                "| ",
                "| failures:",
                "|     b",
                "| ",
            ],
        );
    }

    #[test]
    fn a_crash_is_a_failure_and_shown_whole() {
        check(
            "     Running tests/crash.rs (target/debug/deps/crash-0a1b)
running 1 test
error: test failed, to rerun pass `-p ambit-runtime --test crash`
",
            &[
                "tests/crash.rs: 0 passed, 1 failed, 0 skipped",
                "| running 1 test",
                "| error: test failed, to rerun pass `-p ambit-runtime --test crash`",
            ],
        );
    }
}
