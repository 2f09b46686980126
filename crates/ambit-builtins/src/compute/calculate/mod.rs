//! `calculate`: what an expression comes to.

mod evaluate;
mod functions;
mod number;
mod tokens;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};

use super::budget::Budget;
use super::exact;
use super::table::Builtin;
use crate::declare::{arguments, object};
use number::Number;

/// A fraction is named in full up to this length.
const MOST_FRACTION: usize = 80;

pub(super) const CALCULATE: Builtin = Builtin {
    name: "calculate",
    title: "Calculate",
    description: "Calculate an arithmetic expression, exactly: decimals are not rounded (0.1 + 0.2 is 0.3) and \
        integers may have thousands of digits. Use it instead of doing arithmetic in your head. \
        Operators: + - * / ^ (power) ! (factorial), `a % b` (remainder), `5%` (percent: 0.05). \
        Functions: abs sign floor ceil round(x, places) trunc min max sum mean sqrt cbrt root(x, n) pow exp ln log(x, base) \
        log2 log10 sin cos tan asin acos atan atan2 tanh (radians) degrees radians div mod gcd lcm factorial choose(n, k). \
        Constants: pi tau e. For many numbers at once, use statistics.",
    tags: &["math", "arithmetic"],
    input,
    output: Some(output),
    run,
};

fn input() -> Value {
    object(
        &["expression"],
        json!({
            "expression": {
                "type": "string", "minLength": 1, "maxLength": 4096,
                "description": "Such as `(19.99 * 3) * (1 + 20%)` or `round(principal * (1 + rate)^years, 2)`.",
            },
            "variables": {
                "type": "object", "maxProperties": 100,
                "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$" },
                "additionalProperties": { "type": ["number", "string"], "maxLength": 4096 },
                "description": "Values of names in the expression. A number with more than 15 digits as a string.",
            },
        }),
    )
}

fn output() -> Value {
    object(
        &["result", "exact"],
        json!({
            "result": { "type": "string", "description": "The number, as a decimal." },
            "exact": { "type": "boolean", "description": "Whether `result` is the number digit for digit." },
            "fraction": { "type": "string", "description": "The number as a fraction, where `result` is that fraction rounded." },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    expression: String,
    #[serde(default)]
    variables: BTreeMap<String, Value>,
}

fn run(value: Value, budget: &mut Budget<'_>) -> Result<Output, Failure> {
    let Arguments {
        expression,
        variables,
    } = arguments(value)?;
    let mut values = BTreeMap::new();
    for (name, value) in variables {
        let number = variable(&name, &value)?;
        values.insert(name, number);
    }
    let value = evaluate::evaluate(&expression, &values, budget)?;
    let written = value.written();
    budget.bytes(written.text.len())?;
    let mut text = written.text.clone();
    let mut structured = json!({ "result": written.text, "exact": written.exact });
    if !written.exact {
        text.push_str(" (rounded)");
    }
    if let (Number::Exact(fraction), false) = (&value, written.exact) {
        let fraction = fraction.to_string();
        if let (true, Some(fields)) = (fraction.len() <= MOST_FRACTION, structured.as_object_mut())
        {
            text = format!("{} (rounded; exactly {fraction})", written.text);
            fields.insert("fraction".to_owned(), Value::from(fraction));
        }
    }
    Ok(Output::text(text).with_structured(structured))
}

fn variable(name: &str, value: &Value) -> Result<Number, Failure> {
    let text = match value {
        Value::String(it) => it.trim().to_owned(),
        other => other.to_string(),
    };
    let number = exact::parse(&text).map(Number::Exact);
    number.ok_or_else(|| {
        Failure::refused(format!(
            "the variable `{name}` is not a decimal number such as 12.5: `{text}`"
        ))
    })
}
