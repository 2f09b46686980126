//! `cargo xtask gen`: the files that are made from the code, committed, and checked.
//!
//! The example `reference` of `ambit` knows their content and prints one JSON object of relative
//! path to text; this only compares and writes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::run::{Failure, Result, capture, cargo};

const EXAMPLE: &str = "crates/ambit/examples/reference/main.rs";

/// Writes the files that differ.
pub(crate) fn write(root: &Path) -> Result {
    let files = generated(root)?;
    let stale = stale(root, &files);
    for (path, content) in &stale {
        let file = root.join(path);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent).map_err(Failure::file(parent))?;
        }
        fs::write(&file, content).map_err(Failure::file(&file))?;
        println!("wrote {path}");
    }
    println!("{} of {} generated files written", stale.len(), files.len());
    Ok(())
}

/// Fails with the names of the files that differ.
pub(crate) fn check(root: &Path) -> Result {
    let files = generated(root)?;
    let names: Vec<_> = stale(root, &files)
        .into_iter()
        .map(|(path, _)| format!("`{path}` is out of date"))
        .collect();
    if names.is_empty() {
        return Ok(());
    }
    Err(Failure::Found(format!(
        "{}\nrun `cargo xtask gen`",
        names.join("\n")
    )))
}

fn generated(root: &Path) -> Result<BTreeMap<String, String>> {
    if !root.join(EXAMPLE).is_file() {
        return Ok(BTreeMap::new());
    }
    let mut command = cargo(root);
    command.args([
        "run",
        "--quiet",
        "--package",
        "ambit",
        "--example",
        "reference",
    ]);
    serde_json::from_str(&capture(command)?).map_err(|error| {
        Failure::Found(format!(
            "`{EXAMPLE}` does not print an object of path to text: {error}"
        ))
    })
}

fn stale<'a>(root: &Path, files: &'a BTreeMap<String, String>) -> Vec<(&'a str, &'a str)> {
    let differs = |path: &str, content: &str| {
        fs::read(root.join(path)).ok().as_deref() != Some(content.as_bytes())
    };
    files
        .iter()
        .map(|(path, content)| (path.as_str(), content.as_str()))
        .filter(|(path, content)| differs(path, content))
        .collect()
}
