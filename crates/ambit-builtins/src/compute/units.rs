//! `convert_units`: the same amount in another unit. Factors are exact where they are defined to
//! be, so a conversion there and back is what it was.

use ambit_core::observation::{Failure, Output};
use ambit_core::suggest::{did_you_mean, suggest};
use num_rational::BigRational;
use serde::Deserialize;
use serde_json::{Number, Value, json};

use super::budget::Budget;
use super::exact;
use super::table::Builtin;
use super::unit_table::{KINDS, Kind, Unit};
use crate::declare::{arguments, object};

pub(super) const CONVERT_UNITS: Builtin = Builtin {
    name: "convert_units",
    title: "Convert units",
    description: "Convert an amount from one unit to another: length, area, volume, mass, temperature, time, speed, \
        data, data rate, energy, power, pressure, force, angle, frequency, fuel use. Units by symbol (`km`, `lb`, `°F`, `GiB`, `km/h`) \
        or name (`kilometers`, `pound`). Not for currencies.",
    tags: &["math", "units"],
    input,
    output: Some(output),
    run,
};

fn input() -> Value {
    let unit = |description: &str| json!({ "type": "string", "minLength": 1, "maxLength": 64, "description": description });
    object(
        &["value", "from", "to"],
        json!({
            "value": { "type": ["number", "string"], "maxLength": 200, "description": "The amount, such as 12.5. More than 15 digits as a string." },
            "from": unit("The unit it is in."),
            "to": unit("The unit wanted. Symbols keep their case where it matters: `Mb` is megabit, `MB` megabyte."),
        }),
    )
}

fn output() -> Value {
    object(
        &["value", "unit", "exact"],
        json!({
            "value": { "type": "string", "description": "The amount in the new unit, as a decimal." },
            "unit": { "type": "string", "description": "The new unit, by its symbol." },
            "exact": { "type": "boolean", "description": "Whether `value` is the amount digit for digit." },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    value: Amount,
    from: String,
    to: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Amount {
    Number(Number),
    Text(String),
}

fn run(value: Value, budget: &mut Budget<'_>) -> Result<Output, Failure> {
    let Arguments { value, from, to } = arguments(value)?;
    budget.steps(10_000)?;
    let text = match value {
        Amount::Number(it) => it.to_string(),
        Amount::Text(it) => it.trim().to_owned(),
    };
    let amount = exact::parse(&text).ok_or_else(|| {
        Failure::refused(format!("`{text}` is not a decimal number such as 12.5"))
    })?;
    let (from_kind, from) = find(&from)?;
    let (to_kind, to) = find(&to)?;
    if from_kind.name != to_kind.name {
        let units: Vec<_> = from_kind.units.iter().map(|it| it.symbol()).collect();
        return Err(Failure::refused(format!(
            "`{}` is a unit of {}, `{}` of {}: convert to one of {}",
            from.symbol(),
            from_kind.name,
            to.symbol(),
            to_kind.name,
            units.join(", "),
        )));
    }
    let converted = convert(&amount, from, to)?;
    let written = exact::write(&converted);
    let rounded = if written.exact { "" } else { " (rounded)" };
    Ok(
        Output::text(format!("{} {}{rounded}", written.text, to.symbol())).with_structured(
            json!({ "value": written.text, "unit": to.symbol(), "exact": written.exact }),
        ),
    )
}

fn convert(amount: &BigRational, from: &Unit, to: &Unit) -> Result<BigRational, Failure> {
    let base = from.to_base(amount);
    let converted = base.as_ref().and_then(|base| to.of_base(base));
    converted.ok_or_else(|| {
        Failure::refused(format!(
            "{} {} has no value in {}",
            exact::write(amount).text,
            from.symbol(),
            to.symbol()
        ))
    })
}

/// By symbol as it is written, then by symbol or name in any case, then in the plural.
fn find(wanted: &str) -> Result<(&'static Kind, &'static Unit), Failure> {
    let wanted = wanted.trim();
    let all = || {
        KINDS
            .iter()
            .flat_map(|kind| kind.units.iter().map(move |unit| (kind, unit)))
    };
    let written = all().find(|(_, unit)| unit.names().any(|it| it == wanted));
    let lower = wanted.to_lowercase().replace(['_', ' '], "-");
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    let named =
        |name: &str| all().find(|(_, unit)| unit.names().any(|it| it.to_lowercase() == name));
    written
        .or_else(|| named(&lower))
        .or_else(|| named(singular))
        .ok_or_else(|| {
            let near = suggest(wanted, all().flat_map(|(_, unit)| unit.names()));
            let hint = did_you_mean(&near).unwrap_or_else(|| {
                let kinds: Vec<_> = KINDS.iter().map(|it| it.name).collect();
                format!("there are units of {}", kinds.join(", "))
            });
            Failure::refused(format!("`{wanted}` is not a known unit; {hint}"))
        })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::fixture::{structured, text};
    use super::*;

    #[test]
    fn amounts_are_converted() {
        for (value, from, to, expected) in [
            (json!(1), "mile", "km", "1.609344 km"),
            (
                json!(100),
                "°F",
                "celsius",
                "37.7777777777777777777777777778 °C (rounded)",
            ),
            (json!(-40), "C", "F", "-40 °F"),
            (json!(0), "K", "°C", "-273.15 °C"),
            (json!(1), "GiB", "MB", "1073.741824 MB"),
            (json!(100), "Mbps", "MB/s", "12.5 MB/s"),
            (json!("2.50"), "square feet", "m2", "0.2322576 m²"),
            (json!(90), "min", "hours", "1.5 h"),
            (
                json!(30),
                "mpg",
                "L/100km",
                "7.84048611111111111111111111111 L/100km (rounded)",
            ),
            (json!(1), "feet", "inches", "12 in"),
            (json!(1), "Mb", "kB", "125 kB"),
            (
                json!(1),
                "KILOGRAMS",
                "lb",
                "2.20462262184877580722973801345 lb (rounded)",
            ),
            (
                json!(0),
                "mpg",
                "L/100km",
                "refused: 0 mpg has no value in L/100km",
            ),
            (
                json!(1),
                "kg",
                "km",
                "refused: `kg` is a unit of mass, `km` of length: convert to one of kg, g, mg, µg, t, lb, oz, st, short-ton, long-ton, ozt, ct, gr",
            ),
            (
                json!(1),
                "kilometr",
                "m",
                "refused: `kilometr` is not a known unit; did you mean `kilometer` or `kilometre` or `kilobit`?",
            ),
            (
                json!("ten"),
                "km",
                "m",
                "refused: `ten` is not a decimal number such as 12.5",
            ),
        ] {
            let found = text(
                "convert_units",
                json!({ "value": value, "from": from, "to": to }),
            );
            assert_eq!(found, expected, "{value} {from} {to}");
        }
        let unknown = text(
            "convert_units",
            json!({ "value": 1, "from": "quux!", "to": "m" }),
        );
        assert!(
            unknown.contains("there are units of length, area, volume, mass"),
            "{unknown}"
        );
    }

    #[test]
    fn every_name_means_one_unit() {
        let mut seen = BTreeMap::new();
        for kind in KINDS {
            for unit in kind.units {
                for name in unit.names() {
                    assert_eq!(seen.insert(name, unit.symbol()), None, "{name}");
                    assert_eq!(find(name).unwrap().1.symbol(), unit.symbol(), "{name}");
                }
                assert!(unit.to_base(&exact::parse("1").unwrap()).is_some());
            }
        }
    }

    proptest! {
        #[test]
        fn there_and_back_is_the_same(kind in proptest::sample::select((0..KINDS.len()).collect::<Vec<_>>()), a: proptest::sample::Index, b: proptest::sample::Index, value in 1i64..1_000_000_000) {
            let units = KINDS[kind].units;
            let (a, b) = (a.get(units), b.get(units));
            let amount = BigRational::new(value.into(), 1000.into());
            let there = convert(&amount, a, b).unwrap();
            prop_assert_eq!(convert(&there, b, a).unwrap(), amount);
        }

        #[test]
        fn same_unit_is_same_amount(value in -1_000_000i64..1_000_000) {
            let found = structured("convert_units", json!({ "value": value, "from": "°F", "to": "fahrenheit" }));
            prop_assert_eq!(&found["value"], &Value::from(value.to_string()));
        }
    }
}
