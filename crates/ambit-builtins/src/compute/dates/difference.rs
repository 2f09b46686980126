//! `date_difference`: the time between two moments.

use ambit_core::observation::{Failure, Output};
use jiff::civil::DateDifference;
use jiff::fmt::friendly::{Designator, Spacing, SpanPrinter};
use jiff::{Unit, ZonedDifference};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::budget::Budget;
use super::super::exact;
use super::super::table::Builtin;
use super::moment::{Ambiguous, out_of_range, read, zone};
use super::{ambiguous_schema, date_schema, zone_schema};
use crate::declare::{arguments, object};

static WORDS: SpanPrinter = SpanPrinter::new()
    .designator(Designator::Verbose)
    .spacing(Spacing::BetweenUnitsAndDesignators);

pub(in super::super) const DATE_DIFFERENCE: Builtin = Builtin {
    name: "date_difference",
    title: "Time between dates",
    description: "The time from one date to another: in calendar units, in days and in seconds. \
        Negative if the second is earlier. Use it for ages, deadlines and durations.",
    tags: &["date", "time"],
    input,
    output: Some(output),
    run,
};

fn input() -> Value {
    object(
        &["from", "to"],
        json!({
            "from": date_schema("The first date"),
            "to": date_schema("The second date"),
            "zone": zone_schema("The zone of dates that do not say themselves, and the zone days are counted in. Default: UTC, and days as in the zone of `from`."),
            "largest": { "enum": ["years", "months", "weeks", "days", "hours", "minutes", "seconds"], "description": "The largest unit of `duration`. Default: years." },
            "ambiguous": ambiguous_schema(),
        }),
    )
}

fn output() -> Value {
    let text = |description: &str| json!({ "type": "string", "description": description });
    object(
        &["duration", "words", "calendarDays", "totalSeconds"],
        json!({
            "duration": text("The time between them as ISO 8601."),
            "words": text("The same in words."),
            "calendarDays": { "type": "integer", "description": "How often the date changes in between." },
            "totalSeconds": text("The time that really passes, in seconds, as a decimal."),
            "note": text("What was doubtful about the dates, and how they were taken."),
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    from: String,
    to: String,
    zone: Option<String>,
    #[serde(default)]
    largest: Largest,
    #[serde(default)]
    ambiguous: Ambiguous,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Largest {
    #[default]
    Years,
    Months,
    Weeks,
    Days,
    Hours,
    Minutes,
    Seconds,
}

impl From<Largest> for Unit {
    fn from(largest: Largest) -> Unit {
        match largest {
            Largest::Years => Unit::Year,
            Largest::Months => Unit::Month,
            Largest::Weeks => Unit::Week,
            Largest::Days => Unit::Day,
            Largest::Hours => Unit::Hour,
            Largest::Minutes => Unit::Minute,
            Largest::Seconds => Unit::Second,
        }
    }
}

fn run(value: Value, budget: &mut Budget<'_>) -> Result<Output, Failure> {
    let Arguments {
        from,
        to,
        zone: name,
        largest,
        ambiguous,
    } = arguments(value)?;
    budget.steps(20_000)?;
    let fallback = name.as_deref().map(zone).transpose()?;
    let first = read(&from, fallback.as_ref(), ambiguous)?;
    let second = read(&to, fallback.as_ref(), ambiguous)?;
    // Days are those of one place.
    let place = fallback.unwrap_or_else(|| first.zoned.time_zone().clone());
    let (a, b) = (
        first.zoned.with_time_zone(place.clone()),
        second.zoned.with_time_zone(place),
    );
    let failed = |_| out_of_range(&format!("{from} to {to}"));
    let span = a
        .until(ZonedDifference::new(&b).largest(largest.into()))
        .map_err(failed)?;
    let days = a
        .date()
        .until(DateDifference::new(b.date()).largest(Unit::Day))
        .map_err(failed)?;
    let nanoseconds = b.timestamp().as_nanosecond() - a.timestamp().as_nanosecond();
    let seconds = num_rational::BigRational::new(nanoseconds.into(), 1_000_000_000.into());

    let words = WORDS.span_to_string(&span);
    let mut said = Map::new();
    let mut say = |name: &str, value: Value| said.insert(name.to_owned(), value);
    say("duration", span.to_string().into());
    say("words", words.clone().into());
    say("calendarDays", days.get_days().into());
    say("totalSeconds", exact::write(&seconds).text.into());
    let notes: Vec<String> = first.note.into_iter().chain(second.note).collect();
    let mut text = words;
    if !notes.is_empty() {
        let notes = notes.join("; ");
        text = format!("{text}\nnote: {notes}");
        say("note", notes.into());
    }
    Ok(Output::text(text).with_structured(said.into()))
}
