//! The workspace's own crates, as `cargo metadata` tells them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::run::{Failure, Result, capture, cargo};

pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) directory: PathBuf,
    /// The root of its library, or of its program if it has none.
    pub(crate) entry: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) need: Need,
    pub(crate) from: Origin,
}

/// When a dependency is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// In what is built, or to build it.
    Always,
    /// For tests, benches and examples.
    Tests,
}

/// Where a dependency comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Workspace,
    Elsewhere,
}

pub(crate) fn packages(root: &Path) -> Result<Vec<Package>> {
    let mut command = cargo(root);
    command.args(["metadata", "--format-version", "1", "--no-deps"]);
    let metadata: Value = serde_json::from_str(&capture(command)?)
        .map_err(|error| Failure::Found(format!("`cargo metadata` is not understood: {error}")))?;
    read(&metadata)
        .ok_or_else(|| Failure::Found("`cargo metadata` lacks a field this reads".to_owned()))
}

fn read(metadata: &Value) -> Option<Vec<Package>> {
    metadata
        .get("packages")?
        .as_array()?
        .iter()
        .map(package)
        .collect()
}

fn package(package: &Value) -> Option<Package> {
    let targets = package.get("targets")?.as_array()?;
    let of_kind = |kind: &str| {
        targets
            .iter()
            .find(|it| it.pointer("/kind/0").and_then(Value::as_str) == Some(kind))
    };
    let entry = of_kind("lib").or_else(|| of_kind("bin"))?;
    Some(Package {
        name: text(package, "name")?.to_owned(),
        directory: Path::new(text(package, "manifest_path")?)
            .parent()?
            .to_owned(),
        entry: PathBuf::from(text(entry, "src_path")?),
        dependencies: package
            .get("dependencies")?
            .as_array()?
            .iter()
            .map(dependency)
            .collect::<Option<_>>()?,
    })
}

fn dependency(dependency: &Value) -> Option<Dependency> {
    Some(Dependency {
        name: text(dependency, "name")?.to_owned(),
        need: if text(dependency, "kind") == Some("dev") {
            Need::Tests
        } else {
            Need::Always
        },
        // Whatever has a path is ours: the workspace vendors nothing.
        from: if text(dependency, "path").is_some() {
            Origin::Workspace
        } else {
            Origin::Elsewhere
        },
    })
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_cargo_prints() {
        let metadata = serde_json::json!({ "packages": [{
            "name": "ambit-core",
            "manifest_path": "/w/crates/ambit-core/Cargo.toml",
            "targets": [
                { "kind": ["test"], "src_path": "/w/crates/ambit-core/tests/a.rs" },
                { "kind": ["lib"], "src_path": "/w/crates/ambit-core/src/lib.rs" },
            ],
            "dependencies": [
                { "name": "serde", "kind": null },
                { "name": "cc", "kind": "build" },
                { "name": "ambit-testkit", "kind": "dev", "path": "/w/crates/ambit-testkit" },
            ],
        }]});
        let packages = read(&metadata).unwrap();
        let [core] = packages.as_slice() else {
            panic!("one package")
        };
        assert_eq!(core.name, "ambit-core");
        assert_eq!(core.directory, Path::new("/w/crates/ambit-core"));
        assert_eq!(core.entry, Path::new("/w/crates/ambit-core/src/lib.rs"));
        let dependencies: Vec<_> = core
            .dependencies
            .iter()
            .map(|it| (it.name.as_str(), it.need, it.from))
            .collect();
        assert_eq!(
            dependencies,
            [
                ("serde", Need::Always, Origin::Elsewhere),
                ("cc", Need::Always, Origin::Elsewhere),
                ("ambit-testkit", Need::Tests, Origin::Workspace),
            ]
        );
    }
}
