//! When two values are equal, and which is less: numbers by value, however they are written.

use std::cmp::Ordering;

use ambit_core::observation::Failure;
use serde_json::{Number, Value};

use super::super::budget::Budget;
use super::Comparison;

/// Whether the comparison holds. A side may be missing, which only equals another missing one.
pub(super) fn holds(
    left: Option<&Value>,
    comparison: Comparison,
    right: Option<&Value>,
    budget: &mut Budget<'_>,
) -> Result<bool, Failure> {
    Ok(match comparison {
        Comparison::Equal => equal(left, right, budget)?,
        Comparison::NotEqual => !equal(left, right, budget)?,
        Comparison::Less => less(left, right),
        Comparison::Greater => less(right, left),
        Comparison::LessOrEqual => less(left, right) || equal(left, right, budget)?,
        Comparison::GreaterOrEqual => less(right, left) || equal(left, right, budget)?,
    })
}

fn equal(
    left: Option<&Value>,
    right: Option<&Value>,
    budget: &mut Budget<'_>,
) -> Result<bool, Failure> {
    match (left, right) {
        (Some(left), Some(right)) => same(left, right, budget),
        (left, right) => Ok(left.is_none() && right.is_none()),
    }
}

/// Whether two values are the same, all the way down.
pub(in super::super) fn same(
    left: &Value,
    right: &Value,
    budget: &mut Budget<'_>,
) -> Result<bool, Failure> {
    budget.steps(1)?;
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            Ok(order(left, right) == Some(Ordering::Equal))
        }
        (Value::String(left), Value::String(right)) => {
            budget.steps(left.len() as u64 / 16)?;
            Ok(left == right)
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (left, right) in left.iter().zip(right) {
                if !same(left, right, budget)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Object(left), Value::Object(right)) if left.len() == right.len() => {
            for ((left_name, left), (right_name, right)) in left.iter().zip(right) {
                if left_name != right_name || !same(left, right, budget)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Array(_) | Value::Object(_), _) => Ok(false),
        (left, right) => Ok(left == right),
    }
}

fn less(left: Option<&Value>, right: Option<&Value>) -> bool {
    match (left, right) {
        (Some(Value::Number(left)), Some(Value::Number(right))) => {
            order(left, right) == Some(Ordering::Less)
        }
        (Some(Value::String(left)), Some(Value::String(right))) => left < right,
        _ => false,
    }
}

fn order(left: &Number, right: &Number) -> Option<Ordering> {
    let whole = |it: &Number| it.as_i64().map(i128::from).or(it.as_u64().map(i128::from));
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}
