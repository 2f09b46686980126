//! JSON with comments and trailing commas, read into a value that knows where each part of it
//! stands. Nothing else is loosened: what an editor's JSON mode accepts is what counts.

use std::collections::HashMap;
use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Number, Value};

use super::problem::{MAX_PROBLEMS, Place, Problem, Source};

/// Deepest nesting accepted.
const MAX_DEPTH: usize = 128;
/// Most entries whose place is remembered: far more than any config has, and a bound on what a
/// file of the largest size costs.
const MAX_PLACES: usize = 200_000;
/// Largest file accepted.
pub(super) const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A file's value, and where each part of it stands.
#[derive(Clone, Debug)]
pub struct Document {
    /// What it says.
    pub value: Value,
    source: Source,
    spans: HashMap<String, Spans>,
}

/// Where an entry stands: its key, if it has one, and its value.
#[derive(Clone, Debug)]
struct Spans {
    key: Option<Range<usize>>,
    value: Range<usize>,
}

/// Which part of an entry is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// Its key; the value where it has none.
    Key,
    /// Its value.
    Value,
}

/// JSON with comments and trailing commas, and nothing else beyond JSON.
pub(crate) const SYNTAX: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

impl Document {
    /// Reads a text.
    pub fn parse(source: Source) -> Result<Document, Vec<Problem>> {
        let text = source.text();
        if text.starts_with('\u{feff}') {
            return Err(vec![
                Problem::error("byte_order_mark", "the file begins with a byte order mark")
                    .at(source.place(0..0))
                    .hint("save it as UTF-8 without one"),
            ]);
        }
        let parsed = match parse_to_ast(text, &CollectOptions::default(), &SYNTAX) {
            Ok(parsed) => parsed,
            Err(error) => return Err(vec![syntax(&source, &error)]),
        };
        let Some(root) = parsed.value else {
            return Err(vec![
                Problem::error("syntax", "the file says nothing")
                    .at(source.place(0..0))
                    .hint("the least it can say is `{}`"),
            ]);
        };
        let mut walk = Walk {
            source: &source,
            spans: HashMap::new(),
            problems: Vec::new(),
        };
        let value = walk.value(&root, &mut String::new(), None, 0);
        let Walk {
            spans, problems, ..
        } = walk;
        if problems.is_empty() {
            // A token pasted into a header must not come back in a message about the next line.
            let sensitive = spans.iter().filter(|(pointer, _)| is_sensitive(pointer));
            let ranges: Vec<_> = sensitive.map(|(_, spans)| inner(&spans.value)).collect();
            Ok(Document {
                value,
                source: source.blotting(ranges),
                spans,
            })
        } else {
            Err(problems)
        }
    }

    /// The text it was read from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Where the entry at this JSON pointer stands; `None` where there is no such entry.
    pub fn place(&self, pointer: &str, spot: Spot) -> Option<Place> {
        let spans = self.spans.get(pointer)?;
        let range = match spot {
            Spot::Key => spans.key.as_ref().unwrap_or(&spans.value),
            Spot::Value => &spans.value,
        };
        Some(self.source.place(range.clone()))
    }
}

/// A JSON pointer one step further.
pub(super) fn child(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Whether what stands here is there to be kept from others: an entry of a server's `env` or
/// `headers`, what proves Ambit to its authorization server, or a model's key.
pub(super) fn is_sensitive(pointer: &str) -> bool {
    let steps: Vec<&str> = pointer.split('/').skip(1).collect();
    matches!(
        steps.as_slice(),
        ["mcpServers", _, "env" | "headers", _]
            | ["mcpServers", _, "oauth", "clientSecret"]
            | ["models", _, "key"]
    )
}

/// A string without its quotes.
fn inner(range: &Range<usize>) -> Range<usize> {
    range.start + 1..range.end.saturating_sub(1).max(range.start + 1)
}

fn syntax(source: &Source, error: &ParseError) -> Problem {
    let range = error.range();
    let place = source.place(range.start..range.end);
    if matches!(error.kind(), ParseErrorKind::NestingDepthExceeded) {
        return too_deep(place);
    }
    let message = error.kind().to_string();
    let mut letters = message.chars();
    let first = letters.next().map(|it| it.to_ascii_lowercase());
    let message: String = first.into_iter().chain(letters).collect();
    let problem = Problem::error("syntax", message).at(place);
    match error.kind() {
        ParseErrorKind::SingleQuotedStringsNotAllowed
        | ParseErrorKind::ExpectedStringObjectProperty
        | ParseErrorKind::UnexpectedToken
        | ParseErrorKind::UnexpectedWord => problem.hint("keys and texts stand in double quotes"),
        ParseErrorKind::UnterminatedObject => problem.hint("a `}` is missing"),
        ParseErrorKind::UnterminatedArray => problem.hint("a `]` is missing"),
        _ => problem,
    }
}

fn too_deep(place: Place) -> Problem {
    Problem::error(
        "nesting_too_deep",
        format!("nested more than {MAX_DEPTH} levels deep"),
    )
    .at(place)
}

struct Walk<'a> {
    source: &'a Source,
    spans: HashMap<String, Spans>,
    problems: Vec<Problem>,
}

impl Walk<'_> {
    fn value(
        &mut self,
        node: &ast::Value<'_>,
        pointer: &mut String,
        key: Option<Range<usize>>,
        depth: usize,
    ) -> Value {
        let range = node.range();
        let value = range.start..range.end;
        if depth > MAX_DEPTH {
            self.report(|source| too_deep(source.place(value)));
            return Value::Null;
        }
        if self.spans.len() < MAX_PLACES {
            let value = value.clone();
            self.spans.insert(pointer.clone(), Spans { key, value });
        }
        match node {
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::BooleanLit(it) => Value::Bool(it.value),
            ast::Value::StringLit(it) => Value::String(it.value.to_string()),
            ast::Value::NumberLit(it) => match it.value.parse::<Number>() {
                Ok(number) => Value::Number(number),
                Err(_) => {
                    let message = format!("`{}` is not a number JSON can hold", it.value);
                    self.report(|source| Problem::error("syntax", message).at(source.place(value)));
                    Value::Null
                }
            },
            ast::Value::Array(it) => {
                let items = it.elements.iter().enumerate();
                items
                    .map(|(n, item)| {
                        if let ast::Value::StringLit(word) = item {
                            self.word(pointer, word);
                        }
                        self.inside(pointer, &n.to_string(), item, None, depth)
                    })
                    .collect()
            }
            ast::Value::Object(it) => Value::Object(self.object(it, pointer, depth)),
        }
    }

    fn object(
        &mut self,
        object: &ast::Object<'_>,
        pointer: &mut String,
        depth: usize,
    ) -> Map<String, Value> {
        let mut map = Map::new();
        for property in &object.properties {
            let (name, range) = match &property.name {
                ast::ObjectPropName::String(it) => (it.value.as_ref(), it.range),
                ast::ObjectPropName::Word(it) => (it.value, it.range),
            };
            let key = range.start..range.end;
            if map.contains_key(name) {
                let first = self.spans.get(&child(pointer, name));
                let first = first.and_then(|it| it.key.clone()).unwrap_or_default();
                self.report(|source| {
                    let line = source.place(first).line;
                    Problem::error("duplicate_key", format!("`{name}` stands here twice"))
                        .at(source.place(key))
                        .hint(format!(
                            "it already stands in line {line}; keep one of them"
                        ))
                });
                continue;
            }
            let value = self.inside(pointer, name, &property.value, Some(key), depth);
            map.insert(name.to_owned(), value);
        }
        map
    }

    /// Adds a problem, unless there are enough. Places are counted from the start of the file,
    /// so they are found only for what is kept.
    fn report(&mut self, problem: impl FnOnce(&Source) -> Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem(self.source));
        }
    }

    /// An entry of a list of words can also be found by its word: `["files"]` is short for
    /// `{"files": {}}`, and whoever resolves it speaks of `/files`.
    fn word(&mut self, pointer: &str, word: &ast::StringLit<'_>) {
        if self.spans.len() < MAX_PLACES {
            let value = word.range.start..word.range.end;
            let spans = Spans { key: None, value };
            let pointer = child(pointer, &word.value);
            self.spans.entry(pointer).or_insert(spans);
        }
    }

    fn inside(
        &mut self,
        pointer: &mut String,
        step: &str,
        node: &ast::Value<'_>,
        key: Option<Range<usize>>,
        depth: usize,
    ) -> Value {
        let length = pointer.len();
        *pointer = child(pointer, step);
        let value = self.value(node, pointer, key, depth + 1);
        pointer.truncate(length);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Document, Vec<Problem>> {
        Document::parse(Source::new("f", text))
    }

    #[track_caller]
    fn refused(text: &str, expected: &[&str]) {
        let problems = parse(text).unwrap_err();
        let shown = |it: &Problem| format!("{} {it} {}", it.at.as_ref().unwrap(), it.code);
        assert_eq!(problems.iter().map(shown).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_part_knows_its_place() {
        let document = parse("{ // c\n \"a/b\": [1, {\"x\": true,}, \"word\"],\n}").unwrap();
        assert_eq!(
            document.value,
            serde_json::json!({"a/b": [1, {"x": true}, "word"]})
        );
        for (pointer, spot, expected) in [
            ("", Spot::Value, "f:1:1"),
            ("/a~1b", Spot::Key, "f:2:2"),
            ("/a~1b", Spot::Value, "f:2:9"),
            ("/a~1b/0", Spot::Key, "f:2:10"),
            ("/a~1b/1/x", Spot::Value, "f:2:19"),
            ("/a~1b/2", Spot::Value, "f:2:27"),
            ("/a~1b/word", Spot::Value, "f:2:27"),
        ] {
            assert_eq!(document.place(pointer, spot).unwrap().to_string(), expected);
        }
        assert!(document.place("/nowhere", Spot::Value).is_none());
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_place() {
        refused("", &["f:1:1 the file says nothing syntax"]);
        refused(
            "\u{feff}{}",
            &["f:1:1 the file begins with a byte order mark byte_order_mark"],
        );
        refused(
            "{\n  a: 1}",
            &["f:2:3 expected string for object property syntax"],
        );
        refused(
            "{'a': 1}",
            &["f:1:2 single-quoted strings are not allowed syntax"],
        );
        refused("{\"a\": 1 \"b\": 2}", &["f:1:8 expected comma syntax"]);
        refused(
            "{\"a\": 0x10}",
            &["f:1:7 hexadecimal numbers are not allowed syntax"],
        );
        refused(
            "{\"a\": 1e999}",
            &["f:1:7 `1e999` is not a number JSON can hold syntax"],
        );
        refused(
            "{} {}",
            &["f:1:4 text cannot contain more than one JSON value syntax"],
        );
        refused(
            "{\"a\": 1,\n\"a\": 2, \"b\": {\"c\": 1, \"c\": 1}}",
            &[
                "f:2:1 `a` stands here twice duplicate_key",
                "f:2:23 `c` stands here twice duplicate_key",
            ],
        );
        for depth in [MAX_DEPTH + 1, 1_000, 100_000] {
            let problems = parse(&"[".repeat(depth)).unwrap_err();
            assert!(["nesting_too_deep", "syntax"].contains(&problems[0].code));
            let closed = format!("{}{}", "[".repeat(depth + 1), "]".repeat(depth + 1));
            assert_eq!(parse(&closed).unwrap_err()[0].code, "nesting_too_deep");
        }
    }

    proptest! {
        #[test]
        fn json_is_read_as_it_is(text in any::<String>(), numbers in prop::collection::vec(any::<i64>(), 0..4)) {
            let value = serde_json::json!({text.clone(): numbers, "x": [text, null, 1.5]});
            let read = parse(&serde_json::to_string_pretty(&value).unwrap()).unwrap();
            prop_assert_eq!(read.value, value);
        }

        #[test]
        fn any_text_is_read_or_refused(text in r#"[ \n{}\[\]:,"'/*0-9a-zé\\.-]{0,40}"#) {
            let _ = parse(&text);
        }
    }
}
