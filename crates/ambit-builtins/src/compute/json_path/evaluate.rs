//! Finding the nodes of a query. Each node looked at is a step of the budget.

use std::fmt::Write as _;
use std::rc::Rc;

use ambit_core::observation::Failure;
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::super::budget::Budget;
use super::{Extent, Operand, Query, Root, Segment, Selector, Test, compare};

/// How many nodes may be held at once.
const MOST_NODES: usize = 100_000;
/// What making a pattern is worth in steps.
const PATTERN_COST: u64 = 100_000;
const MOST_PATTERN_BYTES: usize = 256 << 10;

/// A value that was found, and where.
#[derive(Clone)]
pub(in super::super) struct Node<'v> {
    pub(in super::super) value: &'v Value,
    path: Option<Rc<Step<'v>>>,
}

struct Step<'v> {
    parent: Option<Rc<Step<'v>>>,
    key: Key<'v>,
}

#[derive(Clone, Copy)]
enum Key<'v> {
    Name(&'v str),
    Index(usize),
}

impl<'v> Node<'v> {
    fn child(&self, key: Key<'v>, value: &'v Value) -> Self {
        Node {
            value,
            path: Some(Rc::new(Step {
                parent: self.path.clone(),
                key,
            })),
        }
    }

    fn children(&self) -> Box<dyn Iterator<Item = Node<'v>> + '_> {
        match self.value {
            Value::Array(items) => {
                let items = items.iter().enumerate();
                Box::new(items.map(|(at, it)| self.child(Key::Index(at), it)))
            }
            Value::Object(members) => {
                let members = members.iter();
                Box::new(members.map(|(name, it)| self.child(Key::Name(name), it)))
            }
            _ => Box::new(std::iter::empty()),
        }
    }

    /// Where it is, as RFC 9535 normalizes it: `$['items'][0]`.
    pub(in super::super) fn path(&self) -> String {
        let mut keys = Vec::new();
        let mut step = self.path.as_deref();
        while let Some(it) = step {
            keys.push(it.key);
            step = it.parent.as_deref();
        }
        let mut path = "$".to_owned();
        for key in keys.iter().rev() {
            match key {
                Key::Index(at) => {
                    let _ = write!(path, "[{at}]");
                }
                Key::Name(name) => {
                    path.push_str("['");
                    name.chars().for_each(|it| push_escaped(&mut path, it));
                    path.push_str("']");
                }
            }
        }
        path
    }
}

fn push_escaped(path: &mut String, it: char) {
    match it {
        '\u{8}' => path.push_str("\\b"),
        '\u{c}' => path.push_str("\\f"),
        '\n' => path.push_str("\\n"),
        '\r' => path.push_str("\\r"),
        '\t' => path.push_str("\\t"),
        '\'' | '\\' => path.extend(['\\', it]),
        '\0'..='\x1f' => {
            let _ = write!(path, "\\u{:04x}", u32::from(it));
        }
        other => path.push(other),
    }
}

/// The nodes of a query, in the order of the document.
pub(in super::super) fn select<'v>(
    query: &Query,
    document: &'v Value,
    budget: &mut Budget<'_>,
) -> Result<Vec<Node<'v>>, Failure> {
    let mut search = Search {
        document,
        budget,
        pattern: None,
    };
    search.query(query, document)
}

struct Search<'v, 'b, 's> {
    document: &'v Value,
    budget: &'b mut Budget<'s>,
    /// The pattern used last, which is mostly the only one.
    pattern: Option<(String, Option<Regex>)>,
}

impl<'v> Search<'v, '_, '_> {
    fn query(&mut self, query: &Query, current: &'v Value) -> Result<Vec<Node<'v>>, Failure> {
        let value = match query.root {
            Root::Document => self.document,
            Root::Current => current,
        };
        let mut nodes = vec![Node { value, path: None }];
        for segment in &query.segments {
            let mut found = Vec::new();
            for node in &nodes {
                self.segment(segment, node, &mut found)?;
            }
            nodes = found;
        }
        Ok(nodes)
    }

    fn segment(
        &mut self,
        segment: &Segment,
        node: &Node<'v>,
        found: &mut Vec<Node<'v>>,
    ) -> Result<(), Failure> {
        self.budget.steps(1)?;
        for selector in &segment.selectors {
            self.selector(selector, node, found)?;
        }
        if segment.deep {
            for child in node.children() {
                self.segment(segment, &child, found)?;
            }
        }
        Ok(())
    }

    fn keep(&mut self, node: Node<'v>, found: &mut Vec<Node<'v>>) -> Result<(), Failure> {
        self.budget.steps(4)?;
        if found.len() == MOST_NODES {
            return Err(Failure::refused(format!(
                "the query finds more than {MOST_NODES} nodes on its way: make it narrower"
            )));
        }
        found.push(node);
        Ok(())
    }

    fn selector(
        &mut self,
        selector: &Selector,
        node: &Node<'v>,
        found: &mut Vec<Node<'v>>,
    ) -> Result<(), Failure> {
        self.budget.steps(1)?;
        match (selector, node.value) {
            (Selector::Name(name), Value::Object(members)) => {
                if let Some((name, value)) = members.get_key_value(name) {
                    self.keep(node.child(Key::Name(name), value), found)?;
                }
            }
            (Selector::Index(index), Value::Array(items)) => {
                let at = usize::try_from(from_end(*index, items.len())).ok();
                if let Some((at, value)) = at.and_then(|at| Some((at, items.get(at)?))) {
                    self.keep(node.child(Key::Index(at), value), found)?;
                }
            }
            (Selector::Slice { start, end, step }, Value::Array(items)) => {
                for at in slice(*start, *end, *step, items.len()) {
                    if let Some(value) = items.get(at) {
                        self.keep(node.child(Key::Index(at), value), found)?;
                    }
                }
            }
            (Selector::Every, _) => {
                for child in node.children() {
                    self.keep(child, found)?;
                }
            }
            (Selector::Filter(test), _) => {
                for child in node.children() {
                    if self.test(test, child.value)? {
                        self.keep(child, found)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn test(&mut self, test: &Test, current: &'v Value) -> Result<bool, Failure> {
        self.budget.steps(2)?;
        match test {
            Test::Any(tests) => {
                for test in tests {
                    if self.test(test, current)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Test::All(tests) => {
                for test in tests {
                    if !self.test(test, current)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Test::Not(test) => Ok(!self.test(test, current)?),
            Test::Exists(query) => Ok(!self.query(query, current)?.is_empty()),
            Test::Compare(left, comparison, right) => {
                let left = self.operand(left, current)?;
                let right = self.operand(right, current)?;
                compare::holds(left.as_value(), *comparison, right.as_value(), self.budget)
            }
            Test::Fits(extent, text, pattern) => {
                let text = self.operand(text, current)?;
                let pattern = self.operand(pattern, current)?;
                let text = text.as_value().and_then(Value::as_str);
                let pattern = pattern.as_value().and_then(Value::as_str);
                match (text, pattern) {
                    (Some(text), Some(pattern)) => self.fits(*extent, text, pattern),
                    _ => Ok(false),
                }
            }
        }
    }

    fn operand<'o>(
        &mut self,
        operand: &'o Operand,
        current: &'v Value,
    ) -> Result<Found<'o>, Failure>
    where
        'v: 'o,
    {
        Ok(match operand {
            Operand::Literal(value) => Found::Known(value),
            Operand::Node(query) | Operand::Only(query) => {
                match self.query(query, current)?.as_slice() {
                    [only] => Found::Known(only.value),
                    _ => Found::Nothing,
                }
            }
            Operand::Count(query) => Found::Made(self.query(query, current)?.len().into()),
            Operand::Length(operand) => {
                let operand = self.operand(operand, current)?;
                let length = match operand.as_value() {
                    Some(Value::String(it)) => {
                        self.budget.steps(it.len() as u64 / 8)?;
                        it.chars().count()
                    }
                    Some(Value::Array(it)) => it.len(),
                    Some(Value::Object(it)) => it.len(),
                    _ => return Ok(Found::Nothing),
                };
                Found::Made(length.into())
            }
        })
    }

    /// A pattern that cannot be read fits nothing.
    fn fits(&mut self, extent: Extent, text: &str, pattern: &str) -> Result<bool, Failure> {
        let whole = match extent {
            Extent::Whole => format!(r"\A(?:{})\z", dots_outside_lines(pattern)),
            Extent::Part => dots_outside_lines(pattern),
        };
        if self.pattern.as_ref().is_none_or(|(last, _)| *last != whole) {
            self.budget.steps(PATTERN_COST)?;
            let regex = RegexBuilder::new(&whole)
                .size_limit(MOST_PATTERN_BYTES)
                .dfa_size_limit(MOST_PATTERN_BYTES)
                .build();
            self.pattern = Some((whole, regex.ok()));
        }
        self.budget
            .steps(pattern.len() as u64 + text.len() as u64 * 4)?;
        let regex = self.pattern.as_ref().and_then(|(_, regex)| regex.as_ref());
        Ok(regex.is_some_and(|it| it.is_match(text)))
    }
}

/// In these patterns a dot is no line end, neither `\n` nor `\r`.
fn dots_outside_lines(pattern: &str) -> String {
    let mut made = String::new();
    let (mut escaped, mut in_class) = (false, false);
    for it in pattern.chars() {
        match it {
            '.' if !escaped && !in_class => made.push_str(r"[^\n\r]"),
            other => made.push(other),
        }
        in_class = match it {
            '[' if !escaped => true,
            ']' if !escaped => false,
            _ => in_class,
        };
        escaped = it == '\\' && !escaped;
    }
    made
}

/// One side of a comparison, found.
enum Found<'o> {
    Nothing,
    Known(&'o Value),
    Made(Value),
}

impl Found<'_> {
    fn as_value(&self) -> Option<&Value> {
        match self {
            Found::Nothing => None,
            Found::Known(value) => Some(value),
            Found::Made(value) => Some(value),
        }
    }
}

fn from_end(index: i64, length: usize) -> i64 {
    if index < 0 {
        index + length as i64
    } else {
        index
    }
}

/// The places a slice names, in its order.
fn slice(start: Option<i64>, end: Option<i64>, step: i64, length: usize) -> Vec<usize> {
    let most = length as i64;
    let place = |at: i64, low: i64, high: i64| from_end(at, length).clamp(low, high);
    let step_by = usize::try_from(step.unsigned_abs()).unwrap_or(usize::MAX);
    let range = |from: i64, to: i64| (from..to).filter_map(|it| usize::try_from(it).ok());
    match step {
        0 => Vec::new(),
        1.. => {
            let from = place(start.unwrap_or(0), 0, most);
            let to = place(end.unwrap_or(most), 0, most);
            range(from, to).step_by(step_by).collect()
        }
        _ => {
            let from = start.map_or(most - 1, |it| place(it, -1, most - 1));
            let to = end.map_or(-1, |it| place(it, -1, most - 1));
            range(to + 1, from + 1).rev().step_by(step_by).collect()
        }
    }
}
