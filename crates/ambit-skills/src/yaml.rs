//! The plain YAML that frontmatter is made of: block mappings, block lists, texts.
//!
//! The format's public validator reads a strict subset: no anchors or aliases, no tags, no
//! `{…}` and `[…]`, no tabs between values, no key twice, and every scalar is text (`true`, `1.0` and nothing at all
//! included). So this reads parser events rather than typed values. Without aliases nothing
//! expands: the tree is never larger than the text, and the text is bounded.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_saphyr::granit_parser::{
    self, Event, Parser, ScalarStyle, ScanError, Span, StrInput, StructureStyle,
};

use crate::problem::{SkillProblem, clip};

/// Deeper than any real frontmatter; recursion below is bounded by it.
const MAX_DEPTH: usize = 16;

/// A value of plain YAML.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Text(String),
    List(Vec<Node>),
    Map(BTreeMap<String, Node>),
}

/// The one document of a text. `None` if there is nothing in it.
pub(crate) fn parse(text: &str) -> Result<Option<Node>, SkillProblem> {
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut reader = Reader {
        text,
        parser: Parser::new_from_str_with_options(text, options),
    };
    let mut root = None;
    loop {
        let (event, span) = reader.next()?;
        match event {
            Event::StreamEnd => return Ok(root),
            Event::StreamStart | Event::DocumentEnd => {}
            Event::DocumentStart(..) if root.is_some() => {
                return Err(beyond(&span, "a second document"));
            }
            Event::DocumentStart(..) => {}
            node => root = Some(reader.node(node, &span)?),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    parser: Parser<'a, StrInput<'a>>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), SkillProblem> {
        match self.parser.next_event() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => Err(not_yaml(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn node(&mut self, event: Event<'a>, span: &Span) -> Result<Node, SkillProblem> {
        match event {
            Event::Scalar(_, _, anchor, tag) if anchor != 0 || tag.is_some() => {
                Err(beyond(span, "an anchor or a tag"))
            }
            // The parser calls a missing value `~`; only its span tells it from a written one.
            Event::Scalar(..) if span.start.index() == span.end.index() => {
                Ok(Node::Text(String::new()))
            }
            Event::Scalar(text, style, ..) => {
                let has_tab = style == ScalarStyle::Plain && text.contains('\t');
                if has_tab || self.is_beside_tab(span) {
                    Err(beyond(span, "a tab"))
                } else {
                    Ok(Node::Text(text.into_owned()))
                }
            }
            Event::SequenceStart(StructureStyle::Flow, ..)
            | Event::MappingStart(StructureStyle::Flow, ..) => {
                Err(beyond(span, "a list or mapping in brackets"))
            }
            Event::SequenceStart(_, 0, None) => self.list(),
            Event::MappingStart(_, 0, None) => self.map(),
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                Err(beyond(span, "an anchor or a tag"))
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => Err(beyond(span, "an alias")),
            _ => Err(beyond(span, "an unexpected end")),
        }
    }

    fn is_beside_tab(&self, span: &Span) -> bool {
        let side = |offset: Option<usize>| self.text.split_at_checked(offset?);
        side(span.start.byte_offset()).is_some_and(|(before, _)| before.ends_with('\t'))
            || side(span.end.byte_offset()).is_some_and(|(_, after)| after.starts_with('\t'))
    }

    fn list(&mut self) -> Result<Node, SkillProblem> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Node::List(items)),
                (event, span) => items.push(self.node(event, &span)?),
            }
        }
    }

    fn map(&mut self) -> Result<Node, SkillProblem> {
        let mut entries = BTreeMap::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(Node::Map(entries));
            }
            let Node::Text(key) = self.node(event, &span)? else {
                return Err(beyond(&span, "a key that is not a text"));
            };
            let (event, value_span) = self.next()?;
            let value = self.node(event, &value_span)?;
            match entries.entry(key) {
                Entry::Vacant(entry) => entry.insert(value),
                Entry::Occupied(entry) => {
                    return Err(SkillProblem::DuplicateKey {
                        key: clip(entry.key()),
                        line: span.start.line(),
                    });
                }
            };
        }
    }
}

fn beyond(span: &Span, what: &'static str) -> SkillProblem {
    SkillProblem::BeyondPlainYaml {
        line: span.start.line(),
        what,
    }
}

fn not_yaml(error: &ScanError) -> SkillProblem {
    SkillProblem::Yaml {
        line: error.marker().line(),
        message: error.kind().to_string(),
    }
}
