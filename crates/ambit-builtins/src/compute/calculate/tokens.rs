//! An expression as words. Positions are kept so that a refusal can point.

use ambit_core::observation::Failure;
use num_bigint::BigInt;
use num_rational::BigRational;

use super::super::exact;

/// One word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(BigRational),
    Name(String),
    /// `+ - * / ^ % ! ( ) ,`
    Sign(char),
}

/// A word and the character it begins at, counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) at: usize,
}

/// The words of an expression.
pub(super) fn read(expression: &str) -> Result<Vec<Placed>, Failure> {
    let chars: Vec<char> = expression.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&first) = chars.get(at) {
        if first.is_whitespace() {
            at += 1;
            continue;
        }
        let rest = chars.get(at..).unwrap_or_default();
        let (token, length) = next(first, rest).map_err(|why| refused(at + 1, &why))?;
        tokens.push(Placed { token, at: at + 1 });
        at += length;
    }
    Ok(tokens)
}

/// A refusal that points.
pub(super) fn refused(at: usize, why: &str) -> Failure {
    Failure::refused(format!("at character {at}: {why}"))
}

fn next(first: char, rest: &[char]) -> Result<(Token, usize), String> {
    if first.is_ascii_digit() || first == '.' {
        return number(rest);
    }
    if first.is_alphabetic() || first == '_' {
        let name: String = rest.iter().take_while(|it| is_name(**it)).collect();
        let length = name.chars().count();
        return Ok((Token::Name(name), length));
    }
    let sign = match first {
        '*' if rest.get(1) == Some(&'*') => return Ok((Token::Sign('^'), 2)),
        '+' | '-' | '*' | '/' | '^' | '%' | '!' | '(' | ')' | ',' => first,
        '×' | '·' => '*',
        '÷' => '/',
        '−' => '-',
        '=' | '<' | '>' => return Err("there are no comparisons here, only calculation".to_owned()),
        other => return Err(format!("`{other}` means nothing here")),
    };
    Ok((Token::Sign(sign), 1))
}

fn is_name(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

fn number(rest: &[char]) -> Result<(Token, usize), String> {
    let mut length = 0;
    let mut text = String::new();
    while let Some(&it) = rest.get(length) {
        let after_e = text.ends_with(['e', 'E']) && !text.starts_with("0x");
        if !(is_name(it) || it == '.' || (after_e && matches!(it, '+' | '-'))) {
            break;
        }
        text.push(it);
        length += 1;
    }
    let digits = text.replace('_', "");
    let radix = |prefix: &str, radix: u32| {
        let digits = digits.strip_prefix(prefix)?;
        BigInt::parse_bytes(digits.as_bytes(), radix).map(BigRational::from_integer)
    };
    let value = radix("0x", 16)
        .or_else(|| radix("0b", 2))
        .or_else(|| radix("0o", 8))
        .or_else(|| exact::parse(&digits))
        .ok_or_else(|| {
            format!("`{text}` is not a number: write `*` between a number and a name, `.` before decimals, and exponents up to 2000")
        })?;
    Ok((Token::Number(value), length))
}
