//! `glob`: files by the shape of their path.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use ambit_core::effects::Effects;
use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};

use super::bounds::Bounds;
use super::name_pattern::NamePattern;
use super::{Tool, path_schema, walk};
use crate::declare::{arguments, object};
use crate::stop::Stop;

const MOST_PATHS: usize = 500;

pub(super) const TOOL: Tool = Tool {
    name: "glob",
    title: "Find files by name",
    description: "Find files by a pattern of their name or path, such as `*.rs` or `src/**/*.test.ts`. \
        A pattern without `/` fits names at any depth. What .gitignore leaves out is left out; \
        hidden files are included. To search file contents, use grep.",
    effects: Effects::READS,
    permissions: &["fs:read"],
    tags: &["files", "search"],
    input,
    run,
};

fn input() -> Value {
    object(
        &["pattern"],
        json!({
            "pattern": {
                "type": "string", "minLength": 1, "maxLength": 1024,
                "description": "`*` any characters but `/`, `**` any folders, `?` one character, `{a,b}` either, `[abc]` one of.",
            },
            "path": path_schema("The folder to search in, relative to the workspace. Default: all allowed folders."),
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    path: Option<String>,
}

fn run(bounds: &Bounds, value: Value, stop: &Stop) -> Result<Output, Failure> {
    let Arguments { pattern, path } = arguments(value)?;
    let names = NamePattern::parse(&pattern)?;
    let mut text = String::new();
    let mut count = 0usize;
    walk::visit(bounds, path.as_deref(), Some(&names), stop, |place| {
        // Whether it is really there: the walk went by path, this does not leave the folder.
        if place.root.dir.symlink_metadata(&place.inside).is_ok() {
            count += 1;
            if count <= MOST_PATHS {
                let _ = writeln!(text, "{}", place.shown);
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if count == 0 {
        let _ = writeln!(text, "no files fit `{pattern}`");
    }
    if let Some(more @ 1..) = count.checked_sub(MOST_PATHS) {
        let _ = writeln!(text, "… and {more} more; narrow the pattern or the path");
    }
    Ok(Output::text(text))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    #[test]
    fn files_are_found_in_order() {
        let fixture = Fixture::new(&[
            (".gitignore", "target/\n*.log\n"),
            ("src/.gitignore", "secret.rs\n"),
            ("src/b.rs", ""),
            ("src/a.rs", ""),
            ("src/deep/c.rs", ""),
            ("src/secret.rs", ""),
            ("target/x.rs", ""),
            (".git/y.rs", ""),
            (".github/z.rs", ""),
            ("a.log", ""),
        ]);
        fixture.link("out", "../outside");
        fixture.link("src/link.rs", "a.rs");
        for (arguments, found) in [
            (
                json!({ "pattern": "*.rs" }),
                ".github/z.rs\nsrc/a.rs\nsrc/b.rs\nsrc/deep/c.rs\nsrc/link.rs\n",
            ),
            (
                json!({ "pattern": "src/*.rs" }),
                "src/a.rs\nsrc/b.rs\nsrc/link.rs\n",
            ),
            (
                json!({ "pattern": "*.rs", "path": "src/deep" }),
                "src/deep/c.rs\n",
            ),
            (
                json!({ "pattern": "*.rs", "path": "target" }),
                "target/x.rs\n",
            ),
            (json!({ "pattern": "CANARY*" }), "no files fit `CANARY*`\n"),
            (
                json!({ "pattern": "*", "path": "out" }),
                "refused: `out` leads outside the allowed folders through a symlink",
            ),
            (
                json!({ "pattern": "[z-a]" }),
                "refused: `[z-a]` is not a file pattern: invalid range; 'z' > 'a'",
            ),
            (
                json!({ "pattern": "*", "path": "no" }),
                "provider_failed: `no` does not exist",
            ),
        ] {
            assert_eq!(
                fixture.text("glob", arguments.clone()),
                found,
                "{arguments}"
            );
        }
    }

    #[test]
    fn every_allowed_folder_is_searched_once() {
        let files = [("a/x", ""), ("a/b/x", ""), ("c/x", ""), ("d/x", "")];
        let fixture = Fixture::with(&files, &["a/b", "a", "c"], &[]);
        let found = fixture.text("glob", json!({ "pattern": "x" }));
        assert_eq!(found, "a/b/x\na/x\nc/x\n");
    }

    #[test]
    fn long_results_say_how_much_more() {
        let files: Vec<String> = (0..MOST_PATHS + 3).map(|it| format!("d/{it:04}")).collect();
        let files: Vec<_> = files.iter().map(|it| (it.as_str(), "")).collect();
        let text = Fixture::new(&files).text("glob", json!({ "pattern": "0*" }));
        assert_eq!(text.lines().count(), MOST_PATHS + 1);
        assert!(text.ends_with("… and 3 more; narrow the pattern or the path\n"));
    }
}
