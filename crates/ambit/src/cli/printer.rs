//! Data on stdout, the rest on stderr, colour only on a terminal.

use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use miette::GraphicalTheme;
use serde::Serialize;
use serde_json::json;

use crate::cli::fail::Fail;
use crate::config::{Problem, Severity};

pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// Where a command's output goes. A reader that goes away (`| head`) ends the output quietly.
pub(crate) struct Printer {
    json: bool,
}

/// What every JSON answer has around it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<T> {
    schema_version: u32,
    #[serde(flatten)]
    body: T,
}

impl Printer {
    pub(crate) fn new(json: bool) -> Self {
        Printer { json }
    }

    /// Whether a program reads.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// A line of data for a person.
    pub(crate) fn line(&self, text: impl AsRef<str>) {
        let mut out = AutoStream::auto(io::stdout().lock());
        let _ = writeln!(out, "{}", text.as_ref());
    }

    /// Text as it is, without a line end of its own.
    pub(crate) fn raw(&self, text: &str) {
        let mut out = io::stdout().lock();
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
    }

    /// A JSON document, with the version of its shape.
    pub(crate) fn document(&self, body: impl Serialize) {
        self.json_line(&Document {
            schema_version: 1,
            body,
        });
    }

    /// One JSON value on a line of its own.
    pub(crate) fn json_line(&self, value: &impl Serialize) {
        // Standard output flushes at line ends, and JSON has few: it would write piecemeal.
        let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
        if serde_json::to_writer(&mut out, value).is_ok() {
            let _ = out.write_all(b"\n");
        }
        let _ = out.flush();
    }

    /// Something beside the data.
    pub(crate) fn note(&self, text: impl AsRef<str>) {
        note(text);
    }

    /// A warning beside the data, drawn with its place.
    pub(crate) fn problem(&self, problem: &Problem) {
        self.note(problem.render(theme()).trim_end());
    }

    /// Everything that kept a command from its work.
    pub(crate) fn failure(&self, fail: &Fail) {
        if !self.json {
            return fail.problems.iter().for_each(|it| self.problem(it));
        }
        let first = fail
            .problems
            .iter()
            .find(|it| it.severity == Severity::Error)
            .or(fail.problems.first());
        let mut document = json!({"error": first.map(Problem::to_json)});
        if let (true, Some(map)) = (fail.problems.len() > 1, document.as_object_mut()) {
            map.insert(
                "problems".to_owned(),
                fail.problems.iter().map(Problem::to_json).collect(),
            );
        }
        self.document(document);
    }
}

fn theme() -> GraphicalTheme {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
    match io::stderr().is_terminal() {
        true if plain => GraphicalTheme::unicode_nocolor(),
        true => GraphicalTheme::unicode(),
        false => GraphicalTheme::none(),
    }
}

/// Something beside the data, from wherever there is no printer: progress, mostly.
pub(crate) fn note(text: impl AsRef<str>) {
    let mut out = AutoStream::auto(io::stderr().lock());
    let _ = writeln!(out, "{}", text.as_ref());
}

/// `1 tool`, `2 tools`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Text in a style.
pub(crate) fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Rows padded to columns; the last column is as wide as it is.
pub(crate) fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let widest = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|it| it.chars().count())
            .max()
            .unwrap_or(0)
    };
    rows.iter()
        .map(|row| {
            let mut line = String::new();
            for (n, cell) in row.iter().enumerate() {
                line.push_str(cell);
                if n + 1 < row.len() {
                    line.push_str(&" ".repeat(widest(n) - cell.chars().count() + 2));
                }
            }
            line.trim_end().to_owned()
        })
        .collect()
}

/// A text cut to a width, so that a table keeps its lines.
pub(crate) fn fit(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars()
        .take(width.saturating_sub(1))
        .chain(['…'])
        .collect()
}
