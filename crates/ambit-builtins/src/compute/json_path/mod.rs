//! JSONPath as RFC 9535 has it, with every node that is looked at counted: a query such as
//! `$..*..*..*` ends when its budget does. No library counts, which is why this is here.

mod compare;
mod evaluate;
mod parse;
mod parse_filter;
mod scan;

#[cfg(test)]
mod tests;

pub(super) use compare::same;
pub(super) use evaluate::select;
pub(super) use parse::parse;

use serde_json::Value;

/// A query: where it begins, and the steps from there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Query {
    root: Root,
    segments: Vec<Segment>,
}

impl Query {
    /// Whether it can find one node at most.
    fn is_singular(&self) -> bool {
        self.segments.iter().all(|segment| {
            !segment.deep
                && matches!(
                    segment.selectors.as_slice(),
                    [Selector::Name(_) | Selector::Index(_)]
                )
        })
    }
}

/// `$` or `@`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Document,
    Current,
}

/// One step, to children or to all below (`..`).
#[derive(Clone, Debug, PartialEq)]
struct Segment {
    deep: bool,
    selectors: Vec<Selector>,
}

#[derive(Clone, Debug, PartialEq)]
enum Selector {
    Name(String),
    Every,
    Index(i64),
    Slice {
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    },
    Filter(Test),
}

/// What a filter asks of a node.
#[derive(Clone, Debug, PartialEq)]
enum Test {
    Any(Vec<Test>),
    All(Vec<Test>),
    Not(Box<Test>),
    Exists(Query),
    Compare(Operand, Comparison, Operand),
    /// `match` and `search`.
    Fits(Extent, Operand, Operand),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// How much of a text a pattern has to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Whole,
    Part,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Literal(Value),
    /// A query that finds one node at most.
    Node(Query),
    Length(Box<Operand>),
    Count(Query),
    /// The value of the only node found.
    Only(Query),
}
