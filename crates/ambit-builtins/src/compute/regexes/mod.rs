//! `regex_find`, `regex_replace` and `regex_split`. One search takes time in proportion to the
//! text, whatever the pattern; many searches are charged for what is left of the text each time,
//! since a pattern can be made to look at all of it again and again.

mod find;
mod replace;
mod split;

#[cfg(test)]
mod tests;

pub(super) use find::REGEX_FIND;
pub(super) use replace::REGEX_REPLACE;
pub(super) use split::REGEX_SPLIT;

use ambit_core::observation::Failure;
use regex::{Captures, Regex, RegexBuilder};
use serde_json::{Value, json};

use super::budget::Budget;

/// How large a pattern may become when it is made ready.
const MOST_PATTERN_BYTES: usize = 1 << 20;
/// How deep groups may nest.
const MOST_NESTING: u32 = 50;
/// Bytes of text that are looked at in one step.
const BYTES_PER_STEP: usize = 32;

fn text_schema() -> Value {
    json!({ "type": "string", "maxLength": 200_000, "description": "The text to look in." })
}

fn pattern_schema() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": 1000,
        "description": "A regular expression as in Rust or RE2: no look-around, no backreferences. `(?i)` at its start ignores case, `(?m)` lets ^ and $ fit at lines, `(?s)` lets . fit line ends.",
    })
}

fn read(pattern: &str) -> Result<Regex, Failure> {
    let built = RegexBuilder::new(pattern)
        .size_limit(MOST_PATTERN_BYTES)
        .dfa_size_limit(MOST_PATTERN_BYTES)
        .nest_limit(MOST_NESTING)
        .build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => Failure::refused(
            "the pattern is too large when its repetitions are written out: use smaller counts",
        ),
        other => {
            let why = other.to_string();
            let why = why.lines().last().unwrap_or("").trim();
            let why = why.strip_prefix("error: ").unwrap_or(why);
            Failure::refused(format!("the pattern cannot be read: {why}"))
        }
    })
}

/// Goes through matches, paying for each search, as long as `each` says how to go on.
fn visit<'t>(
    regex: &Regex,
    text: &'t str,
    budget: &mut Budget<'_>,
    mut each: impl FnMut(Captures<'t>, &mut Budget<'_>) -> Result<Go, Failure>,
) -> Result<(), Failure> {
    let mut searched = 0;
    let mut matches = regex.captures_iter(text);
    loop {
        budget.steps(((text.len() - searched) / BYTES_PER_STEP + 20) as u64)?;
        let Some(captures) = matches.next() else {
            return Ok(());
        };
        searched = captures.get_match().end();
        if each(captures, budget)? == Go::Stop {
            return Ok(());
        }
    }
}

/// Whether to look for more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Go {
    On,
    Stop,
}
