//! `read_file`: a page of a text file, as it is. What is not UTF-8 text is refused and not
//! shown approximately: an approximation edited and written back would destroy the file.

use std::io::{self, BufRead, BufReader, Read as _};
use std::num::NonZeroU64;

use ambit_core::effects::Effects;
use ambit_core::observation::{Content, Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};

use super::bounds::{Bounds, Place};
use super::{Tool, path_schema};
use crate::declare::{arguments, object};
use crate::stop::Stop;

/// Most bytes of one page: below what a result is cut at, so that pages end at lines.
const MOST_BYTES: usize = 64 * 1024;
const MOST_LINES: u64 = 2_000;

pub(super) const TOOL: Tool = Tool {
    name: "read_file",
    title: "Read file",
    description: "Read a text file, whole or a page of its lines. \
        Returns the text as it is, without line numbers; a long file comes in pages, and what \
        remains is told with the `offset` to go on from.",
    effects: Effects::READS,
    permissions: &["fs:read"],
    tags: &["files", "read"],
    input,
    run,
};

fn input() -> Value {
    object(
        &["path"],
        json!({
            "path": path_schema("The file, relative to the workspace."),
            "offset": {
                "type": "integer", "minimum": 1, "default": 1,
                "description": "The first line to return, counted from 1.",
            },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": MOST_LINES, "default": MOST_LINES,
                "description": "How many lines to return at most.",
            },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    #[serde(default = "first")]
    offset: NonZeroU64,
    #[serde(default = "most")]
    limit: u64,
}

fn first() -> NonZeroU64 {
    NonZeroU64::MIN
}

fn most() -> u64 {
    MOST_LINES
}

fn run(bounds: &Bounds, value: Value, stop: &Stop) -> Result<Output, Failure> {
    let asked: Arguments = arguments(value)?;
    let offset = asked.offset.get();
    let place = bounds.locate(&asked.path)?;
    let (file, metadata) = place.open_file()?;
    let size = metadata.len();
    let failed = |error: io::Error| stop.check().err().unwrap_or(place.failure(&error));
    let mut reader = BufReader::new(stop.reader(file));

    // Told by its first bytes, before a long way through something without lines.
    if reader.fill_buf().map_err(failed)?.contains(&0) {
        return Err(not_text(&place, size));
    }
    let mut position = 0;
    for line in 1..offset {
        let skipped = reader.skip_until(b'\n').map_err(failed)?;
        if skipped == 0 {
            return Err(Failure::refused(format!(
                "`{}` has only {} lines",
                place.shown,
                line - 1
            )));
        }
        position += skipped as u64;
    }
    let page = Page::read(&mut reader, asked.limit).map_err(failed)?;
    let (lines, end) = (page.lines, page.end);
    let text = page.into_text().ok_or_else(|| not_text(&place, size))?;

    let shown = &place.shown;
    let remain = size.saturating_sub(position + text.len() as u64);
    let next = offset + lines;
    let note = match end {
        End::OfFile if text.is_empty() => Some(format!("`{shown}` has nothing more")),
        End::OfFile => None,
        End::OfLine => Some(format!(
            "lines {} to {} of `{shown}`; {remain} bytes remain: go on with `offset` {next}",
            offset,
            next - 1
        )),
        End::InLine => Some(format!(
            "line {} of `{shown}`, cut after {} bytes because it is longer; {remain} bytes of \
             the file remain: use grep to look inside, or go on with `offset` {next}",
            offset,
            text.len()
        )),
    };
    let mut output = Output::text(text);
    output.content.extend(note.map(Content::text));
    Ok(output)
}

/// Where a page ends.
#[derive(Clone, Copy)]
enum End {
    OfFile,
    OfLine,
    /// One line is longer than a page.
    InLine,
}

/// Some lines, as bytes.
struct Page {
    bytes: Vec<u8>,
    lines: u64,
    end: End,
}

impl Page {
    fn read(reader: &mut impl BufRead, limit: u64) -> io::Result<Page> {
        let mut bytes = Vec::new();
        let mut lines = 0;
        while lines < limit && bytes.len() < MOST_BYTES {
            let room = (MOST_BYTES - bytes.len()) as u64;
            if reader.by_ref().take(room).read_until(b'\n', &mut bytes)? == 0 {
                break;
            }
            lines += 1;
        }
        let mut end = End::OfLine;
        if reader.fill_buf()?.is_empty() {
            end = End::OfFile;
        } else if !bytes.ends_with(b"\n") {
            match bytes.iter().rposition(|it| *it == b'\n') {
                Some(last) => {
                    bytes.truncate(last + 1);
                    lines -= 1;
                }
                None => end = End::InLine,
            }
        }
        Ok(Page { bytes, lines, end })
    }

    /// The text, if it is one. A page that ends inside a line may also end inside a character.
    fn into_text(self) -> Option<String> {
        if self.bytes.contains(&0) {
            return None;
        }
        match (String::from_utf8(self.bytes), self.end) {
            (Ok(text), _) => Some(text),
            (Err(error), End::InLine) if error.utf8_error().error_len().is_none() => {
                let whole = error.utf8_error().valid_up_to();
                let mut bytes = error.into_bytes();
                bytes.truncate(whole);
                String::from_utf8(bytes).ok()
            }
            (Err(_), _) => None,
        }
    }
}

fn not_text(place: &Place<'_>, size: u64) -> Failure {
    Failure::refused(format!(
        "`{}` is not UTF-8 text ({size} bytes)",
        place.shown
    ))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    #[test]
    fn pages_join_to_the_whole_file() {
        let whole: String = (1..=9_000).map(|it| format!("line {it} ü\n")).collect();
        let fixture = Fixture::new(&[("long.txt", &whole)]);
        let (mut read, mut offset, mut pages) = (String::new(), 1, 0);
        loop {
            let page = fixture
                .call("read_file", json!({ "path": "long.txt", "offset": offset }))
                .unwrap();
            let text = page.content[0].as_text().unwrap();
            read.push_str(text);
            offset += text.lines().count();
            pages += 1;
            match page.content.get(1) {
                Some(note) => assert!(
                    note.as_text()
                        .unwrap()
                        .ends_with(&format!("`offset` {offset}"))
                ),
                None => break,
            }
        }
        assert_eq!((read == whole, pages), (true, 5));
    }

    #[test]
    fn what_is_returned() {
        let fixture = Fixture::new(&[
            ("a.txt", "one\ntwo\nthree"),
            ("empty", ""),
            ("bin", "a\0b"),
            ("crlf", "a\r\nb\r\n"),
            ("long line", &"ü".repeat(MOST_BYTES)),
        ]);
        std::fs::write(fixture.path("latin1"), b"caf\xe9\n").unwrap();
        std::fs::write(fixture.path("late"), [vec![b'a'; 20_000], vec![0]].concat()).unwrap();
        let sparse = std::fs::File::create(fixture.path("sparse")).unwrap();
        sparse.set_len(1 << 40).unwrap();
        rustix::fs::mkfifoat(
            rustix::fs::CWD,
            fixture.path("pipe"),
            rustix::fs::Mode::RWXU,
        )
        .unwrap();
        #[track_caller]
        fn check(fixture: &Fixture, arguments: Value, expected: &str) {
            let text = fixture.text("read_file", arguments);
            let shortened = text.trim_start_matches('ü').trim_start();
            assert_eq!(shortened, expected);
        }
        for (arguments, expected) in [
            (json!({ "path": "a.txt" }), "one\ntwo\nthree"),
            (json!({ "path": "./x/../a.txt", "offset": 3 }), "three"),
            (
                json!({ "path": "a.txt", "offset": 2, "limit": 1 }),
                "two\n\nlines 2 to 2 of `a.txt`; 5 bytes remain: go on with `offset` 3",
            ),
            (
                json!({ "path": "a.txt", "offset": 5 }),
                "refused: `a.txt` has only 3 lines",
            ),
            (json!({ "path": "empty" }), "`empty` has nothing more"),
            (json!({ "path": "crlf" }), "a\r\nb\r\n"),
            (
                json!({ "path": "bin" }),
                "refused: `bin` is not UTF-8 text (3 bytes)",
            ),
            (
                json!({ "path": "late" }),
                "refused: `late` is not UTF-8 text (20001 bytes)",
            ),
            (
                json!({ "path": "sparse" }),
                "refused: `sparse` is not UTF-8 text (1099511627776 bytes)",
            ),
            (
                json!({ "path": "latin1" }),
                "refused: `latin1` is not UTF-8 text (5 bytes)",
            ),
            (
                json!({ "path": "pipe" }),
                "refused: `pipe` is not a regular file (a pipe, socket or device)",
            ),
            (
                json!({ "path": "." }),
                "refused: `.` is a folder, not a file",
            ),
            (
                json!({ "path": "no/such" }),
                "provider_failed: `no/such` does not exist",
            ),
            (
                json!({ "path": "a.txt/x" }),
                "provider_failed: `a.txt/x`: a part of the path is a file, not a folder",
            ),
            (
                json!({ "path": "long line" }),
                "line 1 of `long line`, cut after 65536 bytes because it is longer; 65536 bytes \
                 of the file remain: use grep to look inside, or go on with `offset` 2",
            ),
        ] {
            check(&fixture, arguments, expected);
        }
    }
}
