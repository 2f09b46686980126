//! `write_file`: a file's whole content, new or replaced.

use ambit_core::effects::Effects;
use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};

use super::bounds::Bounds;
use super::replace::{Replaced, Target};
use super::{Tool, path_schema};
use crate::declare::{arguments, object};
use crate::stop::Stop;

const MOST_CHARACTERS: usize = 8 * 1024 * 1024;

pub(super) const TOOL: Tool = Tool {
    name: "write_file",
    title: "Write file",
    description: "Write a whole text file, creating it and its folders or replacing what is there. \
        To change a part of an existing file, use edit_file. The old content is replaced in one \
        step or not at all.",
    effects: Effects::WRITES,
    permissions: &["fs:write"],
    tags: &["files", "write"],
    input,
    run,
};

fn input() -> Value {
    object(
        &["path", "content"],
        json!({
            "path": path_schema("The file, relative to the workspace."),
            "content": {
                "type": "string", "maxLength": MOST_CHARACTERS,
                "description": "All of the file's new content.",
            },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    content: String,
}

fn run(bounds: &Bounds, value: Value, stop: &Stop) -> Result<Output, Failure> {
    let Arguments { path, content } = arguments(value)?;
    let place = bounds.locate(&path)?;
    let _one_at_a_time = bounds.writing.lock();
    stop.check()?;
    let replaced = Target::open(bounds, &place)?.replace(content.as_bytes(), stop)?;
    let done = match replaced {
        Replaced::Created => "created",
        Replaced::Overwritten => "replaced",
    };
    Ok(Output::text(format!(
        "{done} `{}`, {} bytes",
        place.shown,
        content.len()
    )))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::super::fixture::Fixture;
    use super::*;

    fn write(fixture: &Fixture, path: &str) -> String {
        fixture.text("write_file", json!({ "path": path, "content": "new" }))
    }

    #[test]
    fn files_are_created_and_replaced() {
        let fixture = Fixture::new(&[("old.txt", "old"), ("dir/x", "")]);
        fixture.link("link", "old.txt");
        let mode = |path: &str| {
            fs::metadata(fixture.path(path))
                .unwrap()
                .permissions()
                .mode()
        };
        fs::set_permissions(fixture.path("old.txt"), fs::Permissions::from_mode(0o751)).unwrap();
        for (path, said) in [
            ("a.txt", "created `a.txt`, 3 bytes"),
            ("deep/er/b.txt", "created `deep/er/b.txt`, 3 bytes"),
            ("old.txt", "replaced `old.txt`, 3 bytes"),
            (
                "dir",
                "refused: `dir` is not a regular file and cannot be replaced by one",
            ),
            (
                ".",
                "refused: `.` is not a regular file and cannot be replaced by one",
            ),
            (
                "old.txt/x",
                "provider_failed: `old.txt/x`: a part of the path is a file, not a folder",
            ),
        ] {
            assert_eq!(write(&fixture, path), said);
        }
        assert_eq!(fixture.content("deep/er/b.txt"), "new");
        assert_eq!(fixture.content("old.txt"), "new");
        assert_eq!(mode("old.txt") & 0o7777, 0o751);
        assert_eq!(
            fixture.names("."),
            ["a.txt", "deep", "dir", "link", "old.txt"]
        );
    }

    #[test]
    fn a_link_stays_and_its_target_is_replaced() {
        let fixture = Fixture::new(&[("dir/old.txt", "old")]);
        fixture.link("link", "dir/old.txt");
        assert_eq!(write(&fixture, "link"), "replaced `link`, 3 bytes");
        assert!(fixture.path("link").is_symlink());
        assert_eq!(fixture.content("dir/old.txt"), "new");
    }

    #[test]
    fn a_read_only_file_stays() {
        let fixture = Fixture::new(&[("old.txt", "old")]);
        fs::set_permissions(fixture.path("old.txt"), fs::Permissions::from_mode(0o444)).unwrap();
        assert_eq!(
            write(&fixture, "old.txt"),
            "refused: `old.txt` is read-only"
        );
        assert_eq!(fixture.content("old.txt"), "old");
    }
}
