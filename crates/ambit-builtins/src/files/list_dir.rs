//! `list_dir`: what is in one folder, ignored or not.

use std::fmt::Write as _;
use std::path::Path;

use ambit_core::effects::Effects;
use ambit_core::observation::{Failure, Output};
use cap_std::fs::{Dir, DirEntry};
use serde::Deserialize;
use serde_json::{Value, json};

use super::bounds::{Bounds, shown};
use super::{Tool, path_schema};
use crate::declare::{arguments, object};
use crate::stop::Stop;

const MOST_ENTRIES: usize = 1_000;

pub(super) const TOOL: Tool = Tool {
    name: "list_dir",
    title: "List folder",
    description: "List what is in one folder. \
        One entry a line, by name: folders end in `/`, files have their size in bytes, links \
        show where they point. To find files further down, use glob.",
    effects: Effects::READS,
    permissions: &["fs:read"],
    tags: &["files", "read"],
    input,
    run,
};

fn input() -> Value {
    let mut path = path_schema("The folder, relative to the workspace.");
    if let Some(path) = path.as_object_mut() {
        path.insert("default".to_owned(), json!("."));
    }
    object(&[], json!({ "path": path }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(default = "workspace")]
    path: String,
}

fn workspace() -> String {
    ".".to_owned()
}

fn run(bounds: &Bounds, value: Value, stop: &Stop) -> Result<Output, Failure> {
    let Arguments { path } = arguments(value)?;
    let place = bounds.locate(&path)?;
    let failed = |error: std::io::Error| place.failure(&error);
    let dir = place.root.dir.open_dir(&place.inside).map_err(failed)?;
    let mut entries = Vec::new();
    for entry in dir.entries().map_err(failed)? {
        stop.check()?;
        let entry = entry.map_err(failed)?;
        entries.push((entry.file_name(), entry));
    }
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));

    let mut text = String::new();
    for (name, entry) in entries.iter().take(MOST_ENTRIES) {
        stop.check()?;
        let _ = writeln!(text, "{}", line(&dir, Path::new(name), entry));
    }
    if entries.is_empty() {
        let _ = writeln!(text, "`{}` is empty", place.shown);
    }
    if let Some(more @ 1..) = entries.len().checked_sub(MOST_ENTRIES) {
        let _ = writeln!(text, "… and {more} more; use glob to narrow it");
    }
    Ok(Output::text(text))
}

fn line(dir: &Dir, name: &Path, entry: &DirEntry) -> String {
    let shown_name = shown(name);
    match entry.metadata() {
        Ok(it) if it.is_dir() => format!("{shown_name}/"),
        Ok(it) if it.is_symlink() => match dir.read_link_contents(name) {
            Ok(to) => format!("{shown_name} -> {}", shown(&to)),
            Err(_) => format!("{shown_name} -> ?"),
        },
        Ok(it) if it.is_file() => format!("{shown_name}  {}", it.len()),
        _ => format!("{shown_name}  (special)"),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use expect_test::expect;

    use super::super::fixture::Fixture;
    use super::*;

    #[test]
    fn entries_are_listed_by_name() {
        let fixture = Fixture::new(&[("b.txt", "12345"), ("dir/x", ""), (".hidden", "")]);
        fixture.link("link", "/etc/passwd");
        fixture.link("a\nb", "b.txt");
        std::fs::write(fixture.path(".").join(OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
        expect![[r#"
            .hidden  0
            a\nb -> b.txt
            b.txt  5
            caf�  1
            dir/
            link -> /etc/passwd
        "#]]
        .assert_eq(&fixture.text("list_dir", json!({})));
        for (path, said) in [
            ("dir", "x  0\n"),
            ("no", "provider_failed: `no` does not exist"),
        ] {
            assert_eq!(fixture.text("list_dir", json!({ "path": path })), said);
        }
    }

    #[test]
    fn long_lists_say_how_much_more() {
        let files: Vec<String> = (0..MOST_ENTRIES + 7)
            .map(|it| format!("d/{it:05}"))
            .collect();
        let files: Vec<_> = files.iter().map(|it| (it.as_str(), "")).collect();
        let text = Fixture::new(&files).text("list_dir", json!({ "path": "d" }));
        assert_eq!(text.lines().count(), MOST_ENTRIES + 1);
        assert!(text.ends_with("… and 7 more; use glob to narrow it\n"));
    }
}
