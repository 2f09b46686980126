//! `date_convert`, `date_add` and `date_difference`. The zones come with Ambit, so an answer does
//! not depend on the machine; there is no "now" here, which the caller gives as a date.

mod add;
mod convert;
mod difference;
mod moment;

#[cfg(test)]
mod tests;

pub(super) use add::DATE_ADD;
pub(super) use convert::DATE_CONVERT;
pub(super) use difference::DATE_DIFFERENCE;

use serde_json::{Value, json};

fn date_schema(what: &str) -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": 100,
        "description": format!("{what}: `2026-03-29`, `2026-03-29T14:30`, with an offset (`…Z`, `…+02:00`) or a zone (`…[Europe/Berlin]`), `Sun, 29 Mar 2026 14:30:00 +0200`, or `@1774787400` for Unix seconds."),
    })
}

fn zone_schema(description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 100, "description": description })
}

fn ambiguous_schema() -> Value {
    json!({
        "enum": ["compatible", "earlier", "later", "reject"],
        "description": "What a local time means that a change of clocks skips or repeats. `compatible`: a skipped one moves on by as much as was skipped, of a repeated one the first is taken. Default: compatible.",
    })
}
