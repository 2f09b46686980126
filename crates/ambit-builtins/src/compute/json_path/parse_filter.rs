//! Reading what a filter asks, and that each function is used where its result makes sense.

use ambit_core::observation::Failure;
use ambit_core::suggest::{did_you_mean, suggest};
use serde_json::Value;

use super::parse::segments;
use super::scan::Scan;
use super::{Comparison, Extent, Operand, Query, Root, Test};

const FUNCTIONS: [&str; 5] = ["length", "count", "match", "search", "value"];
const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// Alternatives.
pub(super) fn test(scan: &mut Scan) -> Result<Test, Failure> {
    let tests = chain(scan, "||", |scan| {
        let tests = chain(scan, "&&", basic)?;
        Ok(one_or(tests, Test::All))
    })?;
    Ok(one_or(tests, Test::Any))
}

fn chain(
    scan: &mut Scan,
    between: &str,
    each: impl Fn(&mut Scan) -> Result<Test, Failure>,
) -> Result<Vec<Test>, Failure> {
    let mut tests = vec![each(scan)?];
    loop {
        let place = scan.place();
        scan.blanks();
        if !scan.take(between) {
            scan.back_to(place);
            return Ok(tests);
        }
        scan.blanks();
        tests.push(each(scan)?);
    }
}

fn one_or(mut tests: Vec<Test>, many: fn(Vec<Test>) -> Test) -> Test {
    match (tests.pop(), tests.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            tests.extend(last);
            many(tests)
        }
    }
}

fn basic(scan: &mut Scan) -> Result<Test, Failure> {
    let negated = scan.take("!");
    if negated {
        scan.blanks();
    }
    let place = scan.place();
    let found = if scan.take("(") {
        scan.blanks();
        let inner = scan.deeper(test)?;
        scan.blanks();
        scan.expect(")")?;
        inner
    } else {
        let found = comparison_or_test(scan)?;
        if negated && matches!(found, Test::Compare(..)) {
            scan.back_to(place);
            return Err(scan.refused("`!` before a comparison wants parentheses around it"));
        }
        found
    };
    Ok(if negated {
        Test::Not(Box::new(found))
    } else {
        found
    })
}

/// What a filter or a side of a comparison can be, before it is known which.
enum Found {
    Operand(Operand),
    Query(Query),
    Test(Test),
}

fn comparison_or_test(scan: &mut Scan) -> Result<Test, Failure> {
    let left = found(scan)?;
    let after = scan.place();
    scan.blanks();
    let comparison = COMPARISONS.iter().find(|(sign, _)| scan.take(sign));
    let Some((_, comparison)) = comparison else {
        scan.back_to(after);
        return match left {
            Found::Query(query) => Ok(Test::Exists(query)),
            Found::Test(test) => Ok(test),
            Found::Operand(_) => Err(scan.refused("a comparison such as `== 1` is missing")),
        };
    };
    scan.blanks();
    let left = operand(scan, left)?;
    let right = found(scan)?;
    let right = operand(scan, right)?;
    Ok(Test::Compare(left, *comparison, right))
}

fn operand(scan: &Scan, found: Found) -> Result<Operand, Failure> {
    match found {
        Found::Operand(operand) => Ok(operand),
        Found::Query(query) if query.is_singular() => Ok(Operand::Node(query)),
        Found::Query(_) => Err(scan.refused(
            "a query in a comparison finds one node at most: only names and indexes, or `count(…)` around it",
        )),
        Found::Test(_) => Err(scan.refused("`match` and `search` are not compared: they hold or not")),
    }
}

fn found(scan: &mut Scan) -> Result<Found, Failure> {
    if let Some(query) = query(scan)? {
        return Ok(Found::Query(query));
    }
    if let Some(name) = scan.function() {
        return scan.deeper(|scan| call(scan, &name));
    }
    literal(scan).map(|it| Found::Operand(Operand::Literal(it)))
}

fn query(scan: &mut Scan) -> Result<Option<Query>, Failure> {
    let root = if scan.take("@") {
        Root::Current
    } else if scan.take("$") {
        Root::Document
    } else {
        return Ok(None);
    };
    let segments = scan.deeper(segments)?;
    Ok(Some(Query { root, segments }))
}

fn literal(scan: &mut Scan) -> Result<Value, Failure> {
    match scan.peek() {
        Some('\'' | '"') => scan.quoted().map(Value::from),
        Some('-' | '0'..='9') => scan.number(),
        _ if scan.take("true") => Ok(Value::Bool(true)),
        _ if scan.take("false") => Ok(Value::Bool(false)),
        _ if scan.take("null") => Ok(Value::Null),
        _ => Err(scan.refused("`@…`, `$…`, a function or a literal is wanted")),
    }
}

fn call(scan: &mut Scan, name: &str) -> Result<Found, Failure> {
    let found = match name {
        "length" => Found::Operand(Operand::Length(Box::new(argument(scan)?))),
        "count" => Found::Operand(Operand::Count(nodes(scan)?)),
        "value" => Found::Operand(Operand::Only(nodes(scan)?)),
        "match" | "search" => {
            let text = argument(scan)?;
            scan.blanks();
            scan.expect(",")?;
            let pattern = argument(scan)?;
            let extent = if name == "match" {
                Extent::Whole
            } else {
                Extent::Part
            };
            Found::Test(Test::Fits(extent, text, pattern))
        }
        other => {
            let hint = did_you_mean(&suggest(other, FUNCTIONS));
            let hint = hint.unwrap_or_else(|| format!("there are {}", FUNCTIONS.join(", ")));
            return Err(scan.refused(&format!("`{other}` is no function; {hint}")));
        }
    };
    scan.blanks();
    scan.expect(")")?;
    Ok(found)
}

fn argument(scan: &mut Scan) -> Result<Operand, Failure> {
    scan.blanks();
    let found = found(scan)?;
    operand(scan, found)
}

fn nodes(scan: &mut Scan) -> Result<Query, Failure> {
    scan.blanks();
    query(scan)?.ok_or_else(|| scan.refused("a query such as `@.items[*]` is wanted"))
}
