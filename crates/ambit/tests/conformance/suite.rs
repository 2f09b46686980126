//! Runs the suite and reads what it found: one `checks.json` per scenario in a folder.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tempfile::TempDir;

use crate::expected;

/// The suite, where it is installed.
pub(crate) struct Suite {
    node: OsString,
    script: OsString,
    _turn: MutexGuard<'static, ()>,
}

/// One at a time: some checks give a server a second to say something.
static TURN: Mutex<()> = Mutex::new(());

/// How much there is.
pub(crate) struct Extent {
    pub(crate) scenarios: usize,
    /// What passes if nothing fails, where that is known: a scenario that fails has fewer checks.
    pub(crate) checks: Option<usize>,
}

/// A check that times the client, to a tenth of a second. A busy machine fails it.
const TIMED: &str = "client-sse-retry-timing";

/// What the suite found.
#[derive(Default)]
pub(crate) struct Found {
    /// How many checks each scenario passed.
    passed: BTreeMap<String, usize>,
    failed: Vec<Failed>,
}

/// A check that did not pass. What the protocol only recommends counts as well: the suite warns
/// of it, and the reference has no warnings.
pub(crate) struct Failed {
    pub(crate) scenario: String,
    pub(crate) check: String,
    message: String,
}

impl Suite {
    /// None where it is not installed, and then the test says so.
    pub(crate) fn installed() -> Option<Suite> {
        let installed = std::env::var_os("AMBIT_NODE24")
            .zip(std::env::var_os("AMBIT_CONFORMANCE"))
            .map(|(node, script)| Suite {
                node,
                script,
                _turn: TURN.lock().unwrap_or_else(PoisonError::into_inner),
            });
        if installed.is_none() {
            eprintln!("skipped: AMBIT_NODE24 and AMBIT_CONFORMANCE do not name the suite");
        }
        installed
    }

    /// `conformance server` against an address.
    pub(crate) fn server(&self, url: &str, arguments: &[&str]) -> Found {
        self.run(&[&["server", "--url", url], arguments].concat())
    }

    /// `conformance client` with a program of the workspace.
    pub(crate) fn client(&self, program: &Path, arguments: &[&str]) -> Found {
        let program = program.to_str().unwrap();
        self.run(&[&["client", "--command", program], arguments].concat())
    }

    fn run(&self, arguments: &[&str]) -> Found {
        let folder = tempfile::tempdir().unwrap();
        let output = Command::new(&self.node)
            .arg(&self.script)
            .args(arguments)
            .arg("--output-dir")
            .arg(folder.path())
            .current_dir(folder.path())
            .output()
            .unwrap();
        let found = Found::read(&folder);
        // It exits with 1 for failures, too; without any results it could not run.
        assert!(
            found.scenarios() > 0,
            "{arguments:?}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        found
    }
}

impl Found {
    fn read(folder: &TempDir) -> Found {
        let mut found = Found::default();
        found.read_below(folder.path(), "");
        found
    }

    /// Results are in `[server-]SCENARIO-TIME/checks.json`; scenarios may have a `/` in their name.
    fn read_below(&mut self, folder: &Path, name: &str) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let own = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                let name = if name.is_empty() {
                    own.to_owned()
                } else {
                    format!("{name}/{own}")
                };
                self.read_below(&path, &name);
            } else if own == "checks.json" {
                self.read_checks(scenario(name), &std::fs::read(&path).unwrap());
            }
        }
    }

    fn read_checks(&mut self, scenario: &str, bytes: &[u8]) {
        let checks: Vec<Value> = serde_json::from_slice(bytes).unwrap();
        let passed = self.passed.entry(scenario.to_owned()).or_default();
        let text = |check: &Value, key: &str| {
            let text = check.get(key).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        for check in checks {
            match text(&check, "status").as_str() {
                _ if text(&check, "id") == TIMED => {}
                "SUCCESS" => *passed += 1,
                "FAILURE" | "WARNING" => self.failed.push(Failed {
                    scenario: scenario.to_owned(),
                    check: text(&check, "id"),
                    message: text(&check, "errorMessage"),
                }),
                _ => {}
            }
        }
    }

    fn scenarios(&self) -> usize {
        self.passed.len()
    }

    /// Together with what another run found.
    pub(crate) fn and(mut self, other: Found) -> Found {
        for (scenario, passed) in other.passed {
            *self.passed.entry(scenario).or_default() += passed;
        }
        self.failed.extend(other.failed);
        self
    }

    /// Compares with what is expected to fail for a subject, and with how much there is.
    #[track_caller]
    pub(crate) fn is(self, subject: &str, extent: &Extent) {
        let passed: usize = self.passed.values().sum();
        let failed = self.failed.len();
        let scenarios = self.scenarios();
        eprintln!("{subject}: {passed} checks passed, {failed} failed in {scenarios} scenarios");
        let expected = expected::of(subject);
        let unexpected: Vec<_> = self
            .failed
            .iter()
            .filter(|it| !expected.iter().any(|known| known.covers(it)))
            .map(|it| format!("{}:{}: {}", it.scenario, it.check, it.message))
            .collect();
        assert!(unexpected.is_empty(), "{subject} fails: {unexpected:#?}");
        let stale: Vec<_> = expected
            .iter()
            .filter(|known| !self.failed.iter().any(|it| known.covers(it)))
            .collect();
        assert!(
            stale.is_empty(),
            "{subject} passes now, so these have no place in expected.txt: {stale:#?}"
        );
        assert_eq!(scenarios, extent.scenarios, "{subject}: not all was run");
        if let Some(checks) = extent.checks.filter(|_| expected.is_empty()) {
            assert_eq!(passed, checks, "{subject}: not all was checked");
        }
    }
}

/// `server-ping-2026-11-15T14-30-48-374Z` is about `ping`.
fn scenario(folder: &str) -> &str {
    let named = folder.strip_prefix("server-").unwrap_or(folder);
    let time = "-2026-11-15T14-30-48-374Z".len();
    named
        .get(..named.len().saturating_sub(time))
        .unwrap_or(named)
}

#[test]
fn a_folder_names_its_scenario() {
    for (folder, expected) in [
        ("server-ping-2026-11-15T14-30-48-374Z", "ping"),
        (
            "auth/basic-cimd-2026-11-15T14-30-48-374Z",
            "auth/basic-cimd",
        ),
    ] {
        assert_eq!(scenario(folder), expected);
    }
}
