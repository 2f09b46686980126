//! `grep`: lines by their content, with ripgrep's own searcher. A file is searched as a stream
//! beneath its folder, so neither a large file nor a link swapped in matters.

use std::fmt::Write as _;
use std::io;
use std::ops::ControlFlow;

use ambit_core::effects::Effects;
use ambit_core::observation::{Failure, Output};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use serde::Deserialize;
use serde_json::{Value, json};

use super::bounds::{Bounds, open_regular};
use super::name_pattern::NamePattern;
use super::{Tool, path_schema, walk};
use crate::declare::{arguments, object};
use crate::stop::Stop;

const MOST_MATCHES: usize = 1_000;
const USUAL_MATCHES: usize = 200;
const MOST_BYTES: usize = 256 * 1024;
const MOST_CONTEXT: usize = 20;
/// Longer lines are clipped; what is minified is not worth its tokens.
const MOST_LINE: usize = 500;
/// What a compiled pattern may take up.
const MOST_REGEX: usize = 10 * 1024 * 1024;
/// What one file's search may hold: a file with a longer line is skipped.
const HEAP: usize = 16 * 1024 * 1024;

pub(super) const TOOL: Tool = Tool {
    name: "grep",
    title: "Search file contents",
    description: "Search the contents of files with a regular expression, line by line. \
        Returns `path:line:text` for matches and `path-line-text` for lines around them. What \
        .gitignore leaves out and binary files are left out; hidden files are included.",
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
                "type": "string", "minLength": 1, "maxLength": 4096,
                "description": "The regular expression (Rust syntax: no look-around, no back-references). Escape `.`, `(`, `{` and the like to find them as they are.",
            },
            "path": path_schema("The file or folder to search, relative to the workspace. Default: all allowed folders."),
            "glob": {
                "type": "string", "minLength": 1, "maxLength": 1024,
                "description": "Only files that fit, such as `*.rs` or `src/**/*.ts`.",
            },
            "ignore_case": {
                "type": "boolean", "default": false,
                "description": "Whether `a` also finds `A`.",
            },
            "context": {
                "type": "integer", "minimum": 0, "maximum": MOST_CONTEXT, "default": 0,
                "description": "How many lines to show before and after each match.",
            },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": MOST_MATCHES, "default": USUAL_MATCHES,
                "description": "How many matching lines to return at most.",
            },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    context: usize,
    #[serde(default = "usual")]
    limit: usize,
}

fn usual() -> usize {
    USUAL_MATCHES
}

fn run(bounds: &Bounds, value: Value, stop: &Stop) -> Result<Output, Failure> {
    let asked: Arguments = arguments(value)?;
    let matcher = compile(&asked)?;
    let names = asked.glob.as_deref().map(NamePattern::parse).transpose()?;
    let context = asked.context.min(MOST_CONTEXT);
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(HEAP))
        .build();

    let mut found = Found {
        text: String::new(),
        left: asked.limit.min(MOST_MATCHES),
        more: false,
    };
    let mut skipped = 0usize;
    walk::visit(
        bounds,
        asked.path.as_deref(),
        names.as_ref(),
        stop,
        |place| {
            // Links and what cannot be read are left out.
            let Ok((file, _)) = open_regular(&place.root.dir, &place.inside) else {
                return Ok(ControlFlow::Continue(()));
            };
            let lines = Lines {
                path: &place.shown,
                found: &mut found,
            };
            if searcher
                .search_reader(&matcher, stop.reader(file), lines)
                .is_err()
            {
                stop.check()?;
                skipped += 1;
            }
            Ok(if found.more {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        },
    )?;

    let mut text = found.text;
    if text.is_empty() {
        let _ = writeln!(text, "no line matches `{}`", asked.pattern);
    }
    if found.more {
        text.push_str("… and more; narrow the pattern, the path or the glob\n");
    }
    if skipped > 0 {
        let _ = writeln!(
            text,
            "{skipped} files were skipped: unreadable, or with lines too long to search"
        );
    }
    Ok(Output::text(text))
}

fn compile(asked: &Arguments) -> Result<RegexMatcher, Failure> {
    RegexMatcherBuilder::new()
        .case_insensitive(asked.ignore_case)
        .line_terminator(Some(b'\n'))
        .size_limit(MOST_REGEX)
        .build(&asked.pattern)
        .map_err(|error| {
            Failure::refused(format!(
                "`{}` cannot be searched for: {error}",
                asked.pattern
            ))
        })
}

/// What was found so far, over all files.
struct Found {
    text: String,
    left: usize,
    more: bool,
}

/// Takes one file's lines.
struct Lines<'a> {
    path: &'a str,
    found: &'a mut Found,
}

impl Lines<'_> {
    fn push(&mut self, mark: char, number: Option<u64>, line: &[u8]) {
        // Invalid UTF-8 at the cut, if any, is replaced like any other.
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let clipped = line.get(..MOST_LINE);
        let text = String::from_utf8_lossy(clipped.unwrap_or(line));
        let ellipsis = if clipped.is_some_and(|it| it.len() < line.len()) {
            "…"
        } else {
            ""
        };
        let number = number.unwrap_or(0);
        let _ = writeln!(
            self.found.text,
            "{}{mark}{number}{mark}{text}{ellipsis}",
            self.path
        );
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, it: &SinkMatch<'_>) -> io::Result<bool> {
        if self.found.left == 0 || self.found.text.len() > MOST_BYTES {
            self.found.more = true;
            return Ok(false);
        }
        self.found.left -= 1;
        self.push(':', it.line_number(), it.bytes());
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, it: &SinkContext<'_>) -> io::Result<bool> {
        self.push('-', it.line_number(), it.bytes());
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.found.text.push_str("--\n");
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    #[test]
    fn lines_are_found() {
        let long = format!("needle{}", "x".repeat(10_000));
        let fixture = Fixture::new(&[
            (".gitignore", "*.log\n"),
            (
                "a.txt",
                "one\nTwo needle\nthree\r\nfour\nfive needle\nsix\n",
            ),
            ("b/c.rs", "fn needle() {}\n"),
            ("a.log", "needle"),
            ("bin", "needle\0"),
            ("long/min.js", &long),
        ]);
        fixture.link("b/out", "../../outside/key.txt");
        let clipped = format!("long/min.js:1:needle{}…\n", "x".repeat(MOST_LINE - 6));
        for (arguments, found) in [
            (
                json!({ "pattern": "need.e", "glob": "*.{txt,rs}" }),
                "a.txt:2:Two needle\na.txt:5:five needle\nb/c.rs:1:fn needle() {}\n",
            ),
            (
                json!({ "pattern": "NEEDLE", "path": "b", "ignore_case": true }),
                "b/c.rs:1:fn needle() {}\n",
            ),
            (
                json!({ "pattern": "needle", "path": "a.txt", "context": 1 }),
                "a.txt-1-one\na.txt:2:Two needle\na.txt-3-three\na.txt-4-four\n\
                 a.txt:5:five needle\na.txt-6-six\n",
            ),
            (
                json!({ "pattern": "one|six", "path": "a.txt", "context": 1 }),
                "a.txt:1:one\na.txt-2-Two needle\n--\na.txt-5-five needle\na.txt:6:six\n",
            ),
            (
                json!({ "pattern": "needle", "path": "a.log" }),
                "a.log:1:needle\n",
            ),
            (
                json!({ "pattern": "needle", "path": "long" }),
                clipped.as_str(),
            ),
            (
                json!({ "pattern": "needle", "limit": 1, "path": "a.txt" }),
                "a.txt:2:Two needle\n… and more; narrow the pattern, the path or the glob\n",
            ),
            (
                json!({ "pattern": "needle", "limit": 2, "path": "a.txt" }),
                "a.txt:2:Two needle\na.txt:5:five needle\n",
            ),
            (json!({ "pattern": "CANARY" }), "no line matches `CANARY`\n"),
            (
                json!({ "pattern": "x", "path": "b/out" }),
                "refused: `b/out` leads outside the allowed folders through a symlink",
            ),
        ] {
            assert_eq!(
                fixture.text("grep", arguments.clone()),
                found,
                "{arguments}"
            );
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        let fixture = Fixture::new(&[("a", "")]);
        for pattern in [
            "(",
            "a{2",
            "[z-a]",
            "\\k<x>",
            "(?=x)",
            "a\nb",
            "(a{1000}){1000}",
        ] {
            let said = fixture.text("grep", json!({ "pattern": pattern }));
            assert!(
                said.starts_with(&format!("refused: `{pattern}` cannot be searched for: ")),
                "{said}"
            );
        }
    }

    #[test]
    fn results_are_bounded() {
        let many = format!("{}\n", "needle ".repeat(60)).repeat(5_000);
        let fixture = Fixture::new(&[("a", &many), ("b", &many)]);
        let found = fixture.text("grep", json!({ "pattern": "needle" }));
        assert_eq!(found.lines().count(), USUAL_MATCHES + 1);
        let found = fixture.text(
            "grep",
            json!({ "pattern": "needle", "limit": 1000, "context": 20 }),
        );
        assert!(found.len() < MOST_BYTES + 64 * 1024, "{}", found.len());
        assert!(found.ends_with("… and more; narrow the pattern, the path or the glob\n"));
    }

    #[test]
    fn a_line_too_long_to_hold_is_told() {
        let fixture = Fixture::new(&[("ok", "needle\n")]);
        std::fs::write(fixture.path("huge"), vec![b'x'; HEAP + 1]).unwrap();
        assert_eq!(
            fixture.text("grep", json!({ "pattern": "needle" })),
            "ok:1:needle\n1 files were skipped: unreadable, or with lines too long to search\n"
        );
    }
}
