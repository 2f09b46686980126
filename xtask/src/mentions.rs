//! What no file in git may say: the host of a package registry (which registry is used is the
//! machine's business, and mirrors differ) and a path in somebody's home.
//!
//! The needles are put together from halves, so that this file may be in git as well.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use crate::run::{Failure, Result, capture};

const REGISTRIES: &[&str] = &[
    concat!("crates", ".io"),
    concat!("npm", "js."),
    concat!("pypi", ".org"),
    concat!("python", "hosted.org"),
    concat!("yarn", "pkg.com"),
];

const HOMES: &[&str] = &[
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
];

/// How cargo's lock file names the default registry, wherever it is fetched from.
const DEFAULT_REGISTRY: &str = concat!("registry+https://github.com/rust-lang/crates", ".io-index");

/// Every such mention in a tracked file, one line each.
pub(crate) fn violations(root: &Path) -> Result<Vec<String>> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "-z"]);
    let mut found = Vec::new();
    for path in capture(git)?.split_terminator('\0') {
        let file = root.join(path);
        match fs::read(&file) {
            Ok(bytes) => found.extend(in_file(path, &String::from_utf8_lossy(&bytes))),
            // Deleted but not committed yet, or a link to a directory.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::IsADirectory
                ) => {}
            Err(error) => return Err(Failure::file(&file)(error)),
        }
    }
    Ok(found)
}

fn in_file(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().zip(1..);
    lines
        .filter_map(|(line, number)| Some(format!("{path}:{number}: {}", in_line(line)?)))
        .collect()
}

fn in_line(line: &str) -> Option<String> {
    let said = line.replace(DEFAULT_REGISTRY, "").to_lowercase();
    if let Some(host) = REGISTRIES.iter().find(|host| said.contains(**host)) {
        return Some(format!("names a package registry, `{host}`"));
    }
    let home = HOMES.iter().find(|home| {
        line.match_indices(**home)
            .any(|(at, _)| is_path(line, at, home))
    })?;
    Some(format!("names a path in a home, `{home}…`"))
}

/// Whether the `home` found at `at` begins a path (`{dir}` or a host before it make it part of a
/// longer one) and goes on to name something.
fn is_path(line: &str, at: usize, home: &str) -> bool {
    let before = line.get(..at).and_then(|it| it.chars().next_back());
    let after = line.get(at + home.len()..).and_then(|it| it.chars().next());
    !before.is_some_and(|it| it.is_alphanumeric() || "_-.~}])>".contains(it))
        && after.is_some_and(|it| it.is_alphanumeric() || "_.-".contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `+` in a case stands for nothing: it keeps the case from being a finding itself.
    #[track_caller]
    fn check(case: &str, expected: Option<&str>) {
        let said = in_line(&case.replace('+', ""));
        let expected = expected.map(|it| it.replace('+', ""));
        assert_eq!(said, expected, "{case}");
    }

    #[test]
    fn registries() {
        check(
            "see https://crates+.io/crates/x",
            Some("names a package registry, `crates+.io`"),
        );
        check(
            "https://registry.npm+js.org/x",
            Some("names a package registry, `npm+js.`"),
        );
        check("PyPI+.org", Some("names a package registry, `pypi+.org`"));
        check("crates and io", None);
    }

    #[test]
    fn homes() {
        check("cd /ro+ot/x", Some("names a path in a home, `/ro+ot/…`"));
        check("\"/ho+me/ann\"", Some("names a path in a home, `/ho+me/…`"));
        check(
            "file:///Us+ers/ann",
            Some("names a path in a home, `/Us+ers/…`"),
        );
        check("https://example.com/ho+me/ann", None);
        check("{dir}/ho+me/ann and ./ho+me/ann", None);
        check("/ho+me/… and /ho+me/$USER", None);
    }

    #[test]
    fn the_lock_file_may_name_the_default_registry() {
        assert_eq!(in_line(&format!("source = \"{DEFAULT_REGISTRY}\"")), None);
    }

    #[test]
    fn findings_have_a_place() {
        let home = HOMES[0];
        assert_eq!(
            in_file("a.md", &format!("one\n{home}two\n")),
            [format!("a.md:2: names a path in a home, `{home}…`")]
        );
    }
}
