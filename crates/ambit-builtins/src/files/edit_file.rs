//! `edit_file`: a piece of text exchanged for another. It must be found exactly once, or
//! everywhere be meant: a guess at the wrong place is worse than asking again.

use std::io::Read as _;
use std::ops::Range;

use ambit_core::effects::Effects;
use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};

use super::bounds::{Bounds, Place};
use super::replace::Target;
use super::{Tool, diff, path_schema};
use crate::declare::{arguments, object};
use crate::stop::Stop;

const MOST_BYTES: u64 = 16 * 1024 * 1024;
const MOST_CHARACTERS: usize = 1024 * 1024;
/// How many places an ambiguity names.
const MOST_PLACES: usize = 10;

pub(super) const TOOL: Tool = Tool {
    name: "edit_file",
    title: "Edit file",
    description: "Replace a piece of text in a file by another. \
        `old_text` must be in the file exactly once, character for character, or `replace_all` \
        be set; add surrounding lines to make it unique. Returns the change as a diff.",
    effects: Effects::WRITES,
    permissions: &["fs:read", "fs:write"],
    tags: &["files", "write", "edit"],
    input,
    run,
};

fn input() -> Value {
    object(
        &["path", "old_text", "new_text"],
        json!({
            "path": path_schema("The file, relative to the workspace."),
            "old_text": {
                "type": "string", "minLength": 1, "maxLength": MOST_CHARACTERS,
                "description": "The text to replace, exactly as it is in the file, indentation included.",
            },
            "new_text": {
                "type": "string", "maxLength": MOST_CHARACTERS,
                "description": "What to put in its place; empty to delete it.",
            },
            "replace_all": {
                "type": "boolean", "default": false,
                "description": "Replace every occurrence instead of requiring exactly one.",
            },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    old_text: String,
    new_text: String,
    #[serde(default)]
    replace_all: bool,
}

fn run(bounds: &Bounds, value: Value, stop: &Stop) -> Result<Output, Failure> {
    let edit: Arguments = arguments(value)?;
    if edit.old_text.is_empty() {
        return Err(Failure::refused("`old_text` is empty"));
    }
    if edit.old_text == edit.new_text {
        return Err(Failure::refused(
            "`old_text` and `new_text` are the same: nothing would change",
        ));
    }
    let place = bounds.locate(&edit.path)?;
    // Unlike a write, an edit must not begin by creating folders.
    place.open_file()?;
    let _one_at_a_time = bounds.writing.lock();
    stop.check()?;
    let target = Target::open(bounds, &place)?;
    let content = read(&target, &place, stop)?;
    let found: Vec<Range<usize>> = content
        .match_indices(&edit.old_text)
        .map(|(at, text)| at..at + text.len())
        .collect();
    match found.len() {
        0 => return Err(not_found(&place.shown, &content, &edit.old_text)),
        1 => {}
        _ if edit.replace_all => {}
        _ => return Err(ambiguous(&place.shown, &content, &found)),
    }
    target.replace(
        content.replace(&edit.old_text, &edit.new_text).as_bytes(),
        stop,
    )?;
    let times = match found.len() {
        1 => "1 replacement".to_owned(),
        count => format!("{count} replacements"),
    };
    let diff = diff::unified(&place.shown, &content, &found, &edit.new_text);
    Ok(Output::text(format!("{times}\n{diff}")))
}

/// All of a file, as far as it can be edited.
fn read(target: &Target<'_>, place: &Place<'_>, stop: &Stop) -> Result<String, Failure> {
    let (file, _) = target.open_existing()?;
    let mut content = Vec::new();
    let read = stop
        .reader(file)
        .take(MOST_BYTES + 1)
        .read_to_end(&mut content);
    if read.map_err(|error| place.failure(&error))? as u64 > MOST_BYTES {
        return Err(Failure::refused(format!(
            "`{}` is larger than the {MOST_BYTES} bytes that can be edited",
            place.shown
        )));
    }
    String::from_utf8(content)
        .map_err(|_| Failure::refused(format!("`{}` is not UTF-8 text", place.shown)))
}

fn line_of(content: &str, at: usize) -> usize {
    content.bytes().take(at).filter(|it| *it == b'\n').count() + 1
}

fn ambiguous(shown: &str, content: &str, found: &[Range<usize>]) -> Failure {
    let lines: Vec<_> = found
        .iter()
        .take(MOST_PLACES)
        .map(|it| line_of(content, it.start).to_string())
        .collect();
    let more = match found.len().saturating_sub(MOST_PLACES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Failure::refused(format!(
        "`old_text` is {} times in `{shown}`, at lines {}{more}: add surrounding lines to make \
         it unique, or set `replace_all`",
        found.len(),
        lines.join(", ")
    ))
}

/// Says what is nearest: most misses are white space, or line ends.
fn not_found(shown: &str, content: &str, old_text: &str) -> Failure {
    let first = old_text.lines().map(str::trim).find(|it| !it.is_empty());
    let near = first.and_then(|first| {
        content
            .lines()
            .position(|line| line.trim() == first)
            .map(|at| at + 1)
    });
    let hint = if content.contains("\r\n") && !old_text.contains('\r') && old_text.contains('\n') {
        "; its lines end in `\\r\\n`".to_owned()
    } else if let Some(line) = near {
        format!("; line {line} begins alike: compare white space and what follows")
    } else {
        "; read the file to see what it says now".to_owned()
    };
    Failure::refused(format!("`old_text` is not in `{shown}`{hint}"))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::fixture::Fixture;
    use super::*;

    #[track_caller]
    fn check(content: &str, edit: Value, said: Expect, after: &str) {
        let fixture = Fixture::new(&[("f", content)]);
        let mut arguments = json!({ "path": "f" });
        let map = arguments.as_object_mut().unwrap();
        map.extend(edit.as_object().unwrap().clone());
        said.assert_eq(&fixture.text("edit_file", arguments));
        assert_eq!(fixture.content("f"), after);
        assert_eq!(fixture.names("."), ["f"]);
    }

    #[test]
    fn one_place_is_replaced() {
        check(
            "a\nb\nc\nd\ne\nf\ng\n",
            json!({ "old_text": "d\n", "new_text": "D\nDD\n" }),
            expect![[r#"
                1 replacement
                --- f
                +++ f
                @@ -1,7 +1,8 @@
                 a
                 b
                 c
                -d
                +D
                +DD
                 e
                 f
                 g
            "#]],
            "a\nb\nc\nD\nDD\ne\nf\ng\n",
        );
    }

    #[test]
    fn every_place_is_replaced_when_meant() {
        check(
            "x x\ny\nx",
            json!({ "old_text": "x", "new_text": "z", "replace_all": true }),
            expect![[r#"
                3 replacements
                --- f
                +++ f
                @@ -1,2 +1,2 @@
                -x x
                +z z
                 y
                @@ -3,1 +3,1 @@
                -x
                \ No newline at end of file
                +z
                \ No newline at end of file
            "#]],
            "z z\ny\nz",
        );
    }

    #[test]
    fn what_is_unclear_changes_nothing() {
        let many = "x\n".repeat(15);
        for (content, old, new, said) in [
            (
                "x\ny\nx\n",
                "x",
                "z",
                expect![
                    "refused: `old_text` is 2 times in `f`, at lines 1, 3: add surrounding lines to make it unique, or set `replace_all`"
                ],
            ),
            (
                many.as_str(),
                "x",
                "z",
                expect![
                    "refused: `old_text` is 15 times in `f`, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 5 more: add surrounding lines to make it unique, or set `replace_all`"
                ],
            ),
            (
                "fn a() {\n    b();\n}\n",
                "  b();\n  c();",
                "z",
                expect![
                    "refused: `old_text` is not in `f`; line 2 begins alike: compare white space and what follows"
                ],
            ),
            (
                "a\r\nb\r\n",
                "a\nb",
                "z",
                expect!["refused: `old_text` is not in `f`; its lines end in `\\r\\n`"],
            ),
            (
                "a",
                "q",
                "z",
                expect!["refused: `old_text` is not in `f`; read the file to see what it says now"],
            ),
            (
                "a",
                "a",
                "a",
                expect!["refused: `old_text` and `new_text` are the same: nothing would change"],
            ),
            ("a", "", "z", expect!["refused: `old_text` is empty"]),
        ] {
            check(
                content,
                json!({ "old_text": old, "new_text": new }),
                said,
                content,
            );
        }
    }

    #[test]
    fn a_missing_file_creates_nothing() {
        let fixture = Fixture::new(&[]);
        let said = fixture.text(
            "edit_file",
            json!({ "path": "a/b", "old_text": "x", "new_text": "y" }),
        );
        assert_eq!(said, "provider_failed: `a/b` does not exist");
        assert!(fixture.names(".").is_empty());
    }
}
