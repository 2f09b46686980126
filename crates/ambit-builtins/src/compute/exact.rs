//! Numbers as people write them: decimals are fractions here, so `0.1 + 0.2` is `0.3`. Decides
//! how a fraction is written back: in full where that is short, else rounded, and it says which.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};
use num_integer::Integer as _;
use num_rational::BigRational;
use num_traits::{One as _, Pow as _, Signed as _, ToPrimitive as _, Zero as _};

/// How far from the point a written number may reach.
const MOST_EXPONENT: i64 = 2_000;
/// Places after the point that are written in full.
const MOST_PLACES: u32 = 60;
/// Digits of a number that is rounded.
const DIGITS: i64 = 30;
/// Digits of an `f64` that can be trusted.
const FLOAT_DIGITS: usize = 15;

/// A number in writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) text: String,
    /// Whether the text is the number, digit for digit.
    pub(super) exact: bool,
}

/// Ten to this power.
pub(super) fn ten_to(power: u32) -> BigInt {
    BigInt::from(10).pow(power)
}

/// A decimal such as `-12.5e-3`, if it is one and not absurdly large or small.
pub(super) fn parse(text: &str) -> Option<BigRational> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let number = BigInt::parse_bytes(digits.as_bytes(), 10)? * sign;
    let power = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    if power.abs() > MOST_EXPONENT {
        return None;
    }
    let scale = ten_to(u32::try_from(power.unsigned_abs()).ok()?);
    Some(if power < 0 {
        BigRational::new(number, scale)
    } else {
        BigRational::from_integer(number * scale)
    })
}

/// The decimal that an `f64` is written as, which is what its author meant.
pub(super) fn from_float(number: f64) -> Option<BigRational> {
    parse(&format!("{number:e}"))
}

/// The nearest `f64`, if there is one.
pub(super) fn to_float(number: &BigRational) -> Option<f64> {
    number.to_f64().filter(|it| it.is_finite())
}

/// Which is larger. Not that of the library, which goes as deep as two fractions agree and takes
/// the stack along: here their numerators are compared over one denominator.
pub(super) fn compare(a: &BigRational, b: &BigRational) -> Ordering {
    if a.denom() == b.denom() {
        return a.numer().cmp(b.numer());
    }
    (a.numer() * b.denom()).cmp(&(b.numer() * a.denom()))
}

/// In writing: in full if it ends soon after the point, else rounded to thirty digits.
pub(super) fn write(number: &BigRational) -> Written {
    let in_full = |text| Written { text, exact: true };
    if number.is_integer() {
        return in_full(number.numer().to_string());
    }
    if let Some(places) = places(number.denom()) {
        let scaled = number.numer() * ten_to(places) / number.denom();
        return in_full(with_point(&scaled, i64::from(places)));
    }
    Written {
        text: rounded(number),
        exact: false,
    }
}

/// In writing, with the digits of an `f64` that can be trusted.
pub(super) fn write_float(number: f64) -> Written {
    let scientific = format!("{number:.*e}", FLOAT_DIGITS - 1);
    let text = parse(&scientific).map_or(scientific, |it| match places(it.denom()) {
        Some(_) => write(&it).text,
        None => rounded(&it),
    });
    Written {
        text: shortened(text),
        exact: false,
    }
}

/// How many places after the point a fraction with this denominator needs, if it ends soon.
fn places(denominator: &BigInt) -> Option<u32> {
    let mut rest = denominator.clone();
    let mut count = |prime: u32| {
        let prime = BigInt::from(prime);
        let mut times = 0;
        while times <= MOST_PLACES {
            let (quotient, remainder) = rest.div_rem(&prime);
            if !remainder.is_zero() {
                break;
            }
            rest = quotient;
            times += 1;
        }
        times
    };
    let places = count(2).max(count(5));
    (rest.is_one() && places <= MOST_PLACES).then_some(places)
}

/// To thirty digits, half to even.
fn rounded(number: &BigRational) -> String {
    let length = |it: &BigInt| it.magnitude().to_string().len() as i64;
    // The power of ten of the first digit, or one more.
    let mut first = length(number.numer()) - length(number.denom());
    loop {
        let power = DIGITS - 1 - first;
        let scale = ten_to(u32::try_from(power.unsigned_abs()).unwrap_or(0));
        let (numerator, denominator) = if power < 0 {
            (number.numer().abs(), number.denom() * scale)
        } else {
            (number.numer().abs() * scale, number.denom().clone())
        };
        let digits = half_even(&numerator, &denominator);
        // One digit too few: the guess of the first was one too high.
        if length(&digits) < DIGITS {
            first -= 1;
            continue;
        }
        let digits = if number.is_negative() {
            -digits
        } else {
            digits
        };
        return scientific_or_plain(&digits, power, first);
    }
}

fn half_even(numerator: &BigInt, denominator: &BigInt) -> BigInt {
    let (quotient, remainder) = numerator.div_rem(denominator);
    let twice = remainder * 2;
    if twice > *denominator || (twice == *denominator && quotient.is_odd()) {
        quotient + 1
    } else {
        quotient
    }
}

/// `digits / 10^power`, whose first digit stands for `10^first`.
fn scientific_or_plain(digits: &BigInt, power: i64, first: i64) -> String {
    if (-7..DIGITS).contains(&first) && power >= 0 {
        return trimmed(with_point(digits, power));
    }
    let length = digits.magnitude().to_string().len() as i64;
    let mantissa = trimmed(with_point(digits, length - 1));
    format!("{mantissa}e{}", length - 1 - power)
}

/// A long run of zeros as a power of ten.
fn shortened(text: String) -> String {
    let unsigned = text.trim_start_matches('-');
    if text.contains('e') || (unsigned.len() <= 21 && !unsigned.starts_with("0.0000000")) {
        return text;
    }
    parse(&text)
        .and_then(|it| it.to_f64())
        .map_or(text, |it| format!("{it:e}"))
}

/// The digits with a point before the last `places` of them.
fn with_point(digits: &BigInt, places: i64) -> String {
    let sign = if digits.sign() == Sign::Minus {
        "-"
    } else {
        ""
    };
    let places = usize::try_from(places).unwrap_or(0);
    let digits = format!("{:0>width$}", digits.magnitude(), width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    if fraction.is_empty() {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{fraction}")
    }
}

fn trimmed(text: String) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fractions_in_writing() {
        for (numerator, denominator, text, exact) in [
            (3i64, 10i64, "0.3", true),
            (-1, 4, "-0.25", true),
            (7, 1, "7", true),
            (1, 3, "0.333333333333333333333333333333", false),
            (-2, 3, "-0.666666666666666666666666666667", false),
            (2_000_000, 3, "666666.666666666666666666666667", false),
            (
                1,
                3_000_000_000,
                "3.33333333333333333333333333333e-10",
                false,
            ),
            (299, 300, "0.996666666666666666666666666667", false),
        ] {
            let number = BigRational::new(numerator.into(), denominator.into());
            let expected = Written {
                text: text.to_owned(),
                exact,
            };
            assert_eq!(write(&number), expected);
        }
        let long = parse("1e-70").unwrap();
        assert_eq!(write(&long).text, "1e-70");
        let large = parse("2e40").unwrap() / BigInt::from(3);
        assert_eq!(write(&large).text, "6.66666666666666666666666666667e39");
        let close = parse("1").unwrap() - BigRational::new(1.into(), ten_to(50) * 3);
        assert_eq!(write(&close).text, "1");
    }

    #[test]
    fn floats_in_writing() {
        for (number, text) in [
            (std::f64::consts::SQRT_2, "1.4142135623731"),
            (0.1 + 0.2, "0.3"),
            (1.22464679914735e-16, "1.22464679914735e-16"),
            (6.02214076e23, "6.02214076e23"),
            (-1.5e300, "-1.5e300"),
            (0.0, "0"),
            (1e20, "100000000000000000000"),
            (5e-324, "4.94065645841247e-324"),
        ] {
            assert_eq!(write_float(number).text, text);
        }
    }

    #[test]
    fn what_is_no_decimal() {
        for text in [
            "",
            ".",
            "-",
            "e5",
            "1e",
            "1e99999",
            "1.2.3",
            "0x1",
            "١",
            "1e9999999999999999999",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(".5"), parse("5e-1"));
        assert_eq!(parse("+5."), parse("5"));
    }

    proptest! {
        #[test]
        fn exact_writing_reads_back(numerator: i64, places in 0u32..40) {
            let number = BigRational::new(numerator.into(), ten_to(places));
            let written = write(&number);
            prop_assert!(written.exact);
            prop_assert_eq!(parse(&written.text), Some(number));
        }

        #[test]
        fn rounded_writing_is_near(numerator: i64, denominator in 1i64.., power in -300i64..300) {
            prop_assume!(numerator != 0);
            let number = BigRational::new(numerator.into(), denominator.into()) * parse(&format!("1e{power}")).unwrap();
            let back = parse(&write(&number).text).unwrap();
            let error = ((back - &number) / &number).abs();
            prop_assert!(error <= parse("1e-29").unwrap());
        }

        #[test]
        fn floats_are_their_decimals(number in proptest::num::f64::NORMAL) {
            prop_assert_eq!(to_float(&from_float(number).unwrap()), Some(number));
        }
    }
}
