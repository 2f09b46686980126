//! Arithmetic that is exact as long as it can be, and says when it is not. Decides how large a
//! number may grow: its size is known before the work is done.

use std::cmp::Ordering;

use ambit_core::observation::Failure;
use num_bigint::BigInt;
use num_integer::Integer as _;
use num_rational::BigRational;
use num_traits::{One as _, Pow, Signed as _, ToPrimitive as _, Zero as _};

use super::super::budget::Budget;
use super::super::exact::{self, Written};

/// About 9,800 digits.
const MOST_BITS: u64 = 32_768;
/// The deepest root that is tried exactly.
const MOST_ROOT: u32 = 64;

/// A value of an expression.
#[derive(Clone, Debug)]
pub(super) enum Number {
    /// This number.
    Exact(BigRational),
    /// A number near this one: a root, a logarithm, an angle. Always finite.
    Near(f64),
}

type Answer = Result<Number, Failure>;

impl Number {
    pub(super) fn integer(value: impl Into<BigInt>) -> Number {
        Number::Exact(BigRational::from_integer(value.into()))
    }

    /// What a function that is not exact brought.
    pub(super) fn near(value: f64) -> Answer {
        if value.is_nan() {
            return Err(Failure::refused("the result is not a real number"));
        }
        if value.is_infinite() {
            return Err(too_large());
        }
        Ok(Number::Near(value))
    }

    pub(super) fn to_float(&self) -> Result<f64, Failure> {
        match self {
            Number::Exact(it) => exact::to_float(it).ok_or_else(too_large),
            Number::Near(it) => Ok(*it),
        }
    }

    /// As a fraction: what it is, or what it is near to.
    pub(super) fn to_exact(&self) -> BigRational {
        match self {
            Number::Exact(it) => it.clone(),
            Number::Near(it) => exact::from_float(*it).unwrap_or_else(BigRational::zero),
        }
    }

    /// If it is one and it is exact.
    pub(super) fn as_integer(&self) -> Option<&BigInt> {
        match self {
            Number::Exact(it) if it.is_integer() => Some(it.numer()),
            _ => None,
        }
    }

    pub(super) fn written(&self) -> Written {
        match self {
            Number::Exact(it) => exact::write(it),
            Number::Near(it) => exact::write_float(*it),
        }
    }

    pub(super) fn compare(&self, other: &Number) -> Ordering {
        exact::compare(&self.to_exact(), &other.to_exact())
    }

    /// How it compares with zero.
    pub(super) fn sign(&self) -> Ordering {
        match self {
            Number::Exact(it) if it.is_negative() => Ordering::Less,
            Number::Exact(it) if it.is_positive() => Ordering::Greater,
            Number::Near(it) if *it < 0.0 => Ordering::Less,
            Number::Near(it) if *it > 0.0 => Ordering::Greater,
            _ => Ordering::Equal,
        }
    }

    /// The steps of handing it to a function.
    pub(super) fn cost(&self) -> u64 {
        match self {
            Number::Exact(it) => cost(size(it)),
            Number::Near(_) => 1,
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        match self {
            Number::Exact(it) => it.is_zero(),
            Number::Near(it) => *it == 0.0,
        }
    }

    pub(super) fn negate(self) -> Number {
        match self {
            Number::Exact(it) => Number::Exact(-it),
            Number::Near(it) => Number::Near(-it),
        }
    }

    pub(super) fn add(&self, other: &Number, budget: &mut Budget<'_>) -> Answer {
        self.combine(other, budget, |a, b| a + b, |a, b| a + b, |a, b| a + b)
    }

    pub(super) fn subtract(&self, other: &Number, budget: &mut Budget<'_>) -> Answer {
        self.combine(other, budget, |a, b| a - b, |a, b| a - b, |a, b| a - b)
    }

    pub(super) fn multiply(&self, other: &Number, budget: &mut Budget<'_>) -> Answer {
        self.combine(other, budget, |a, b| a * b, |a, b| a * b, |a, b| a * b)
    }

    pub(super) fn divide(&self, other: &Number, budget: &mut Budget<'_>) -> Answer {
        if other.is_zero() {
            return Err(by_zero());
        }
        let (Number::Exact(a), Number::Exact(b)) = (self, other) else {
            return Number::near(self.to_float()? / other.to_float()?);
        };
        budget.steps(cost(grown(a, b)?))?;
        Ok(Number::Exact(a / b))
    }

    /// What is left of dividing down: it has the sign of the divisor.
    pub(super) fn remainder(&self, other: &Number, budget: &mut Budget<'_>) -> Answer {
        let times = self.divide(other, budget)?.floor();
        self.subtract(&times.multiply(other, budget)?, budget)
    }

    pub(super) fn floor(&self) -> Number {
        match self {
            Number::Exact(it) => Number::Exact(it.floor()),
            Number::Near(it) => Number::Near(libm::floor(*it)),
        }
    }

    /// Two numbers to one: as integers if both are, as fractions, or near.
    fn combine(
        &self,
        other: &Number,
        budget: &mut Budget<'_>,
        integers: impl Fn(&BigInt, &BigInt) -> BigInt,
        fractions: impl Fn(&BigRational, &BigRational) -> BigRational,
        near: impl Fn(f64, f64) -> f64,
    ) -> Answer {
        let (Number::Exact(a), Number::Exact(b)) = (self, other) else {
            return Number::near(near(self.to_float()?, other.to_float()?));
        };
        let bits = grown(a, b)?;
        if a.is_integer() && b.is_integer() {
            budget.steps((size(a) / 64 + 1) * (size(b) / 64 + 1) + 10)?;
            return Ok(Number::integer(integers(a.numer(), b.numer())));
        }
        budget.steps(cost(bits))?;
        Ok(Number::Exact(fractions(a, b)))
    }

    /// `self` to the power of `other`.
    pub(super) fn power(&self, other: &Number, budget: &mut Budget<'_>) -> Answer {
        if let (Number::Exact(base), Number::Exact(exponent)) = (self, other)
            && let Some(found) = exact_power(base, exponent, budget)?
        {
            return Ok(Number::Exact(found));
        }
        let (base, exponent) = (self.to_float()?, other.to_float()?);
        if base == 0.0 && exponent < 0.0 {
            return Err(by_zero());
        }
        if base < 0.0 && exponent != libm::trunc(exponent) {
            return Err(Failure::refused(
                "a negative number to a fractional power is not a real number",
            ));
        }
        Number::near(libm::pow(base, exponent))
    }

    /// The root of this degree: exact if it can be.
    pub(super) fn root(&self, degree: u32, budget: &mut Budget<'_>) -> Answer {
        let degree_number = Number::integer(degree);
        let negative = self.sign() == Ordering::Less;
        if negative && degree.is_even() {
            return Err(Failure::refused(
                "an even root of a negative number is not a real number",
            ));
        }
        // The root of the positive, with the sign back on it.
        let positive = if negative {
            self.clone().negate()
        } else {
            self.clone()
        };
        let exponent = Number::integer(1).divide(&degree_number, budget)?;
        let root = positive.power(&exponent, budget)?;
        Ok(if negative { root.negate() } else { root })
    }
}

/// The power, if it is a fraction again.
fn exact_power(
    base: &BigRational,
    exponent: &BigRational,
    budget: &mut Budget<'_>,
) -> Result<Option<BigRational>, Failure> {
    if exponent.is_negative() && base.is_zero() {
        return Err(by_zero());
    }
    let Some(degree) = exponent.denom().to_u32().filter(|it| *it <= MOST_ROOT) else {
        return Ok(None);
    };
    budget.steps(cost(size(base)))?;
    let Some(base) = exact_root(base, degree) else {
        return Ok(None);
    };
    // These stay as small as they are, whatever the exponent.
    if base.is_zero() || base.is_one() || (-&base).is_one() {
        let zero = base.is_zero() && !exponent.is_zero();
        let odd = exponent.numer().is_odd();
        return Ok(Some(match (zero, odd) {
            (true, _) => BigRational::zero(),
            (false, true) => base,
            (false, false) => BigRational::one(),
        }));
    }
    let times = exponent
        .numer()
        .magnitude()
        .to_u32()
        .ok_or_else(too_large)?;
    let size = size(&base).saturating_mul(u64::from(times));
    if size > MOST_BITS {
        return Err(too_large());
    }
    budget.steps(cost(size))?;
    let power = BigRational::new(base.numer().pow(times), base.denom().pow(times));
    Ok(Some(if exponent.is_negative() {
        power.recip()
    } else {
        power
    }))
}

fn exact_root(number: &BigRational, degree: u32) -> Option<BigRational> {
    if degree == 1 {
        return Some(number.clone());
    }
    if number.is_negative() {
        return None;
    }
    // Part by part: both are in lowest terms.
    let part = |it: &BigInt| {
        let root = it.nth_root(degree);
        (Pow::pow(&root, degree) == *it).then_some(root)
    };
    Some(BigRational::new(
        part(number.numer())?,
        part(number.denom())?,
    ))
}

/// The bits that two numbers can grow to in one operation, if that is not too many.
fn grown(a: &BigRational, b: &BigRational) -> Result<u64, Failure> {
    let bits = size(a) + size(b);
    if bits > MOST_BITS {
        return Err(too_large());
    }
    Ok(bits)
}

/// In bits.
fn size(number: &BigRational) -> u64 {
    number.numer().bits().max(number.denom().bits()).max(1)
}

/// The steps of the slowest thing done with a number of this size: reducing a fraction.
fn cost(bits: u64) -> u64 {
    let words = bits / 64 + 1;
    words.saturating_mul(words).saturating_mul(16)
}

pub(super) fn too_large() -> Failure {
    Failure::refused(
        "a number on the way is too large: more than about 9,800 digits, or more than 1e308 where it is not exact",
    )
}

fn by_zero() -> Failure {
    Failure::refused("division by zero")
}
