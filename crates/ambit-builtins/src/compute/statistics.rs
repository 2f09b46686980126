//! `statistics`: what is to be said about many numbers. Sums are exact and every result is
//! rounded once, at the end, so the order of the numbers makes no difference.

use ambit_core::observation::{Failure, Output};
use num_bigint::BigInt;
use num_integer::Integer as _;
use num_rational::BigRational;
use num_traits::Zero as _;
use serde::Deserialize;
use serde_json::{Map, Number, Value, json};

use super::budget::Budget;
use super::exact;
use super::table::Builtin;
use crate::declare::{arguments, object};

const MOST_NUMBERS: usize = 10_000;

pub(super) const STATISTICS: Builtin = Builtin {
    name: "statistics",
    title: "Statistics of numbers",
    description: "Count, sum, mean, median, quartiles, variance and standard deviation of a list of numbers; \
        other quantiles if asked for. Sums are exact. Quantiles interpolate linearly, as spreadsheets do. \
        For one expression, use calculate.",
    tags: &["math", "statistics"],
    input,
    output: Some(output),
    run,
};

fn input() -> Value {
    object(
        &["numbers"],
        json!({
            "numbers": {
                "type": "array", "minItems": 1, "maxItems": MOST_NUMBERS,
                "items": { "type": "number" },
                "description": "The numbers, in any order.",
            },
            "quantiles": {
                "type": "array", "maxItems": 100,
                "items": { "type": "number", "minimum": 0, "maximum": 1 },
                "description": "More quantiles, from 0 to 1: 0.95 is the 95th percentile.",
            },
        }),
    )
}

fn output() -> Value {
    let number = |description: &str| json!({ "type": "number", "description": description });
    object(
        &["count", "sum", "mean", "min", "max", "median", "q1", "q3"],
        json!({
            "count": { "type": "integer", "description": "How many numbers." },
            "sum": number("Their sum."),
            "mean": number("Their arithmetic mean."),
            "min": number("The smallest."),
            "max": number("The largest."),
            "median": number("The middle one, or the mean of the two in the middle."),
            "q1": number("The first quartile."),
            "q3": number("The third quartile."),
            "variance": number("The sample variance, divided by n - 1. Absent for one number."),
            "stdev": number("Its root, the sample standard deviation. Absent for one number."),
            "populationVariance": number("The variance divided by n."),
            "populationStdev": number("Its root."),
            "quantiles": {
                "type": "array", "description": "Those asked for, in that order.",
                "items": object(&["quantile", "value"], json!({
                    "quantile": number("Which."),
                    "value": number("Its value."),
                })),
            },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    numbers: Vec<Number>,
    #[serde(default)]
    quantiles: Vec<Number>,
}

fn run(value: Value, budget: &mut Budget<'_>) -> Result<Output, Failure> {
    let Arguments { numbers, quantiles } = arguments(value)?;
    let sorted = sorted(&numbers, budget)?;
    let (Some(min), Some(max)) = (sorted.first(), sorted.last()) else {
        return Err(Failure::refused("there are no numbers"));
    };
    let sums = Sums::of(&sorted, budget)?;

    let mut said = Map::new();
    said.insert("count".to_owned(), json!(sorted.len()));
    let mut say = |name: &str, value: &BigRational| -> Result<(), Failure> {
        said.insert(name.to_owned(), float(name, value)?);
        Ok(())
    };
    say("sum", &sums.sum)?;
    say("mean", &(&sums.sum / &sums.count))?;
    say("min", min)?;
    say("max", max)?;
    let quarter = |quarters: i64| BigRational::new(quarters.into(), 4.into());
    for (name, at) in [("median", 2), ("q1", 1), ("q3", 3)] {
        say(name, &quantile(&sorted, &quarter(at)))?;
    }
    let population = &sums.deviations / &sums.count;
    say("populationVariance", &population)?;
    let sample = (sorted.len() > 1).then(|| &sums.deviations / (&sums.count - BigInt::from(1)));
    if let Some(sample) = &sample {
        say("variance", sample)?;
    }
    for (name, variance) in [
        ("populationStdev", Some(&population)),
        ("stdev", sample.as_ref()),
    ] {
        let Some(variance) = variance else { continue };
        let variance = exact::to_float(variance).ok_or_else(|| too_large(name))?;
        said.insert(name.to_owned(), json!(libm::sqrt(variance)));
    }
    let mut asked = Vec::new();
    for number in &quantiles {
        budget.steps(100)?;
        let value = quantile(&sorted, &exactly(number)?);
        asked.push(json!({ "quantile": number, "value": float("quantile", &value)? }));
    }
    if !asked.is_empty() {
        said.insert("quantiles".to_owned(), asked.into());
    }
    let said = Value::from(said);
    Ok(Output::text(said.to_string()).with_structured(said))
}

fn exactly(number: &Number) -> Result<BigRational, Failure> {
    let read = exact::parse(&number.to_string());
    read.ok_or_else(|| Failure::refused(format!("`{number}` is too large or too small a number")))
}

fn sorted(numbers: &[Number], budget: &mut Budget<'_>) -> Result<Vec<BigRational>, Failure> {
    let mut read = Vec::with_capacity(numbers.len());
    for number in numbers {
        budget.steps(200)?;
        read.push(exactly(number)?);
    }
    read.sort_unstable_by(exact::compare);
    Ok(read)
}

struct Sums {
    count: BigInt,
    sum: BigRational,
    /// The squares of how far each is from the mean, together.
    deviations: BigRational,
}

impl Sums {
    /// Everything over one denominator, so nothing has to be reduced on the way.
    fn of(numbers: &[BigRational], budget: &mut Budget<'_>) -> Result<Self, Failure> {
        let mut scale = BigInt::from(1);
        for number in numbers {
            budget.steps(20)?;
            if !scale.is_multiple_of(number.denom()) {
                budget.steps(50_000)?;
                scale = scale.lcm(number.denom());
            }
        }
        let count = BigInt::from(numbers.len());
        let (mut sum, mut squares) = (BigInt::zero(), BigInt::zero());
        for number in numbers {
            let scaled = number.numer() * (&scale / number.denom());
            let words = scaled.bits() / 64 + 1;
            budget.steps(words * words + 50)?;
            sum += &scaled;
            squares += &scaled * &scaled;
        }
        let deviations = BigRational::new(squares * &count - &sum * &sum, &count * &scale * &scale);
        Ok(Sums {
            count,
            sum: BigRational::new(sum, scale),
            deviations,
        })
    }
}

/// The value this far along, between two neighbours by distance.
fn quantile(sorted: &[BigRational], part: &BigRational) -> BigRational {
    let last = BigInt::from(sorted.len().saturating_sub(1));
    let place = part * last;
    let below = usize::try_from(place.to_integer()).unwrap_or(0);
    let at = |index: usize| sorted.get(index).or(sorted.last());
    match (at(below), at(below + 1)) {
        (Some(low), Some(high)) => low + (high - low) * place.fract(),
        _ => BigRational::zero(),
    }
}

fn float(name: &str, value: &BigRational) -> Result<Value, Failure> {
    let float = exact::to_float(value).ok_or_else(|| too_large(name))?;
    Ok(json!(float))
}

fn too_large(name: &str) -> Failure {
    Failure::refused(format!(
        "the {name} is larger than 1e308: scale the numbers down"
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fixture::{structured, text};
    use super::*;

    #[test]
    fn numbers_are_described() {
        let found = structured(
            "statistics",
            json!({ "numbers": [4, 1, 3, 2], "quantiles": [0, 0.9, 1] }),
        );
        assert_eq!(
            found,
            json!({
                "count": 4, "sum": 10.0, "mean": 2.5, "min": 1.0, "max": 4.0,
                "median": 2.5, "q1": 1.75, "q3": 3.25,
                "variance": 5.0 / 3.0, "stdev": (5.0f64 / 3.0).sqrt(),
                "populationVariance": 1.25, "populationStdev": 1.25f64.sqrt(),
                "quantiles": [
                    { "quantile": 0, "value": 1.0 },
                    { "quantile": 0.9, "value": 3.7 },
                    { "quantile": 1, "value": 4.0 },
                ],
            })
        );
        let one = structured("statistics", json!({ "numbers": [0.1] }));
        assert_eq!(one["median"], 0.1);
        assert_eq!(one["populationStdev"], 0.0);
        assert!(one.get("stdev").is_none());
    }

    #[test]
    fn sums_are_exact() {
        for (numbers, sum, variance) in [
            (vec![0.1; 10], 1.0, 0.0),
            (vec![1e16, 1.0, -1e16], 1.0, 1e32),
            (vec![1e-300, 1e300, -1e300], 1e-300, f64::MAX),
        ] {
            let found = call_or_refusal(&numbers);
            match found {
                Ok(found) => assert_eq!(
                    (&found["sum"], &found["variance"]),
                    (&json!(sum), &json!(variance))
                ),
                Err(refusal) => assert_eq!(
                    refusal,
                    "refused: the populationVariance is larger than 1e308: scale the numbers down"
                ),
            }
        }
    }

    fn call_or_refusal(numbers: &[f64]) -> Result<Value, String> {
        super::super::fixture::call("statistics", json!({ "numbers": numbers }))
            .map(|it| it.structured.unwrap())
            .map_err(|it| format!("{}: {}", it.code.as_str(), it.message))
    }

    #[test]
    fn many_numbers_fit_and_too_large_ones_do_not() {
        let many: Vec<f64> = (0..MOST_NUMBERS).map(|it| it as f64 / 100.0).collect();
        let found = structured("statistics", json!({ "numbers": many }));
        assert_eq!(found["sum"], 499_950.0);
        for (numbers, expected) in [
            (
                json!([1e308, 1e308]),
                "refused: the sum is larger than 1e308: scale the numbers down",
            ),
            (json!([]), "refused: there are no numbers"),
        ] {
            assert_eq!(text("statistics", json!({ "numbers": numbers })), expected);
        }
    }

    proptest! {
        #[test]
        fn a_naive_reckoning_is_near(numbers in proptest::collection::vec(-1e6f64..1e6, 2..50)) {
            let found = structured("statistics", json!({ "numbers": numbers }));
            let n = numbers.len() as f64;
            let mean = numbers.iter().sum::<f64>() / n;
            let variance = numbers.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (n - 1.0);
            let mut sorted = numbers.clone();
            sorted.sort_by(f64::total_cmp);
            let median = (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0;
            for (name, naive) in [("mean", mean), ("stdev", variance.sqrt()), ("median", median)] {
                let exact = found[name].as_f64().unwrap();
                prop_assert!((exact - naive).abs() <= 1e-6 * (1.0 + naive.abs()), "{name}: {exact} {naive}");
            }
        }

        #[test]
        fn order_makes_no_difference(mut numbers in proptest::collection::vec(-1e9f64..1e9, 1..30)) {
            let before = structured("statistics", json!({ "numbers": numbers }));
            numbers.reverse();
            prop_assert_eq!(structured("statistics", json!({ "numbers": numbers })), before);
        }
    }
}
