//! Characters of a query, and what is wrong with them.

use ambit_core::observation::Failure;
use serde_json::Value;

/// The largest integer that JSON readers agree on.
const MOST_INTEGER: i64 = (1 << 53) - 1;
/// How deep filters may nest.
const MOST_DEPTH: usize = 32;

/// A place in a query.
pub(super) struct Scan {
    chars: Vec<char>,
    at: usize,
    depth: usize,
}

impl Scan {
    pub(super) fn new(query: &str) -> Self {
        Scan {
            chars: query.chars().collect(),
            at: 0,
            depth: 0,
        }
    }

    pub(super) fn place(&self) -> usize {
        self.at
    }

    /// Back to where it was.
    pub(super) fn back_to(&mut self, place: usize) {
        self.at = place;
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        let rest = self.chars.get(self.at..).unwrap_or_default();
        text.chars()
            .enumerate()
            .all(|(at, it)| rest.get(at) == Some(&it))
    }

    /// Over this text, if it comes next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let there = self.starts_with(text);
        if there {
            self.at += text.chars().count();
        }
        there
    }

    pub(super) fn expect(&mut self, text: &str) -> Result<(), Failure> {
        if self.take(text) {
            return Ok(());
        }
        Err(self.refused(&format!("`{text}` is missing")))
    }

    pub(super) fn blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.at += 1;
        }
    }

    pub(super) fn refused(&self, why: &str) -> Failure {
        let at = self.at + 1;
        Failure::refused(format!("the query cannot be read at character {at}: {why}"))
    }

    pub(super) fn deeper<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.depth == MOST_DEPTH {
            return Err(self.refused(&format!("nested deeper than {MOST_DEPTH} levels")));
        }
        self.depth += 1;
        let found = inner(self);
        self.depth -= 1;
        found
    }

    /// Digits as they are written.
    fn digits(&mut self) -> String {
        let mut digits = String::new();
        while let Some(digit @ '0'..='9') = self.peek() {
            digits.push(digit);
            self.at += 1;
        }
        digits
    }

    /// An integer, if one comes next.
    pub(super) fn integer(&mut self) -> Result<Option<i64>, Failure> {
        let place = self.at;
        let negative = self.take("-");
        let digits = self.digits();
        if digits.is_empty() && !negative {
            return Ok(None);
        }
        let leading = digits.len() > 1 && digits.starts_with('0');
        let value = digits.parse::<i64>().ok().filter(|it| *it <= MOST_INTEGER);
        let minus_zero = negative && value == Some(0);
        match value {
            Some(value) if !leading && !minus_zero => {
                Ok(Some(if negative { -value } else { value }))
            }
            _ => {
                self.at = place;
                Err(self.refused("an integer without leading zeros is wanted"))
            }
        }
    }

    /// A number as JSON has it.
    pub(super) fn number(&mut self) -> Result<Value, Failure> {
        let place = self.at;
        let mut text = String::new();
        if self.take("-") {
            text.push('-');
        }
        text.push_str(&self.digits());
        if self.take(".") {
            text.push('.');
            text.push_str(&self.digits());
        }
        if self.take("e") || self.take("E") {
            text.push('e');
            if self.take("-") {
                text.push('-');
            } else if self.take("+") {
                text.push('+');
            }
            text.push_str(&self.digits());
        }
        serde_json::from_str(&text).map_err(|_| {
            self.at = place;
            self.refused("this is not a number")
        })
    }

    /// A text between quotes.
    pub(super) fn quoted(&mut self) -> Result<String, Failure> {
        let Some(quote @ ('\'' | '"')) = self.next() else {
            return Err(self.refused("a quoted text is missing"));
        };
        let mut text = String::new();
        loop {
            match self.next() {
                None => return Err(self.refused("the closing quote is missing")),
                Some(it) if it == quote => return Ok(text),
                Some('\\') => text.push(self.escaped(quote)?),
                Some('\0'..='\x1f') => {
                    self.at -= 1;
                    return Err(self.refused("write control characters as `\\u0000`"));
                }
                Some(it) => text.push(it),
            }
        }
    }

    fn escaped(&mut self, quote: char) -> Result<char, Failure> {
        let unknown = "this escape is not known";
        match self.next() {
            Some('b') => Ok('\u{8}'),
            Some('f') => Ok('\u{c}'),
            Some('n') => Ok('\n'),
            Some('r') => Ok('\r'),
            Some('t') => Ok('\t'),
            Some(it @ ('/' | '\\')) => Ok(it),
            Some(it) if it == quote => Ok(it),
            Some('u') => {
                let high = self.hex()?;
                let code = match high {
                    0xd800..=0xdbff => {
                        self.expect("\\u")?;
                        let low = self.hex()?;
                        if !(0xdc00..=0xdfff).contains(&low) {
                            return Err(self.refused(unknown));
                        }
                        0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
                    }
                    other => other,
                };
                char::from_u32(code).ok_or_else(|| self.refused(unknown))
            }
            _ => Err(self.refused(unknown)),
        }
    }

    fn hex(&mut self) -> Result<u32, Failure> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.next().and_then(|it| it.to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.refused("four hex digits are wanted"))?;
        }
        Ok(code)
    }

    /// A member name without quotes, if one comes next.
    pub(super) fn name(&mut self) -> Option<String> {
        let mut name = String::new();
        while let Some(it) = self.peek() {
            let first = it.is_ascii_alphabetic() || it == '_' || !it.is_ascii();
            if !(first || (it.is_ascii_digit() && !name.is_empty())) {
                break;
            }
            name.push(it);
            self.at += 1;
        }
        (!name.is_empty()).then_some(name)
    }

    /// The name of a function, with its parenthesis, if one comes next.
    pub(super) fn function(&mut self) -> Option<String> {
        let place = self.at;
        let mut name = String::new();
        while let Some(it @ ('a'..='z' | '_' | '0'..='9')) = self.peek() {
            name.push(it);
            self.at += 1;
        }
        if name.starts_with(|it: char| it.is_ascii_lowercase()) && self.take("(") {
            return Some(name);
        }
        self.at = place;
        None
    }
}
