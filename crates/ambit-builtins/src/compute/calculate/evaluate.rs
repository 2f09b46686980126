//! The value of an expression, found while reading it: nothing is looked at twice, so no tree is
//! kept. From loose to tight: `+ -`, `* / %`, sign, `^` (to the right), `!` and percent.

use std::collections::BTreeMap;

use ambit_core::observation::Failure;
use ambit_core::suggest::{did_you_mean, suggest};

use super::super::budget::Budget;
use super::functions::{self, FUNCTIONS};
use super::number::Number;
use super::tokens::{Placed, Token, read, refused};

/// How deep parentheses and powers may nest.
const MOST_DEPTH: usize = 100;
const CONSTANTS: [(&str, f64); 3] = [
    ("pi", std::f64::consts::PI),
    ("tau", std::f64::consts::TAU),
    ("e", std::f64::consts::E),
];

type Answer = Result<Number, Failure>;

/// What an expression comes to.
pub(super) fn evaluate(
    expression: &str,
    variables: &BTreeMap<String, Number>,
    budget: &mut Budget<'_>,
) -> Answer {
    let mut reading = Reading {
        tokens: read(expression)?,
        next: 0,
        end: expression.chars().count() + 1,
        depth: 0,
        variables,
        budget,
    };
    let value = reading.sum()?;
    match reading.peek() {
        None => Ok(value),
        Some(Token::Sign(')')) => Err(reading.refused("this `)` closes nothing")),
        Some(Token::Sign(',')) => Err(reading
            .refused("a `,` stands only between arguments of a function: write 1000, not 1,000")),
        Some(_) => Err(reading.refused("an operator is missing: write `*` to multiply")),
    }
}

struct Reading<'r, 'b> {
    tokens: Vec<Placed>,
    next: usize,
    end: usize,
    depth: usize,
    variables: &'r BTreeMap<String, Number>,
    budget: &'r mut Budget<'b>,
}

impl Reading<'_, '_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|it| &it.token)
    }

    fn take(&mut self) -> Option<Token> {
        let token = self.peek().cloned();
        self.next += 1;
        token
    }

    fn take_sign(&mut self, sign: char) -> bool {
        let there = self.peek() == Some(&Token::Sign(sign));
        self.next += usize::from(there);
        there
    }

    fn refused(&self, why: &str) -> Failure {
        refused(self.tokens.get(self.next).map_or(self.end, |it| it.at), why)
    }

    /// One level deeper, as far as that goes.
    fn deeper(&mut self, inner: impl FnOnce(&mut Self) -> Answer) -> Answer {
        if self.depth == MOST_DEPTH {
            return Err(self.refused(&format!("nested deeper than {MOST_DEPTH} levels")));
        }
        self.depth += 1;
        let value = inner(self);
        self.depth -= 1;
        value
    }

    fn sum(&mut self) -> Answer {
        let mut value = self.product()?;
        loop {
            if self.take_sign('+') {
                value = value.add(&self.product()?, self.budget)?;
            } else if self.take_sign('-') {
                value = value.subtract(&self.product()?, self.budget)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Answer {
        let mut value = self.signed()?;
        loop {
            if self.take_sign('*') {
                value = value.multiply(&self.signed()?, self.budget)?;
            } else if self.take_sign('/') {
                let at = self.next;
                let divisor = self.signed()?;
                if divisor.is_zero() {
                    self.next = at;
                    return Err(self.refused("division by zero"));
                }
                value = value.divide(&divisor, self.budget)?;
            } else if self.take_sign('%') {
                value = value.remainder(&self.signed()?, self.budget)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn signed(&mut self) -> Answer {
        if self.take_sign('-') {
            return self.deeper(|it| Ok(it.signed()?.negate()));
        }
        if self.take_sign('+') {
            return self.deeper(Self::signed);
        }
        self.power()
    }

    fn power(&mut self) -> Answer {
        let base = self.postfix()?;
        if !self.take_sign('^') {
            return Ok(base);
        }
        let exponent = self.deeper(Self::signed)?;
        base.power(&exponent, self.budget)
    }

    fn postfix(&mut self) -> Answer {
        let mut value = self.operand()?;
        loop {
            if self.take_sign('!') {
                value = functions::factorial(&value, self.budget)?;
            } else if self.peek() == Some(&Token::Sign('%')) && !self.operand_follows_sign() {
                self.next += 1;
                value = value.divide(&Number::integer(100), self.budget)?;
            } else {
                return Ok(value);
            }
        }
    }

    /// `10 % 3` is a remainder, `10% + 3` is not.
    fn operand_follows_sign(&self) -> bool {
        matches!(
            self.tokens.get(self.next + 1).map(|it| &it.token),
            Some(Token::Number(_) | Token::Name(_) | Token::Sign('('))
        )
    }

    fn operand(&mut self) -> Answer {
        match self.peek() {
            Some(Token::Number(_) | Token::Name(_) | Token::Sign('(')) => {}
            Some(_) => return Err(self.refused("a number, a name or `(` is missing before this")),
            None => return Err(self.refused("the expression ends too soon")),
        }
        match self.take() {
            Some(Token::Number(it)) => Ok(Number::Exact(it)),
            Some(Token::Name(name)) if self.peek() == Some(&Token::Sign('(')) => self.call(&name),
            Some(Token::Name(name)) => self.named(&name),
            _ => {
                let value = self.deeper(Self::sum)?;
                self.close()?;
                Ok(value)
            }
        }
    }

    fn close(&mut self) -> Result<(), Failure> {
        if self.take_sign(')') {
            return Ok(());
        }
        Err(self.refused("a `)` is missing"))
    }

    fn named(&mut self, name: &str) -> Answer {
        if let Some(value) = self.variables.get(name) {
            return Ok(value.clone());
        }
        let lower = name.to_lowercase();
        if let Some((_, value)) = CONSTANTS
            .iter()
            .find(|(it, _)| *it == lower || (*it == "pi" && name == "π"))
        {
            return Ok(Number::Near(*value));
        }
        self.next -= 1;
        let known = self.variables.keys().map(String::as_str);
        let known = known.chain(CONSTANTS.iter().map(|it| it.0));
        Err(self.refused(&unknown("variable or constant", name, known)))
    }

    fn call(&mut self, name: &str) -> Answer {
        let lower = name.to_lowercase();
        let Some(function) = FUNCTIONS.iter().find(|it| it.name == lower) else {
            self.next -= 1;
            let known = FUNCTIONS.iter().map(|it| it.name);
            return Err(self.refused(&unknown("function", name, known)));
        };
        let at = self.next - 1;
        self.next += 1;
        let mut values = Vec::new();
        if !self.take_sign(')') {
            loop {
                values.push(self.deeper(Self::sum)?);
                if !self.take_sign(',') {
                    break;
                }
            }
            self.close()?;
        }
        if !function.takes.contains(&values.len()) {
            self.next = at;
            let wanted = function.wants();
            return Err(self.refused(&format!("`{lower}` takes {wanted}, not {}", values.len())));
        }
        self.budget.steps(values.iter().map(Number::cost).sum())?;
        (function.run)(&values, self.budget).map_err(|failure| Failure {
            message: format!("{} (in `{lower}`)", failure.message),
            ..failure
        })
    }
}

fn unknown<'a>(kind: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = did_you_mean(&suggest(name, known));
    let near = near.map_or(String::new(), |it| format!("; {it}"));
    format!("`{name}` is no {kind}{near}")
}
