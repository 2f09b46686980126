//! Cron expressions on the clocks of a place. The zones are those that come with Ambit, so the
//! same trigger fires at the same instants on every machine.
//!
//! Where clocks are put forward, a time that is left out fires as much later as the clocks were
//! moved: 02:30 becomes 03:30, and if that fires anyway it fires once. Where clocks are put back, a time that
//! comes twice fires the first time only, unless the expression fires every hour: then it means
//! each of them.

use std::sync::LazyLock;

use ambit_core::suggest::{did_you_mean, suggest};
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};

use super::cron::Cron;

static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// How often clocks change before a cron expression fires at most: twice a year in nine years,
/// and a few for those who changed their minds.
const MOST_SEGMENTS: usize = 64;

/// The zone of this name, or what it may have meant.
pub(super) fn zone(name: &str) -> Result<TimeZone, String> {
    ZONES.get(name).map_err(|_| {
        let known: Vec<_> = ZONES.available().map(|it| it.as_str().to_owned()).collect();
        // People know the city better than the region.
        let wanted = name.replace(' ', "_");
        let city = |it: &str| it.rsplit('/').next().unwrap_or(it).to_owned();
        let mut near = suggest(&wanted, known.iter().map(String::as_str));
        let same_city = known
            .iter()
            .filter(|it| city(it).eq_ignore_ascii_case(&city(&wanted)));
        near.splice(0..0, same_city.cloned());
        near.dedup();
        near.truncate(3);
        let hint = did_you_mean(&near).unwrap_or_else(|| {
            "names are like `Europe/Berlin`, `America/New_York` or `UTC`".to_owned()
        });
        format!("`{name}` is not a time zone; {hint}")
    })
}

/// A span of time in which a zone's clocks are not changed.
struct Segment {
    begin: Timestamp,
    end: Timestamp,
    /// How far the clocks are from UTC, and how far they were before.
    offset: Offset,
    before: Offset,
}

impl Segment {
    fn at(zone: &TimeZone, instant: Timestamp) -> Self {
        let just_after = instant.saturating_add(SignedDuration::from_nanos(1));
        let begun = just_after.ok().and_then(|it| zone.preceding(it).next());
        let begin = begun.map_or(Timestamp::MIN, |it| it.timestamp());
        let just_before = begin.saturating_sub(SignedDuration::from_nanos(1));
        let ends = zone.following(instant).next();
        Segment {
            begin,
            end: ends.map_or(Timestamp::MAX, |it| it.timestamp()),
            offset: zone.to_offset(instant),
            before: zone.to_offset(just_before.unwrap_or(begin)),
        }
    }

    /// The first instant of this segment that fits, from this one on.
    fn next(&self, cron: &Cron, from: Timestamp) -> Option<Timestamp> {
        let regular = || {
            let mut local = self.offset.to_datetime(from);
            if self.offset < self.before && !cron.is_every_hour() {
                // What the clocks have shown already.
                local = local.max(self.before.to_datetime(self.begin));
            }
            self.offset.to_timestamp(cron.next(local)?).ok()
        };
        let left_out = || {
            let found = cron.next(self.before.to_datetime(from))?;
            let is_left_out = found < self.offset.to_datetime(self.begin);
            self.before.to_timestamp(found).ok().filter(|_| is_left_out)
        };
        let left_out = (self.offset > self.before).then(left_out).flatten();
        let earliest = regular().into_iter().chain(left_out).min();
        earliest.filter(|it| *it < self.end)
    }
}

/// The first instant after this one.
pub(super) fn next_after(cron: &Cron, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    let mut from = after.checked_add(SignedDuration::from_nanos(1)).ok()?;
    for _ in 0..MOST_SEGMENTS {
        let segment = Segment::at(zone, from);
        if let Some(found) = segment.next(cron, from) {
            return Some(found);
        }
        if segment.end == Timestamp::MAX {
            return None;
        }
        from = segment.end;
    }
    None
}

#[cfg(test)]
mod tests {
    use jiff::civil::DateTime;

    use super::*;

    fn instants(
        cron: &str,
        zone_name: &str,
        from: &str,
        to: &str,
    ) -> impl Iterator<Item = Timestamp> {
        let (cron, zone): (Cron, _) = (cron.parse().unwrap(), zone(zone_name).unwrap());
        let (mut at, to): (Timestamp, Timestamp) = (from.parse().unwrap(), to.parse().unwrap());
        // The first instant counts.
        at -= SignedDuration::from_nanos(1);
        std::iter::from_fn(move || {
            at = next_after(&cron, &zone, at)?;
            (at < to).then_some(at)
        })
    }

    #[test]
    fn clocks_that_change() {
        for (cron, zone, day, expected) in [
            // 02:00 to 03:00 is left out.
            ("30 2 * * *", "Europe/Berlin", "2026-03-29", "01:30"),
            ("0 3 * * *", "Europe/Berlin", "2026-03-29", "01:00"),
            ("0 2,3 * * *", "Europe/Berlin", "2026-03-29", "01:00"),
            (
                "*/30 1-3 * * *",
                "Europe/Berlin",
                "2026-03-29",
                "00:00 00:30 01:00 01:30",
            ),
            // 02:00 to 03:00 comes twice.
            ("30 2 * * *", "Europe/Berlin", "2026-10-25", "00:30"),
            (
                "30 * 25 10 *",
                "Europe/Berlin",
                "2026-10-25",
                "00:30 01:30 02:30 03:30",
            ),
            ("30 1-3 * * *", "Europe/Berlin", "2026-10-25", "00:30 02:30"),
            // Half an hour, and the other way round.
            ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03", "15:45"),
            ("45 1 * * *", "Australia/Lord_Howe", "2026-04-04", "14:45"),
            // A day that never was.
            ("0 9 * * *", "Pacific/Apia", "2011-12-29", "19:00"),
            ("0 9 * * *", "Pacific/Apia", "2011-12-30", "19:00"),
            ("0 9 30 12 *", "Pacific/Apia", "2011-12-30", "19:00"),
            ("0 9 * * *", "UTC", "2026-03-29", "09:00"),
        ] {
            let (from, to) = (format!("{day}T00:00Z"), "2100-01-01T00:00Z");
            let found: Vec<_> = instants(cron, zone, &from, to)
                .take(expected.split(' ').count())
                .map(|it| it.strftime("%H:%M").to_string())
                .collect();
            assert_eq!(found.join(" "), expected, "{cron} in {zone} on {day}");
        }
    }

    /// An expression of `*`, numbers and lists only, read without the parser.
    struct Naive(Vec<Option<Vec<i8>>>);

    impl Naive {
        fn read(expression: &str) -> Self {
            let list = |it: &str| it.split(',').map(|it| it.parse().unwrap()).collect();
            let field = |it: &str| (it != "*").then(|| list(it));
            Naive(expression.split(' ').map(field).collect())
        }

        fn fits(&self, local: DateTime) -> bool {
            let weekday = local.weekday().to_sunday_zero_offset();
            let values = [
                local.minute(),
                local.hour(),
                local.day(),
                local.month(),
                weekday,
            ];
            let mut fields = self.0.iter().zip(values);
            fields.all(|(field, value)| field.as_ref().is_none_or(|it| it.contains(&value)))
        }
    }

    /// When each fires, found out by looking at the clock minute after minute.
    fn watch(
        of: &[Naive],
        zone: &TimeZone,
        begin: Timestamp,
        end: Timestamp,
    ) -> Vec<Vec<Timestamp>> {
        let mut fired = vec![Vec::new(); of.len()];
        let mut before = zone.to_offset(begin);
        let (mut moved_at, mut moved_by) = (begin, SignedDuration::ZERO);
        let mut now = begin;
        while now < end {
            let offset = zone.to_offset(now);
            if offset != before {
                (moved_at, moved_by) = (now, offset.duration_since(before));
                before = offset;
            }
            let local = offset.to_datetime(now);
            let since = now.duration_since(moved_at);
            let again = since < -moved_by;
            let left_out = (since < moved_by).then(|| local - moved_by);
            for (naive, fired) in of.iter().zip(&mut fired) {
                let every_hour = naive.0[1].is_none();
                let regular = naive.fits(local) && (every_hour || !again);
                if regular || left_out.is_some_and(|it| naive.fits(it)) {
                    fired.push(now);
                }
            }
            now += SignedDuration::from_mins(1);
        }
        fired
    }

    #[track_caller]
    fn check(zone_name: &str, (from, to): (&str, &str), expressions: &[&str]) {
        let (begin, end) = (from.parse().unwrap(), to.parse().unwrap());
        let naive: Vec<_> = expressions.iter().map(|it| Naive::read(it)).collect();
        let expected = watch(&naive, &zone(zone_name).unwrap(), begin, end);
        for (expression, expected) in expressions.iter().zip(expected) {
            let found: Vec<_> = instants(expression, zone_name, from, to).collect();
            assert_eq!(found, expected, "{expression} in {zone_name}");
        }
    }

    #[test]
    fn a_year_fires_at_exactly_the_expected_instants() {
        let year = ("2026-01-01T00:00Z", "2027-01-01T00:00Z");
        for zone in ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"] {
            check(
                zone,
                year,
                &["30 2 * * *", "15,45 1,2 * * *", "5,35 * * * *"],
            );
        }
    }

    #[test]
    fn every_kind_of_expression_survives_a_change_of_clocks() {
        let expressions = [
            "* * * * *",
            "0,15,30,45 * * * *",
            "0 0,1,2,3 * * *",
            "15 1,2 * 3,4,10,11 0",
            "0 12 29,30,31 * *",
            "59 23 * * *",
        ];
        for (zone, from, to) in [
            ("Europe/Berlin", "2026-03-27T00:00Z", "2026-03-31T00:00Z"),
            ("Europe/Berlin", "2026-10-23T00:00Z", "2026-10-27T00:00Z"),
            ("America/New_York", "2026-10-31T00:00Z", "2026-11-03T00:00Z"),
            (
                "Australia/Lord_Howe",
                "2026-04-03T00:00Z",
                "2026-04-06T00:00Z",
            ),
            (
                "Australia/Lord_Howe",
                "2026-10-02T00:00Z",
                "2026-10-05T00:00Z",
            ),
            // A day that never was; clocks that change for a month; those that do at midnight.
            ("Pacific/Apia", "2011-12-28T00:00Z", "2012-01-02T00:00Z"),
            (
                "Africa/Casablanca",
                "2026-02-14T00:00Z",
                "2026-02-16T00:00Z",
            ),
            (
                "Africa/Casablanca",
                "2026-03-21T00:00Z",
                "2026-03-23T00:00Z",
            ),
            ("Asia/Beirut", "2026-03-28T00:00Z", "2026-03-30T00:00Z"),
            ("Asia/Beirut", "2026-10-24T00:00Z", "2026-10-26T00:00Z"),
        ] {
            check(zone, (from, to), &expressions);
        }
    }

    #[test]
    fn an_unknown_zone_is_refused_with_near_ones() {
        for (name, said) in [
            ("Europe/Berln", "did you mean `Europe/Berlin`"),
            ("Berlin", "did you mean `Europe/Berlin`"),
            ("new york", "`America/New_York`"),
            ("Qqqqq/Xxxxx", "names are like `Europe/Berlin`"),
            ("../../etc/passwd", "is not a time zone"),
            ("", "is not a time zone"),
        ] {
            let error = zone(name).unwrap_err();
            assert!(error.contains(said), "{name}: {error}");
        }
        zone("europe/berlin").unwrap();
    }
}
