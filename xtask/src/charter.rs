//! Every crate has a README that says what it owns, and shows it as its documentation, so that
//! the two cannot part and the example in it compiles.

use std::fs;

use crate::metadata::Package;

const INCLUDED: &str = "#![doc = include_str!(\"../README.md\")]";

/// Every crate without its charter, one line each.
pub(crate) fn violations(packages: &[Package]) -> Vec<String> {
    packages.iter().filter_map(violation).collect()
}

fn violation(package: &Package) -> Option<String> {
    if !package.directory.join("README.md").is_file() {
        return Some(format!("`{}` has no README.md", package.name));
    }
    let entry = fs::read_to_string(&package.entry).unwrap_or_default();
    let included = entry.lines().any(|line| line == INCLUDED);
    (!included).then(|| {
        format!(
            "`{}` does not show its README.md as its docs: add `{INCLUDED}`",
            package.name
        )
    })
}
