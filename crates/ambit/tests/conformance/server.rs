//! The fixture alone. What passes here is what there is to lose behind a gateway.

use std::process::Command;

use crate::suite::{Extent, Found, Suite};
use ambit_testkit::{Served, example};

/// A part of the suite for servers.
pub(crate) enum Part {
    /// What the last version with sessions requires, and what the suite has about it besides.
    Sessions,
    /// What 2026-07-28 requires, and what the suite has about it besides: tasks, header checks.
    Stateless,
    /// The skills extension, with sessions and without.
    Skills,
}

impl Part {
    /// What it is called in `expected.txt`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Part::Sessions => "2025-11-25",
            Part::Stateless => "2026-07-28",
            Part::Skills => "skills",
        }
    }

    /// How much of it there is.
    pub(crate) fn extent(&self) -> Extent {
        let (scenarios, checks) = match self {
            Part::Sessions => (33, 83),
            Part::Stateless => (50, 197),
            Part::Skills => (3, 88),
        };
        Extent {
            scenarios,
            checks: Some(checks),
        }
    }

    pub(crate) fn run(&self, suite: &Suite, url: &str) -> Found {
        match self {
            Part::Sessions | Part::Stateless => suite.server(url, &["--requirements", self.name()]),
            Part::Skills => {
                let mut found = Found::default();
                for version in ["2025-11-25", "2026-07-28"] {
                    for about in ["directory", "enumeration", "manifest"] {
                        let scenario = format!("sep-2640-skills-{about}");
                        // Extensions belong to no version, unless forced.
                        let arguments = ["--force", "--spec-version", version, "--scenario"];
                        let arguments = [&arguments[..], &[&scenario]].concat();
                        found = found.and(suite.server(url, &arguments));
                    }
                }
                found
            }
        }
    }
}

/// The fixture over HTTP.
pub(crate) fn fixture() -> Served {
    Served::start(Command::new(example("conformance_server")))
}

#[track_caller]
fn check(part: &Part) {
    let Some(suite) = Suite::installed() else {
        return;
    };
    let fixture = fixture();
    let subject = format!("alone/{}", part.name());
    part.run(&suite, &fixture.url).is(&subject, &part.extent());
}

#[test]
fn the_fixture_meets_2025_11_25() {
    check(&Part::Sessions);
}

#[test]
fn the_fixture_meets_2026_07_28_and_tasks() {
    check(&Part::Stateless);
}

#[test]
fn the_fixture_serves_skills() {
    check(&Part::Skills);
}
