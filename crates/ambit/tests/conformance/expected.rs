//! What is known to fail, and why: `expected.txt`, a line `SUBJECT SCENARIO[:CHECK] REASON` each.

use crate::suite::Failed;

const EXPECTED: &str = include_str!("expected.txt");

/// A failure that is known.
#[derive(Debug)]
pub(crate) struct Known {
    scenario: &'static str,
    /// Without one, every check of the scenario may fail.
    check: Option<&'static str>,
    _reason: &'static str,
}

impl Known {
    pub(crate) fn covers(&self, failed: &Failed) -> bool {
        self.scenario == failed.scenario && self.check.is_none_or(|it| it == failed.check)
    }
}

/// The known failures of a subject.
pub(crate) fn of(subject: &str) -> Vec<Known> {
    all()
        .filter(|(of, _)| *of == subject)
        .map(|(_, known)| known)
        .collect()
}

fn all() -> impl Iterator<Item = (&'static str, Known)> {
    let lines = EXPECTED.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| parse(line).unwrap_or_else(|| panic!("expected.txt: no reason in `{line}`")))
}

fn parse(line: &'static str) -> Option<(&'static str, Known)> {
    let (subject, rest) = line.split_once(char::is_whitespace)?;
    let (what, reason) = rest.trim_start().split_once(char::is_whitespace)?;
    let (scenario, check) = match what.split_once(':') {
        Some((scenario, check)) => (scenario, Some(check)),
        None => (what, None),
    };
    let known = Known {
        scenario,
        check,
        _reason: reason.trim_start(),
    };
    Some((subject, known))
}

#[test]
fn every_expected_failure_is_of_something_that_is_tested() {
    for (subject, known) in all() {
        let tested = match subject.split_once('/') {
            Some((reached, part)) => {
                ["alone", "stdio", "sessions", "stateless", "http"].contains(&reached)
                    && ["2025-11-25", "2026-07-28", "skills"].contains(&part)
            }
            None => subject == "client",
        };
        assert!(tested, "{subject} {known:?}");
    }
}
