//! What starts a trigger: a time by the clock, a span of time, a change of files, or somebody's
//! request. The first two have instants at which they are due; the others happen.

use std::fmt;
use std::path::{Component, Path};

use ambit_core::observation::Failure;
use globset::{GlobBuilder, GlobMatcher};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::cron::Cron;
use super::zone;

const SHORTEST: SignedDuration = SignedDuration::from_mins(1);
const LONGEST: SignedDuration = SignedDuration::from_hours(366 * 24);

/// When a trigger starts.
#[derive(Clone, Debug)]
pub enum Schedule {
    /// By the clocks of a place.
    Cron {
        /// As it was written.
        written: String,
        /// What that means.
        cron: Cron,
        /// Whose clocks.
        zone: TimeZone,
        /// The zone's name.
        timezone: String,
    },
    /// Again and again, counted from when it was made.
    Every(SignedDuration),
    /// When files of the workspace change.
    Watch {
        /// As it was written.
        written: String,
        /// Which files.
        glob: GlobMatcher,
    },
    /// When somebody who knows its token asks over HTTP.
    Webhook,
}

impl Schedule {
    /// From a cron expression and the name of a zone.
    pub(super) fn cron(written: &str, timezone: &str) -> Result<Self, Failure> {
        let written = written.trim().to_owned();
        let cron = written.parse().map_err(|error| {
            Failure::refused(format!("`{written}` is no cron expression: {error}"))
        })?;
        Ok(Schedule::Cron {
            cron,
            zone: zone::zone(timezone).map_err(Failure::refused)?,
            written,
            timezone: timezone.to_owned(),
        })
    }

    /// From a span of time.
    pub(super) fn every(written: &str) -> Result<Self, Failure> {
        let hint = "write it as `15m`, `2h 30m` or `24h`, from a minute to 366 days";
        let every: SignedDuration = written
            .trim()
            .parse()
            .map_err(|_| Failure::refused(format!("`{written}` is no span of time; {hint}")))?;
        match (SHORTEST..=LONGEST).contains(&every) {
            true => Ok(Schedule::Every(SignedDuration::from_secs(every.as_secs()))),
            false => Err(Failure::refused(format!(
                "`{written}` is too short or too long; {hint}"
            ))),
        }
    }

    /// From a pattern of paths.
    pub(super) fn watch(written: &str) -> Result<Self, Failure> {
        let leaves = Path::new(written)
            .components()
            .any(|it| !matches!(it, Component::Normal(_) | Component::CurDir));
        if leaves || written.is_empty() {
            return Err(Failure::refused(format!(
                "`{written}` leads out of the workspace; give a pattern inside it, such as `docs/**/*.md`"
            )));
        }
        let glob = GlobBuilder::new(written.trim_start_matches("./"))
            .literal_separator(true)
            .build()
            .map_err(|error| {
                Failure::refused(format!("`{written}` is no pattern: {}", error.kind()))
            })?;
        Ok(Schedule::Watch {
            written: written.to_owned(),
            glob: glob.compile_matcher(),
        })
    }

    /// How it is kept: its kind, what was written, and the zone.
    pub(super) fn kept(&self) -> (&'static str, String, Option<&str>) {
        match self {
            Schedule::Cron {
                written, timezone, ..
            } => ("cron", written.clone(), Some(timezone)),
            Schedule::Every(every) => ("every", format!("{every:#}"), None),
            Schedule::Watch { written, .. } => ("watch", written.clone(), None),
            Schedule::Webhook => ("webhook", String::new(), None),
        }
    }

    /// From how it is kept.
    pub(super) fn read(kind: &str, written: &str, timezone: Option<&str>) -> Result<Self, Failure> {
        match kind {
            "cron" => Schedule::cron(written, timezone.unwrap_or("UTC")),
            "every" => Schedule::every(written),
            "watch" => Schedule::watch(written),
            "webhook" => Ok(Schedule::Webhook),
            _ => Err(Failure::refused(format!("`{kind}` is no kind of trigger"))),
        }
    }

    /// The first instant after this one at which it is due. `anchor` is where spans are counted
    /// from.
    pub fn next_after(&self, anchor: Timestamp, after: Timestamp) -> Option<Timestamp> {
        match self {
            Schedule::Cron { cron, zone, .. } => zone::next_after(cron, zone, after),
            Schedule::Every(every) => {
                let every = every.as_secs();
                let gone = after.duration_since(anchor).as_nanos();
                let passed = gone.div_euclid(i128::from(every) * 1_000_000_000);
                let next = i64::try_from(passed).ok()?.max(-1).checked_add(1)?;
                // The anchor itself is no due time.
                let next = next.max(1).checked_mul(every)?;
                anchor.checked_add(SignedDuration::from_secs(next)).ok()
            }
            Schedule::Watch { .. } | Schedule::Webhook => None,
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::Cron {
                written, timezone, ..
            } => write!(f, "cron `{written}` in {timezone}"),
            Schedule::Every(every) => write!(f, "every {every:#}"),
            Schedule::Watch { written, .. } => write!(f, "when `{written}` changes"),
            Schedule::Webhook => f.write_str("webhook"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_counted_from_their_anchor() {
        let anchor: Timestamp = "2026-01-01T00:00:30Z".parse().unwrap();
        for (every, after, next) in [
            ("15m", "2026-01-01T00:00:30Z", "2026-01-01T00:15:30Z"),
            ("15m", "2026-01-01T00:15:29.9Z", "2026-01-01T00:15:30Z"),
            ("15m", "2026-01-01T00:15:30Z", "2026-01-01T00:30:30Z"),
            ("1h 30m", "2026-01-02T00:00:00Z", "2026-01-02T00:00:30Z"),
            ("PT24H", "2025-01-01T00:00:00Z", "2026-01-02T00:00:30Z"),
        ] {
            let schedule = Schedule::every(every).unwrap();
            let (kind, kept, zone) = schedule.kept();
            let schedule = Schedule::read(kind, &kept, zone).unwrap();
            let found = schedule.next_after(anchor, after.parse().unwrap());
            assert_eq!(found, Some(next.parse().unwrap()), "{every} after {after}");
        }
    }

    #[test]
    fn what_cannot_be_read_says_what_can() {
        for (made, said) in [
            (Schedule::every("soon"), "`soon` is no span of time"),
            (Schedule::every("59s"), "`59s` is too short or too long"),
            (Schedule::every("-1h"), "too short or too long"),
            (Schedule::every("9000h"), "too short or too long"),
            (Schedule::watch("/etc/*"), "leads out of the workspace"),
            (Schedule::watch("a/../../b"), "leads out of the workspace"),
            (Schedule::watch(""), "leads out of the workspace"),
            (Schedule::watch("a[b"), "`a[b` is no pattern"),
            (
                Schedule::cron("61 * * * *", "UTC"),
                "`61 * * * *` is no cron expression: `61` is no minute",
            ),
            (
                Schedule::cron("* * * * *", "Mars/Olympus"),
                "`Mars/Olympus` is not a time zone",
            ),
        ] {
            let message = made.unwrap_err().message;
            assert!(message.contains(said), "{message}");
        }
    }
}
