//! The functions an expression may call.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use ambit_core::observation::Failure;
use num_bigint::BigInt;
use num_integer::Integer as _;
use num_traits::{Signed as _, ToPrimitive as _};

use super::super::budget::Budget;
use super::super::exact::ten_to;
use super::number::{Number, too_large};

type Answer = Result<Number, Failure>;

/// There may be as many arguments as are given.
const MANY: usize = usize::MAX;

pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) takes: RangeInclusive<usize>,
    pub(super) run: fn(&[Number], &mut Budget<'_>) -> Answer,
}

impl Function {
    /// How many arguments, in words.
    pub(super) fn wants(&self) -> String {
        match (*self.takes.start(), *self.takes.end()) {
            (1, 1) => "1 argument".to_owned(),
            (least, MANY) => format!("{least} or more arguments"),
            (least, most) if least == most => format!("{least} arguments"),
            (least, most) => format!("{least} to {most} arguments"),
        }
    }
}

const fn function(
    name: &'static str,
    takes: RangeInclusive<usize>,
    run: fn(&[Number], &mut Budget<'_>) -> Answer,
) -> Function {
    Function { name, takes, run }
}

/// All of them, by name.
pub(super) const FUNCTIONS: [Function; 35] = [
    function("abs", 1..=1, |it, _| {
        let number = arg(it, 0);
        Ok(if number.sign() == Ordering::Less {
            number.negate()
        } else {
            number
        })
    }),
    function("acos", 1..=1, |it, _| within_one(it, libm::acos)),
    function("asin", 1..=1, |it, _| within_one(it, libm::asin)),
    function("atan", 1..=1, |it, _| near(it, libm::atan)),
    function("atan2", 2..=2, |it, _| {
        Number::near(libm::atan2(arg(it, 0).to_float()?, arg(it, 1).to_float()?))
    }),
    function("cbrt", 1..=1, |it, budget| arg(it, 0).root(3, budget)),
    function("ceil", 1..=1, |it, _| {
        Ok(arg(it, 0).negate().floor().negate())
    }),
    function("choose", 2..=2, choose),
    function("cos", 1..=1, |it, _| near(it, libm::cos)),
    function("degrees", 1..=1, |it, _| near(it, f64::to_degrees)),
    function("div", 2..=2, |it, budget| {
        Ok(arg(it, 0).divide(&arg(it, 1), budget)?.floor())
    }),
    function("exp", 1..=1, |it, _| near(it, libm::exp)),
    function("factorial", 1..=1, |it, budget| {
        factorial(&arg(it, 0), budget)
    }),
    function("floor", 1..=1, |it, _| Ok(arg(it, 0).floor())),
    function("gcd", 2..=MANY, |it, budget| {
        folded(it, budget, |a, b| a.gcd(b))
    }),
    function("lcm", 2..=MANY, |it, budget| {
        folded(it, budget, |a, b| a.lcm(b))
    }),
    function("ln", 1..=1, |it, _| logarithm(it, libm::log)),
    function("log", 1..=2, |it, _| match it.get(1) {
        None => logarithm(it, libm::log10),
        Some(base) => {
            let base = logarithm(std::slice::from_ref(base), libm::log)?.to_float()?;
            if base == 0.0 {
                return Err(Failure::refused("the base of a logarithm cannot be 1"));
            }
            Number::near(logarithm(it, libm::log)?.to_float()? / base)
        }
    }),
    function("log10", 1..=1, |it, _| logarithm(it, libm::log10)),
    function("log2", 1..=1, |it, _| logarithm(it, libm::log2)),
    function("max", 1..=MANY, |it, _| Ok(extreme(it, Ordering::Greater))),
    function("mean", 1..=MANY, |it, budget| {
        sum(it, budget)?.divide(&Number::integer(it.len()), budget)
    }),
    function("min", 1..=MANY, |it, _| Ok(extreme(it, Ordering::Less))),
    function("mod", 2..=2, |it, budget| {
        arg(it, 0).remainder(&arg(it, 1), budget)
    }),
    function("pow", 2..=2, |it, budget| {
        arg(it, 0).power(&arg(it, 1), budget)
    }),
    function("radians", 1..=1, |it, _| near(it, f64::to_radians)),
    function("root", 2..=2, |it, budget| {
        let degree = whole(&arg(it, 1))?.to_u32().filter(|it| *it > 0);
        let degree = degree.ok_or_else(|| Failure::refused("the degree of a root is 1 or more"))?;
        arg(it, 0).root(degree, budget)
    }),
    function("round", 1..=2, round),
    function("sign", 1..=1, |it, _| {
        Ok(Number::integer(arg(it, 0).sign() as i8))
    }),
    function("sin", 1..=1, |it, _| near(it, libm::sin)),
    function("sqrt", 1..=1, |it, budget| arg(it, 0).root(2, budget)),
    function("sum", 1..=MANY, sum),
    function("tan", 1..=1, |it, _| near(it, libm::tan)),
    function("tanh", 1..=1, |it, _| near(it, libm::tanh)),
    function("trunc", 1..=1, |it, _| {
        Ok(match arg(it, 0) {
            Number::Exact(it) => Number::Exact(it.trunc()),
            Number::Near(it) => Number::Near(libm::trunc(it)),
        })
    }),
];

/// The argument at this place; how many there are was checked.
fn arg(values: &[Number], at: usize) -> Number {
    values
        .get(at)
        .cloned()
        .unwrap_or_else(|| Number::integer(0))
}

fn near(values: &[Number], of: fn(f64) -> f64) -> Answer {
    Number::near(of(arg(values, 0).to_float()?))
}

fn within_one(values: &[Number], of: fn(f64) -> f64) -> Answer {
    let value = arg(values, 0).to_float()?;
    if !(-1.0..=1.0).contains(&value) {
        return Err(Failure::refused("its argument must be from -1 to 1"));
    }
    Number::near(of(value))
}

fn logarithm(values: &[Number], of: fn(f64) -> f64) -> Answer {
    let value = arg(values, 0);
    if value.sign() != Ordering::Greater {
        return Err(Failure::refused(
            "there are logarithms of positive numbers only",
        ));
    }
    Number::near(of(value.to_float()?))
}

fn sum(values: &[Number], budget: &mut Budget<'_>) -> Answer {
    values
        .iter()
        .try_fold(Number::integer(0), |sum, it| sum.add(it, budget))
}

/// The first of those furthest in this direction.
fn extreme(values: &[Number], direction: Ordering) -> Number {
    let mut found = arg(values, 0);
    for value in values {
        if value.compare(&found) == direction {
            found = value.clone();
        }
    }
    found
}

/// To so many places after the point, halves away from zero.
fn round(values: &[Number], _: &mut Budget<'_>) -> Answer {
    let places = match values.get(1) {
        None => 0,
        Some(it) => whole(it)?
            .to_i32()
            .filter(|it| it.abs() <= 1000)
            .ok_or_else(|| Failure::refused("round to -1000 to 1000 places"))?,
    };
    let number = arg(values, 0);
    let scale = ten_to(places.unsigned_abs());
    let exact = number.to_exact();
    let rounded = if places < 0 {
        (exact / &scale).round() * scale
    } else {
        (exact * &scale).round() / scale
    };
    match number {
        Number::Exact(_) => Ok(Number::Exact(rounded)),
        Number::Near(_) => Number::near(Number::Exact(rounded).to_float()?),
    }
}

fn whole(number: &Number) -> Result<BigInt, Failure> {
    let whole = number.as_integer().cloned();
    whole.ok_or_else(|| {
        Failure::refused(format!("`{}` is not a whole number", number.written().text))
    })
}

fn folded(
    values: &[Number],
    budget: &mut Budget<'_>,
    of: impl Fn(&BigInt, &BigInt) -> BigInt,
) -> Answer {
    let mut found = whole(&arg(values, 0))?.abs();
    for value in values {
        let value = whole(value)?;
        // Bounds the size, and pays for it.
        Number::integer(found.clone()).multiply(&Number::integer(value.clone()), budget)?;
        found = of(&found, &value);
    }
    Ok(Number::integer(found))
}

/// `1 · 2 · … · n`.
pub(super) fn factorial(number: &Number, budget: &mut Budget<'_>) -> Answer {
    let number = whole(number)?;
    if number.is_negative() {
        return Err(Failure::refused("there are factorials of 0 and more only"));
    }
    product(1, &number, budget)
}

/// How many ways to choose `k` of `n`.
fn choose(values: &[Number], budget: &mut Budget<'_>) -> Answer {
    let (n, k) = (whole(&arg(values, 0))?, whole(&arg(values, 1))?);
    if k.is_negative() || k > n {
        return Err(Failure::refused("choose from 0 to all"));
    }
    let k = k.clone().min(&n - &k);
    let times = k.to_u32().ok_or_else(too_large)?;
    let mut found = Number::integer(1);
    for at in 0..times {
        let product = found.multiply(&Number::integer(&n - at), budget)?;
        // It divides evenly, since the quotient is itself a number of choices.
        found = Number::integer(whole(&product)? / BigInt::from(at + 1));
    }
    Ok(found)
}

fn product(from: u32, to: &BigInt, budget: &mut Budget<'_>) -> Answer {
    let to = to.to_u32().ok_or_else(too_large)?;
    let mut found = Number::integer(1);
    for factor in from..=to {
        found = found.multiply(&Number::integer(factor), budget)?;
    }
    Ok(found)
}
