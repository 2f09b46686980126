//! Reading what a harness sends: strictly, and with a word about what was probably meant.

use ambit_core::json::parse_strict;
use ambit_core::suggest::{did_you_mean, suggest};
use http::Uri;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::problem::Problem;

/// A body that knows its fields.
pub(super) trait Body: DeserializeOwned {
    /// All of them.
    const FIELDS: &'static [&'static str];
}

/// Reads a body. None at all is an empty object.
pub(super) fn read<T: Body>(body: &[u8]) -> Result<T, Problem> {
    let text = std::str::from_utf8(body)
        .map_err(|_| Problem::bad("body_not_json", "the body is not UTF-8"))?;
    let text = match text.trim() {
        "" => "{}",
        text => text,
    };
    let mut value = parse_strict(text).map_err(|error| {
        Problem::bad(
            "body_not_json",
            format!("the body is not usable JSON: {error}"),
        )
    })?;
    let Value::Object(fields) = &mut value else {
        let message = "the body must be a JSON object";
        return Err(Problem::bad("body_not_object", message));
    };
    for (name, field) in fields {
        known("field", "unknown_field", name, T::FIELDS)?;
        // `3.0` is an integer, says JSON Schema.
        if let Some(whole) = field.as_f64().and_then(whole) {
            *field = whole;
        }
    }
    serde_json::from_value(value)
        .map_err(|error| Problem::bad("body_invalid", error.to_string().replace('"', "`")))
}

fn whole(number: f64) -> Option<Value> {
    let is_whole = number.fract() == 0.0 && number.abs() < f64::from(u32::MAX);
    is_whole.then(|| Value::from(number as i64))
}

fn known(what: &str, code: &'static str, name: &str, all: &[&str]) -> Result<(), Problem> {
    if all.contains(&name) {
        return Ok(());
    }
    let shown: String = name.chars().take(64).collect();
    let problem = Problem::bad(code, format!("there is no {what} `{shown}` here"));
    let listed: Vec<String> = all.iter().map(|it| format!("`{it}`")).collect();
    let hint = did_you_mean(&suggest(name, all.iter().copied()));
    Err(match (hint, listed.is_empty()) {
        (Some(hint), _) => problem.hint(hint),
        (None, false) => problem.hint(format!("there are {}", listed.join(", "))),
        (None, true) => problem.hint("leave it out: nothing is taken from the address here"),
    })
}

/// What stands behind the `?` of an address.
pub(super) struct Parameters<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Parameters<'a> {
    /// Those of an address, all of which must be known here.
    pub(super) fn of(uri: &'a Uri, all: &[&str]) -> Result<Self, Problem> {
        let pairs = uri.query().unwrap_or_default().split('&');
        let pairs: Vec<(&str, &str)> = pairs
            .filter(|it| !it.is_empty())
            .map(|it| it.split_once('=').unwrap_or((it, "")))
            .collect();
        for (name, _) in &pairs {
            known("parameter", "unknown_parameter", name, all)?;
        }
        Ok(Parameters(pairs))
    }

    /// The value of one.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        let found = self.0.iter().find(|(it, _)| *it == name);
        found.map(|(_, value)| *value)
    }
}
