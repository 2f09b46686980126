//! `date_convert`: a moment in another zone, and all that is to be said about it.

use ambit_core::observation::{Failure, Output};
use jiff::Zoned;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::budget::Budget;
use super::super::table::Builtin;
use super::moment::{Ambiguous, read, zone};
use super::{ambiguous_schema, date_schema, zone_schema};
use crate::declare::{arguments, object};

pub(in super::super) const DATE_CONVERT: Builtin = Builtin {
    name: "date_convert",
    title: "Read or convert a date",
    description: "Read a date and say what it is in a time zone: local date and time, weekday, ISO week, offset, UTC, Unix seconds. \
        Use it to convert between zones and formats, and to find weekdays. It does not know what time it is now.",
    tags: &["date", "time", "timezone"],
    input,
    output: Some(moment_schema),
    run,
};

fn input() -> Value {
    object(
        &["date"],
        json!({
            "date": date_schema("The date"),
            "zone": zone_schema("The zone the date is in, if it does not say itself: a name such as `America/New_York`, or an offset. Default: UTC."),
            "to": zone_schema("The zone to convert to. Default: the zone it is in."),
            "ambiguous": ambiguous_schema(),
        }),
    )
}

/// The shape of a moment.
pub(super) fn moment_schema() -> Value {
    let text = |description: &str| json!({ "type": "string", "description": description });
    object(
        &[
            "datetime",
            "date",
            "time",
            "weekday",
            "offset",
            "utc",
            "unix",
            "isoWeek",
            "dayOfYear",
        ],
        json!({
            "datetime": text("Local date and time with offset and zone (RFC 9557)."),
            "date": text("The local date."),
            "time": text("The local time."),
            "weekday": text("The day of the week."),
            "zone": text("The name of the zone, if it has one."),
            "offset": text("The offset from UTC then and there."),
            "utc": text("The same moment in UTC (RFC 3339)."),
            "unix": { "type": "integer", "description": "Seconds since 1970 in UTC, rounded down." },
            "isoWeek": text("The week as ISO 8601 counts it."),
            "dayOfYear": { "type": "integer", "description": "From 1." },
            "note": text("What was doubtful about the date, and how it was taken."),
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    date: String,
    zone: Option<String>,
    to: Option<String>,
    #[serde(default)]
    ambiguous: Ambiguous,
}

fn run(value: Value, budget: &mut Budget<'_>) -> Result<Output, Failure> {
    let Arguments {
        date,
        zone: from,
        to,
        ambiguous,
    } = arguments(value)?;
    budget.steps(10_000)?;
    let from = from.as_deref().map(zone).transpose()?;
    let to = to.as_deref().map(zone).transpose()?;
    let moment = read(&date, from.as_ref(), ambiguous)?;
    let zoned = match to {
        Some(zone) => moment.zoned.with_time_zone(zone),
        None => moment.zoned,
    };
    Ok(written(&zoned, moment.note))
}

/// A moment as a result.
pub(super) fn written(zoned: &Zoned, note: Option<String>) -> Output {
    let week = zoned.date().iso_week_date();
    let mut said = Map::new();
    let mut say = |name: &str, value: Value| said.insert(name.to_owned(), value);
    say("datetime", zoned.to_string().into());
    say("date", zoned.date().to_string().into());
    say("time", zoned.time().to_string().into());
    say("weekday", zoned.strftime("%A").to_string().into());
    if let Some(name) = zoned.time_zone().iana_name() {
        say("zone", name.into());
    }
    say("offset", zoned.strftime("%:z").to_string().into());
    say("utc", zoned.timestamp().to_string().into());
    let below = i64::from(zoned.timestamp().subsec_nanosecond() < 0);
    say("unix", (zoned.timestamp().as_second() - below).into());
    say(
        "isoWeek",
        format!("{:04}-W{:02}", week.year(), week.week()).into(),
    );
    say("dayOfYear", zoned.day_of_year().into());
    let mut text = format!("{zoned} ({})", zoned.strftime("%A"));
    if let Some(note) = note {
        text = format!("{text}\nnote: {note}");
        say("note", note.into());
    }
    Output::text(text).with_structured(said.into())
}
