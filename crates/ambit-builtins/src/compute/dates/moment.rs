//! A moment as somebody wrote it: which instant that is, in which zone, and whether the clocks
//! there make it doubtful.

use std::sync::LazyLock;

use ambit_core::observation::Failure;
use ambit_core::suggest::{did_you_mean, suggest};
use jiff::civil::{DateTime, Time};
use jiff::fmt::rfc2822;
use jiff::fmt::temporal::{DateTimeParser, Pieces, PiecesOffset};
use jiff::tz::{AmbiguousOffset, Disambiguation, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Zoned};
use serde::Deserialize;

/// The zones this program was built with, never those of the machine.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);
static ISO: DateTimeParser = DateTimeParser::new();
static MAIL: rfc2822::DateTimeParser = rfc2822::DateTimeParser::new();

/// What a local time means that does not exist, or exists twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ambiguous {
    #[default]
    Compatible,
    Earlier,
    Later,
    Reject,
}

/// A moment that was read.
#[derive(Debug)]
pub(super) struct Moment {
    pub(super) zoned: Zoned,
    /// What has to be said about how it was read.
    pub(super) note: Option<String>,
}

/// The zone of this name, or offset such as `+02:00`.
pub(super) fn zone(name: &str) -> Result<TimeZone, Failure> {
    let offset = name.starts_with(['+', '-']);
    let found = if offset {
        ISO.parse_time_zone_with(&ZONES, name)
    } else {
        ZONES.get(name)
    };
    found.map_err(|_| {
        let names: Vec<String> = ZONES.available().map(|it| it.to_string()).collect();
        let near = suggest(name, names.iter().map(String::as_str));
        let hint = did_you_mean(&near).unwrap_or_else(|| {
            "use a name such as `Europe/Berlin` or an offset such as `+02:00`".to_owned()
        });
        Failure::refused(format!("`{name}` is not a time zone; {hint}"))
    })
}

/// Reads a date. What it leaves open about its zone is answered by `fallback`, and that by UTC.
pub(super) fn read(
    text: &str,
    fallback: Option<&TimeZone>,
    ambiguous: Ambiguous,
) -> Result<Moment, Failure> {
    let text = text.trim();
    let plain = |zoned| Moment { zoned, note: None };
    if let Some(seconds) = text.strip_prefix('@') {
        let zone = fallback.cloned().unwrap_or(TimeZone::UTC);
        return Ok(plain(unix(seconds)?.to_zoned(zone)));
    }
    let Ok(pieces) = ISO.parse_pieces(text) else {
        let zoned = MAIL.parse_zoned(text).map_err(|_| unreadable(text))?;
        return Ok(plain(match fallback {
            Some(zone) => zoned.with_time_zone(zone.clone()),
            None => zoned,
        }));
    };
    let local = DateTime::from_parts(pieces.date(), pieces.time().unwrap_or(Time::midnight()));
    let named = match pieces.time_zone_annotation() {
        Some(it) => Some(
            it.to_time_zone_with(&ZONES)
                .map_err(|_| unknown_annotation(text))?,
        ),
        None => None,
    };
    match (named, offset_zone(&pieces)) {
        (Some(_), Some(_)) => {
            let zoned = ISO.parse_zoned_with(&ZONES, text).map_err(|error| {
                Failure::refused(format!("`{text}` contradicts itself: {error}"))
            })?;
            Ok(plain(zoned))
        }
        (Some(zone), None) => in_zone(local, zone, ambiguous),
        (None, Some(offset)) => {
            let zoned = local.to_zoned(offset).map_err(|_| out_of_range(text))?;
            Ok(plain(match fallback {
                Some(zone) => zoned.with_time_zone(zone.clone()),
                None => zoned,
            }))
        }
        (None, None) => in_zone(local, fallback.cloned().unwrap_or(TimeZone::UTC), ambiguous),
    }
}

fn offset_zone(pieces: &Pieces<'_>) -> Option<TimeZone> {
    match pieces.offset()? {
        PiecesOffset::Zulu => Some(TimeZone::UTC),
        other => Some(other.to_numeric_offset().to_time_zone()),
    }
}

fn in_zone(local: DateTime, zone: TimeZone, ambiguous: Ambiguous) -> Result<Moment, Failure> {
    let name = zone.iana_name().unwrap_or("that zone").to_owned();
    let found = zone.into_ambiguous_zoned(local);
    let doubt = match found.offset() {
        AmbiguousOffset::Unambiguous { .. } => None,
        AmbiguousOffset::Gap { .. } => Some(format!(
            "{local} does not exist in {name}: the clocks go forward over it"
        )),
        AmbiguousOffset::Fold { .. } => Some(format!(
            "{local} happens twice in {name}: the clocks go back over it"
        )),
    };
    let option = match ambiguous {
        Ambiguous::Compatible => Disambiguation::Compatible,
        Ambiguous::Earlier => Disambiguation::Earlier,
        Ambiguous::Later => Disambiguation::Later,
        Ambiguous::Reject => {
            if let Some(doubt) = doubt {
                return Err(Failure::refused(format!("{doubt}; give an offset")));
            }
            Disambiguation::Reject
        }
    };
    let zoned = found
        .disambiguate(option)
        .map_err(|_| out_of_range(&local.to_string()))?;
    let note = doubt.map(|it| {
        let taken = zoned.datetime();
        let offset = zoned.offset();
        format!("{it}; taken as {taken} at offset {offset}")
    });
    Ok(Moment { zoned, note })
}

fn unix(seconds: &str) -> Result<Timestamp, Failure> {
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let digits = fraction.len() <= 9 && fraction.bytes().all(|it| it.is_ascii_digit());
    let nanoseconds: Option<i32> = format!("{fraction:0<9}").parse().ok();
    let sign = if whole.starts_with('-') { -1 } else { 1 };
    match (whole.parse().ok(), nanoseconds.filter(|_| digits)) {
        (Some(whole), Some(nanoseconds)) => {
            Timestamp::new(whole, nanoseconds * sign).map_err(|_| out_of_range(seconds))
        }
        _ => Err(unreadable(&format!("@{seconds}"))),
    }
}

fn unreadable(text: &str) -> Failure {
    Failure::refused(format!(
        "`{text}` cannot be read as a date: write it as `2026-03-29`, `2026-03-29T14:30:00+02:00`, `2026-03-29T14:30[Europe/Berlin]` or `@1774787400`"
    ))
}

fn unknown_annotation(text: &str) -> Failure {
    let name = text.split_once('[').map_or("", |it| it.1);
    let name = name.split(']').next().unwrap_or("").trim_start_matches('!');
    zone(name).err().unwrap_or_else(|| unreadable(text))
}

pub(super) fn out_of_range(what: &str) -> Failure {
    Failure::refused(format!("`{what}` leads outside the years -9999 to 9999"))
}
