//! Something wrong with a configuration: what, where and what to do about it. One value serves
//! the terminal (a snippet with the place underlined) and programs (a small JSON object).

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ambit_core::digest::Digest;
use ambit_core::printable::is_bidirectional;
use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError,
    MietteSpanContents, SourceCode, SourceSpan, SpanContents,
};
use serde_json::{Value, json};

/// More than this about one file, and it is not a config with mistakes but something else.
pub(super) const MAX_PROBLEMS: usize = 100;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The configuration cannot be used.
    Error,
    /// It can, but not all of it was.
    Warning,
}

/// A file's text and its path.
#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    text: Arc<str>,
    /// The same text with what must not be shown blotted out.
    shown: Arc<str>,
}

impl Source {
    /// A text and where it came from.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> Source {
        let text = text.into();
        Source {
            path: path.into(),
            shown: harmless(&text).into(),
            text,
        }
    }

    /// The digest of the text.
    pub(super) fn digest(&self) -> Digest {
        Digest::of_bytes(self.text.as_bytes())
    }

    /// With these ranges blotted out wherever the text is shown.
    #[must_use]
    pub(super) fn blotting(self, ranges: impl IntoIterator<Item = Range<usize>>) -> Source {
        let mut shown = self.shown.as_bytes().to_vec();
        for range in ranges {
            // As many bytes as before, so that every place stays where it is.
            if let Some(bytes) = shown.get_mut(range) {
                bytes.fill(b'*');
            }
        }
        // Not UTF-8 only if a range cut a character in two; then nothing is shown.
        let shown = String::from_utf8(shown).unwrap_or_default();
        Source {
            shown: shown.into(),
            ..self
        }
    }

    /// Where it came from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A place in it. Out of range means its end.
    pub fn place(&self, range: Range<usize>) -> Place {
        let before = self.text.get(..range.start).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before.get(line_start..).unwrap_or("").chars().count() + 1;
        Place {
            file: self.path.clone(),
            line: before.matches('\n').count() + 1,
            column,
            range,
            shown: Arc::clone(&self.shown),
        }
    }
}

/// Where in a file.
#[derive(Clone)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The bytes it covers.
    pub range: Range<usize>,
    shown: Arc<str>,
}

impl Place {
    /// Longest neighbourhood worth showing: a minified file is one line of a megabyte.
    const MOST_SHOWN: usize = 2000;

    /// What to underline: the range, but only on its first line.
    fn underlined(&self) -> Range<usize> {
        let text = self.shown.get(self.range.clone()).unwrap_or("");
        let first = text.lines().next().unwrap_or("").len();
        self.range.start..self.range.start + first
    }

    fn is_worth_showing(&self) -> bool {
        let at = self.range.start;
        let (Some(before), Some(after)) = (self.shown.get(..at), self.shown.get(at..)) else {
            return false;
        };
        // The line itself and one on either side, as the snippet has it.
        let above = before.rsplitn(3, '\n').take(2).map(str::len).sum::<usize>();
        let below = after.splitn(3, '\n').take(2).map(str::len).sum::<usize>();
        above + below <= Self::MOST_SHOWN
    }
}

/// The text around the place. Columns are counted in characters, as everywhere here.
impl SourceCode for Place {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let found = self.shown.read_span(span, lines_before, lines_after)?;
        let before = self.shown.get(..found.span().offset()).unwrap_or("");
        let line = before.rsplit('\n').next().unwrap_or("");
        Ok(Box::new(MietteSpanContents::new_named(
            harmless(&self.file.to_string_lossy()),
            found.data(),
            *found.span(),
            found.line(),
            line.chars().count(),
            found.line_count(),
        )))
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// What is wrong, where, and what to do about it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// A stable word for programs.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub at: Option<Box<Place>>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem that makes the configuration unusable.
    pub fn error(code: &'static str, message: impl Into<String>) -> Problem {
        Problem {
            severity: Severity::Error,
            code,
            message: presentable(&message.into()),
            at: None,
            hint: None,
        }
    }

    /// A problem one can go on with.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Problem {
        Problem {
            severity: Severity::Warning,
            ..Problem::error(code, message)
        }
    }

    /// With its place.
    #[must_use]
    pub fn at(self, place: impl Into<Option<Place>>) -> Problem {
        Problem {
            at: place.into().map(Box::new),
            ..self
        }
    }

    /// With a remedy.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Problem {
        Problem {
            hint: Some(presentable(&hint.into())),
            ..self
        }
    }

    /// `{"code", "message", "hints", "at": {"file", "line", "column"}}`; `at` only where there
    /// is a place.
    pub fn to_json(&self) -> Value {
        let hints: Vec<&str> = self.hint.as_deref().into_iter().collect();
        let mut json = json!({"code": self.code, "message": self.message, "hints": hints});
        if let (Some(at), Some(object)) = (&self.at, json.as_object_mut()) {
            let at =
                json!({"file": at.file.to_string_lossy(), "line": at.line, "column": at.column});
            object.insert("at".to_owned(), at);
        }
        json
    }

    /// For a person, with a snippet of the file.
    pub fn render(&self, theme: GraphicalTheme) -> String {
        let mut out = String::new();
        let handler = GraphicalReportHandler::new_themed(theme).with_links(false);
        match handler.render_report(&mut out, self) {
            Ok(()) => out,
            Err(fmt::Error) => self.message.clone(),
        }
    }
}

/// A text of the same length that does nothing to a terminal: somebody else wrote the file.
fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => out.push(' '),
            c if c.is_control() || is_bidirectional(c) => {
                out.extend(std::iter::repeat_n('?', c.len_utf8()));
            }
            c => out.push(c),
        }
    }
    out
}

/// What a message quotes, on one line and of a length to be read.
pub(crate) fn presentable(text: &str) -> String {
    const MOST: usize = 600;
    let text = harmless(text).replace(['\n', '\t'], " ");
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or("")),
        None => text,
    }
}

impl Diagnostic for Problem {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let place = self.at.as_ref().filter(|it| !it.is_worth_showing());
        match (&self.hint, place) {
            (hint, None) => Some(Box::new(hint.as_ref()?)),
            (None, Some(place)) => Some(Box::new(format!("at {place}"))),
            (Some(hint), Some(place)) => Some(Box::new(format!("{hint}\nat {place}"))),
        }
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        let place = self.at.as_ref().filter(|it| it.is_worth_showing())?;
        Some(&**place)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.at.as_ref().filter(|it| it.is_worth_showing())?;
        let label = LabeledSpan::underline(place.underlined());
        Some(Box::new(std::iter::once(label)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let source = Source::new("f", "{\n  \"äöü\": 1,\n}");
        for (range, expected) in [
            (0..1, "f:1:1"),
            (4..12, "f:2:3"),
            (14..15, "f:2:10"),
            (900..901, "f:3:2"),
        ] {
            assert_eq!(source.place(range).to_string(), expected);
        }
    }

    #[test]
    fn json_has_one_shape() {
        let problem = Problem::error("c", "m").hint("h");
        assert_eq!(
            problem.to_json().to_string(),
            r#"{"code":"c","hints":["h"],"message":"m"}"#
        );
        let problem = problem.at(Source::new("f", "{}").place(1..2));
        assert_eq!(
            problem.to_json()["at"].to_string(),
            r#"{"column":2,"file":"f","line":1}"#
        );
    }

    #[test]
    fn nothing_in_a_file_reaches_the_terminal_as_a_command() {
        let text = "{\"\u{1b}[31m\u{9b}2J\u{202e}\r\": 1}";
        let key = "\u{1b}]0;x\u{7}\n".repeat(1000);
        let problem = Problem::error("c", format!("unknown key `{key}`"))
            .at(Source::new("\u{1b}f", text).place(1..2));
        let shown = problem.render(GraphicalTheme::none());
        assert!(
            !shown.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\r', '\u{7}']),
            "{shown:?}"
        );
        assert!(shown.len() < 1500);
    }

    #[test]
    fn a_line_too_long_to_show_is_only_named() {
        let text = format!("[{}]", "1,".repeat(100_000));
        let problem = Problem::error("c", "m").at(Source::new("f", text).place(5..6));
        let shown = problem.render(GraphicalTheme::none());
        assert!(shown.len() < 200 && shown.contains("f:1:6"), "{shown}");
    }
}
