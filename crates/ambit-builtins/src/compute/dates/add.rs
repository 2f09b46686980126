//! `date_add`: a moment, later or earlier by an amount of time.

use ambit_core::observation::{Failure, Output};
use jiff::Span;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::budget::Budget;
use super::super::table::Builtin;
use super::convert::{moment_schema, written};
use super::moment::{Ambiguous, out_of_range, read, zone};
use super::{ambiguous_schema, date_schema, zone_schema};
use crate::declare::{arguments, object};

pub(in super::super) const DATE_ADD: Builtin = Builtin {
    name: "date_add",
    title: "Add to a date",
    description: "Add an amount of time to a date, or take it away: `90 days`, `1 month 2 weeks`, `-36h`, `P1Y2M`. \
        Years to days follow the calendar and keep the local time (January 31 plus a month is the last of February; \
        a time the clocks skip moves on by as much); hours and less are time that really passes.",
    tags: &["date", "time"],
    input,
    output: Some(moment_schema),
    run,
};

fn input() -> Value {
    object(
        &["date", "duration"],
        json!({
            "date": date_schema("The date"),
            "duration": { "type": "string", "minLength": 1, "maxLength": 200, "description": "How much: in words (`2 weeks 3 days`, `-1h 30m`) or as ISO 8601 (`P2W3D`, `-PT1H30M`)." },
            "zone": zone_schema("The zone of the date if it does not say itself, and else the zone to count in. Default: UTC."),
            "ambiguous": ambiguous_schema(),
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    date: String,
    duration: String,
    zone: Option<String>,
    #[serde(default)]
    ambiguous: Ambiguous,
}

fn run(value: Value, budget: &mut Budget<'_>) -> Result<Output, Failure> {
    let Arguments {
        date,
        duration,
        zone: from,
        ambiguous,
    } = arguments(value)?;
    budget.steps(10_000)?;
    let from = from.as_deref().map(zone).transpose()?;
    let moment = read(&date, from.as_ref(), ambiguous)?;
    let span: Span = duration.trim().parse().map_err(|_| {
        Failure::refused(format!(
            "`{duration}` is not an amount of time: write it as `3 days 4 hours`, `-90m` or `P3DT4H`"
        ))
    })?;
    let added = moment.zoned.checked_add(span);
    let zoned = added.map_err(|_| out_of_range(&format!("{date} + {duration}")))?;
    Ok(written(&zoned, moment.note))
}
