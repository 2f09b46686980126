//! Reading a query: its segments and selectors.

use ambit_core::observation::Failure;

use super::parse_filter::test;
use super::scan::Scan;
use super::{Query, Root, Segment, Selector};

/// A query, which begins with `$`.
pub(in super::super) fn parse(query: &str) -> Result<Query, Failure> {
    let mut scan = Scan::new(query);
    if !scan.take("$") {
        return Err(scan.refused("a query begins with `$`, such as `$.items[*].name`"));
    }
    let query = Query {
        root: Root::Document,
        segments: segments(&mut scan)?,
    };
    match scan.peek() {
        None => Ok(query),
        Some(_) => Err(scan.refused("`.name`, `[…]` or the end is wanted here")),
    }
}

pub(super) fn segments(scan: &mut Scan) -> Result<Vec<Segment>, Failure> {
    let mut segments = Vec::new();
    loop {
        let place = scan.place();
        scan.blanks();
        if scan.take("..") {
            let selectors = match scan.peek() {
                Some('[') => bracketed(scan)?,
                _ => vec![short(scan)?],
            };
            segments.push(Segment {
                deep: true,
                selectors,
            });
        } else if scan.take(".") {
            segments.push(Segment {
                deep: false,
                selectors: vec![short(scan)?],
            });
        } else if scan.peek() == Some('[') {
            segments.push(Segment {
                deep: false,
                selectors: bracketed(scan)?,
            });
        } else {
            // Blanks belong to a query only between its segments.
            scan.back_to(place);
            return Ok(segments);
        }
    }
}

/// `*` or a name without quotes.
fn short(scan: &mut Scan) -> Result<Selector, Failure> {
    if scan.take("*") {
        return Ok(Selector::Every);
    }
    let name = scan.name().map(Selector::Name);
    name.ok_or_else(|| scan.refused("a name or `*` is missing; quote other names: `['a b']`"))
}

fn bracketed(scan: &mut Scan) -> Result<Vec<Selector>, Failure> {
    scan.expect("[")?;
    let mut selectors = Vec::new();
    loop {
        scan.blanks();
        selectors.push(selector(scan)?);
        scan.blanks();
        if scan.take("]") {
            return Ok(selectors);
        }
        if !scan.take(",") {
            return Err(scan.refused("`,` or `]` is missing"));
        }
    }
}

fn selector(scan: &mut Scan) -> Result<Selector, Failure> {
    match scan.peek() {
        Some('\'' | '"') => Ok(Selector::Name(scan.quoted()?)),
        Some('*') => {
            scan.next();
            Ok(Selector::Every)
        }
        Some('?') => {
            scan.next();
            scan.blanks();
            Ok(Selector::Filter(scan.deeper(test)?))
        }
        _ => index_or_slice(scan),
    }
}

fn index_or_slice(scan: &mut Scan) -> Result<Selector, Failure> {
    let start = scan.integer()?;
    let place = scan.place();
    scan.blanks();
    if !scan.take(":") {
        scan.back_to(place);
        let index = start.map(Selector::Index);
        return index
            .ok_or_else(|| scan.refused("a quoted name, an index, a slice, `*` or `?` is wanted"));
    }
    scan.blanks();
    let end = scan.integer()?;
    scan.blanks();
    let mut step = None;
    if scan.take(":") {
        scan.blanks();
        step = scan.integer()?;
    }
    Ok(Selector::Slice {
        start,
        end,
        step: step.unwrap_or(1),
    })
}
