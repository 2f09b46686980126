//! What a command knows of our environment: where programs are, where home is, which language,
//! and what its config lists. Nothing else, because the rest holds other people's secrets.

use std::collections::BTreeMap;
use std::env::{join_paths, split_paths};
use std::ffi::{OsStr, OsString};

const PASSED_ON: [&str; 4] = ["PATH", "HOME", "TMPDIR", "LANG"];

/// The variables of a command.
pub(super) fn of(
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
    configured: &BTreeMap<String, String>,
) -> BTreeMap<OsString, OsString> {
    inherited
        .into_iter()
        .filter(|(name, _)| is_passed_on(name))
        .map(|(name, value)| {
            let value = if name == "PATH" {
                absolute_only(&value)
            } else {
                value
            };
            (name, value)
        })
        .chain(
            configured
                .iter()
                .map(|(name, value)| (name.into(), value.into())),
        )
        .collect()
}

fn is_passed_on(name: &OsStr) -> bool {
    PASSED_ON.iter().any(|it| name == *it) || name.to_str().is_some_and(|it| it.starts_with("LC_"))
}

/// Without entries such as `.`, by which a file in the workspace could pass for an allowed
/// program.
fn absolute_only(path: &OsStr) -> OsString {
    join_paths(split_paths(path).filter(|it| it.is_absolute())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_listed_is_passed_on() {
        let inherited = [
            ("PATH", ".:/usr/bin::bin:/bin"),
            ("HOME", "/users/a"),
            ("LC_ALL", "C"),
            ("LANG", "de"),
            ("TMPDIR", "/t"),
            ("AWS_SECRET_ACCESS_KEY", "s"),
            ("LD_PRELOAD", "x.so"),
            ("PATHS", "x"),
        ];
        let configured = [("LANG", "en"), ("X", "1")];
        let got = of(
            inherited.map(|(a, b)| (a.into(), b.into())),
            &configured.map(|(a, b)| (a.to_owned(), b.to_owned())).into(),
        );
        let expected = [
            ("HOME", "/users/a"),
            ("LANG", "en"),
            ("LC_ALL", "C"),
            ("PATH", "/usr/bin:/bin"),
            ("TMPDIR", "/t"),
            ("X", "1"),
        ];
        assert_eq!(got, expected.map(|(a, b)| (a.into(), b.into())).into());
    }
}
