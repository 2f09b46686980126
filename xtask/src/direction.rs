//! Which crate may use which.
//!
//! Crates sit in rings, and arrows point inward only; crates of one ring do not know each other.
//! The core is kept pure by a list of what it may not use. Direct dependencies are judged, of
//! every kind: a test that needs an outer crate belongs to that outer crate.

use std::fmt;

use crate::metadata::{Dependency, Need, Origin, Package};

use Place::{Adapter, Binary, Core, Front, Ports, Task, Testkit};

/// Where each crate belongs. A new crate is added here.
const PLACES: &[(&str, Place)] = &[
    ("ambit-core", Core),
    ("ambit-rtfs", Core),
    ("ambit-runtime", Ports),
    ("ambit-mcp", Adapter),
    ("ambit-skills", Adapter),
    ("ambit-builtins", Adapter),
    ("ambit-providers", Adapter),
    ("ambit-mesh", Adapter),
    ("ambit-gateway", Front),
    ("ambit-agent", Front),
    ("ambit", Binary),
    ("ambit-testkit", Testkit),
    ("xtask", Task),
];

/// What reads files, the network, the clock, the environment or chance, or waits. The core gets
/// the world as arguments, so that the same arguments give the same answer.
const IMPURE: &[&str] = &[
    "async-trait",
    "axum",
    "cap-std",
    "chrono",
    "dirs",
    "fastrand",
    "futures",
    "getrandom",
    "hyper",
    "ignore",
    "jiff",
    "libc",
    "mio",
    "nix",
    "notify",
    "rand",
    "reqwest",
    "rmcp",
    "rusqlite",
    "rustix",
    "smol",
    "tempfile",
    "time",
    "tokio",
    "ureq",
    "walkdir",
];

/// A crate's place, from the inside out; the last two stand beside the rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Core,
    Ports,
    Adapter,
    Front,
    Binary,
    Testkit,
    Task,
}

/// Why a dependency is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArrowReason {
    /// From an inner ring to an outer one.
    Outward,
    /// Between two crates of one ring.
    Sibling,
    /// From a front to an adapter: the binary brings them together.
    Wiring,
    /// The testkit, outside of tests.
    TestOnly,
    /// From or to the tasks.
    Apart,
    /// Something the core may not use.
    Impure,
}

impl fmt::Display for ArrowReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Outward => "arrows point inward only",
            Self::Sibling => "crates of one ring do not use each other",
            Self::Wiring => "only `ambit` wires adapters to fronts",
            Self::TestOnly => "the testkit is a dev-dependency only",
            Self::Apart => "tasks run the other crates as programs",
            Self::Impure => "the core does no I/O, reads no clock, does not wait",
        })
    }
}

/// Every wrong arrow, one line each, in the order of the packages.
pub(crate) fn violations(packages: &[Package]) -> Vec<String> {
    let mut found = Vec::new();
    for package in packages {
        let Some(from) = place(&package.name) else {
            found.push(unplaced(&package.name));
            continue;
        };
        for dependency in &package.dependencies {
            if let Some(reason) = judge(from, dependency) {
                found.push(format!(
                    "`{}` depends on `{}`: {reason}",
                    package.name, dependency.name
                ));
            }
        }
    }
    found
}

fn unplaced(name: &str) -> String {
    format!("`{name}` has no place: add it to `PLACES` in `xtask/src/direction.rs`")
}

fn place(name: &str) -> Option<Place> {
    PLACES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, place)| *place)
}

fn judge(from: Place, dependency: &Dependency) -> Option<ArrowReason> {
    match (dependency.from, place(&dependency.name)) {
        (Origin::Workspace, Some(to)) => judge_arrow(from, to, dependency.need),
        // A crate of ours without a place is reported once, as a package.
        (Origin::Workspace, None) => None,
        (Origin::Elsewhere, _) => {
            let impure = from == Core
                && dependency.need == Need::Always
                && IMPURE.contains(&dependency.name.as_str());
            impure.then_some(ArrowReason::Impure)
        }
    }
}

fn judge_arrow(from: Place, to: Place, need: Need) -> Option<ArrowReason> {
    match (from, to) {
        (Task, _) | (_, Task) => Some(ArrowReason::Apart),
        (_, Testkit) => (need == Need::Always).then_some(ArrowReason::TestOnly),
        (Testkit, Core | Ports) => None,
        (Testkit, _) => Some(ArrowReason::Outward),
        (Front, Adapter) => Some(ArrowReason::Wiring),
        (Core, Core) | (Adapter, Adapter) | (Front, Front) => Some(ArrowReason::Sibling),
        (Core, Ports | Adapter | Front | Binary)
        | (Ports, Ports | Adapter | Front | Binary)
        | (Adapter, Front | Binary)
        | (Front | Binary, Binary) => Some(ArrowReason::Outward),
        (Ports, Core)
        | (Adapter | Front, Core | Ports)
        | (Binary, Core | Ports | Adapter | Front) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// `arrow` is `from -> to` or, for a dev-dependency, `from ~> to`. What is named like a crate
    /// of ours is one.
    #[track_caller]
    fn check(arrow: &str, expected: Option<ArrowReason>) {
        let [from, kind, to] = arrow.split(' ').collect::<Vec<_>>()[..] else {
            panic!("`{arrow}`")
        };
        let dependency = Dependency {
            name: to.to_owned(),
            need: if kind == "~>" {
                Need::Tests
            } else {
                Need::Always
            },
            from: if place(to).is_some() {
                Origin::Workspace
            } else {
                Origin::Elsewhere
            },
        };
        assert_eq!(
            judge(place(from).unwrap(), &dependency),
            expected,
            "{arrow}"
        );
    }

    #[test]
    fn inward_is_allowed() {
        check("ambit-runtime -> ambit-core", None);
        check("ambit-skills -> ambit-core", None);
        check("ambit-skills -> ambit-runtime", None);
        check("ambit-gateway -> ambit-runtime", None);
        check("ambit -> ambit-builtins", None);
        check("ambit -> ambit-gateway", None);
        check("ambit-testkit -> ambit-runtime", None);
    }

    #[test]
    fn outward_is_refused() {
        check("ambit-core -> ambit-runtime", Some(ArrowReason::Outward));
        check("ambit-core ~> ambit-runtime", Some(ArrowReason::Outward));
        check("ambit-runtime -> ambit-skills", Some(ArrowReason::Outward));
        check("ambit-builtins -> ambit-agent", Some(ArrowReason::Outward));
        check("ambit-agent -> ambit", Some(ArrowReason::Outward));
        check(
            "ambit-testkit -> ambit-builtins",
            Some(ArrowReason::Outward),
        );
    }

    #[test]
    fn rings_are_kept_apart() {
        check("ambit-skills -> ambit-mcp", Some(ArrowReason::Sibling));
        check("ambit-rtfs -> ambit-core", Some(ArrowReason::Sibling));
        check("ambit-gateway -> ambit-agent", Some(ArrowReason::Sibling));
        check("ambit-gateway -> ambit-mcp", Some(ArrowReason::Wiring));
    }

    #[test]
    fn the_testkit_is_for_tests() {
        check("ambit-runtime ~> ambit-testkit", None);
        check("ambit ~> ambit-testkit", None);
        check("ambit -> ambit-testkit", Some(ArrowReason::TestOnly));
    }

    #[test]
    fn tasks_stand_alone() {
        check("xtask -> ambit-core", Some(ArrowReason::Apart));
        check("ambit ~> xtask", Some(ArrowReason::Apart));
        check("xtask -> serde_json", None);
    }

    #[test]
    fn the_core_is_pure() {
        check("ambit-core -> serde", None);
        check("ambit-core -> tokio", Some(ArrowReason::Impure));
        check("ambit-rtfs -> rusqlite", Some(ArrowReason::Impure));
        check("ambit-core ~> tempfile", None);
        check("ambit-runtime -> tokio", None);
    }

    #[test]
    fn a_crate_without_a_place_is_told_where_to_go() {
        let stray = Package {
            name: "ambit-stray".to_owned(),
            directory: PathBuf::new(),
            entry: PathBuf::new(),
            dependencies: Vec::new(),
        };
        assert_eq!(
            violations(&[stray]),
            ["`ambit-stray` has no place: add it to `PLACES` in `xtask/src/direction.rs`"]
        );
    }
}
