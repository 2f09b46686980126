//! Cron expressions over the calendar, without any time zone: which minutes of which days they
//! mean, and which comes next.
//!
//! Five fields: minute, hour, day of the month, month, day of the week. Each is `*`, a number, a
//! range `a-b`, either with a step `/n`, or several of these with commas; months and weekdays have
//! names, and Sunday is 0 or 7. As cron has it, where both kinds of day are restricted either is
//! enough. `@hourly`, `@daily`, `@weekly`, `@monthly` and `@yearly` stand for what they say.

use jiff::ToSpan as _;
use jiff::civil::{Date, DateTime, Time};
use thiserror::Error;

/// A day that comes at all comes within so many: 29 February can be eight years away.
const FARTHEST: u32 = 9 * 366;

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A parsed expression: a bit for each value that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether either kind of day is enough.
    either_day: bool,
    every_hour: bool,
}

/// What is wrong with an expression.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CronError {
    /// Not five fields.
    #[error(
        "a cron expression has five fields (minute, hour, day of the month, month, day of the week), not {0}: `30 9 * * mon-fri` is half past nine on weekdays"
    )]
    Fields(usize),
    /// Starts with `@` and is none of those known.
    #[error(
        "`{0}` is not known; there are `@hourly`, `@daily`, `@weekly`, `@monthly` and `@yearly`"
    )]
    Nickname(String),
    /// A field that cannot be read.
    #[error(
        "`{part}` is no {field} ({low} to {high}); write a number, `*`, a range `a-b` or a step `*/n`"
    )]
    Value {
        /// What was written.
        part: String,
        /// Which field.
        field: &'static str,
        /// The lowest value.
        low: u8,
        /// The highest.
        high: u8,
    },
    /// No day fits.
    #[error("there is no such day: it would never fire")]
    Never,
}

struct Field {
    name: &'static str,
    low: u8,
    high: u8,
    names: &'static [&'static str],
}

impl Field {
    fn parse(&self, text: &str) -> Result<u64, CronError> {
        text.split(',')
            .map(|part| self.part(part).ok_or_else(|| self.wrong(part)))
            .try_fold(0, |all, bits| Ok(all | bits?))
    }

    /// The bits of one part between commas.
    fn part(&self, part: &str) -> Option<u64> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, step.parse::<u8>().ok().filter(|it| *it > 0)?),
            None => (part, 1),
        };
        let (from, to) = match (range, range.split_once('-')) {
            ("*", _) => (self.low, self.high),
            (_, Some((from, to))) => (self.value(from)?, self.value(to)?),
            // `5/15` is from 5 on.
            (_, None) if part.contains('/') => (self.value(range)?, self.high),
            (_, None) => (self.value(range)?, self.value(range)?),
        };
        (from <= to).then(|| {
            (from..=to)
                .step_by(usize::from(step))
                .fold(0, |bits, it| bits | 1 << it)
        })
    }

    fn value(&self, text: &str) -> Option<u8> {
        let named = self
            .names
            .iter()
            .position(|it| text.eq_ignore_ascii_case(it));
        let value = match named {
            Some(at) => u8::try_from(at).ok()? + self.low,
            // Not `parse` alone: it would take `+5`.
            None if text.bytes().all(|it| it.is_ascii_digit()) => text.parse().ok()?,
            None => return None,
        };
        (self.low..=self.high).contains(&value).then_some(value)
    }

    fn wrong(&self, part: &str) -> CronError {
        CronError::Value {
            part: part.to_owned(),
            field: self.name,
            low: self.low,
            high: self.high,
        }
    }
}

const MINUTE: Field = Field {
    name: "minute",
    low: 0,
    high: 59,
    names: &[],
};
const HOUR: Field = Field {
    name: "hour",
    low: 0,
    high: 23,
    names: &[],
};
const DAY: Field = Field {
    name: "day of the month",
    low: 1,
    high: 31,
    names: &[],
};
const MONTH: Field = Field {
    name: "month",
    low: 1,
    high: 12,
    names: &MONTHS,
};
const WEEKDAY: Field = Field {
    name: "day of the week",
    low: 0,
    high: 7,
    names: &WEEKDAYS,
};

impl std::str::FromStr for Cron {
    type Err = CronError;

    fn from_str(text: &str) -> Result<Self, CronError> {
        let text = match text.trim() {
            "@hourly" => "0 * * * *",
            "@daily" | "@midnight" => "0 0 * * *",
            "@weekly" => "0 0 * * 0",
            "@monthly" => "0 0 1 * *",
            "@yearly" | "@annually" => "0 0 1 1 *",
            text if text.starts_with('@') => return Err(CronError::Nickname(text.to_owned())),
            text => text,
        };
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields.as_slice() else {
            return Err(CronError::Fields(fields.len()));
        };
        let weekdays = WEEKDAY.parse(weekday)?;
        let cron = Cron {
            minutes: MINUTE.parse(minute)?,
            hours: HOUR.parse(hour)?,
            days: DAY.parse(day)?,
            months: MONTH.parse(month)?,
            // 7 is Sunday, too.
            weekdays: (weekdays | weekdays >> 7) & 0x7f,
            either_day: !day.starts_with('*') && !weekday.starts_with('*'),
            every_hour: *hour == "*",
        };
        // A leap year begins the search, so that every date comes up.
        match cron.next(DateTime::constant(2000, 1, 1, 0, 0, 0, 0)) {
            Some(_) => Ok(cron),
            None => Err(CronError::Never),
        }
    }
}

impl Cron {
    /// Whether it fires in every hour of its days: it means spans of time then, not times of day.
    pub(super) fn is_every_hour(&self) -> bool {
        self.every_hour
    }

    /// The first minute that fits, from this one on.
    pub(super) fn next(&self, from: DateTime) -> Option<DateTime> {
        let mut day = from.date();
        let mut earliest = from.time();
        for _ in 0..FARTHEST {
            if self.fits(day)
                && let Some(time) = self.time(earliest)
            {
                return Some(day.to_datetime(time));
            }
            day = day.checked_add(1.day()).ok()?;
            earliest = Time::MIN;
        }
        None
    }

    fn fits(&self, day: Date) -> bool {
        let has = |bits: u64, value: i8| bits >> value & 1 == 1;
        let by_date = has(self.days, day.day());
        let by_weekday = has(self.weekdays, day.weekday().to_sunday_zero_offset());
        has(self.months, day.month())
            && match self.either_day {
                true => by_date || by_weekday,
                false => by_date && by_weekday,
            }
    }

    /// The first time of a day that fits, from this one on.
    fn time(&self, from: Time) -> Option<Time> {
        let first = |bits: u64, from: u32| {
            let left = bits.checked_shr(from)?.checked_shl(from)?;
            (left != 0).then(|| left.trailing_zeros())
        };
        let made = |hour: u32, minute: u32| {
            Time::new(i8::try_from(hour).ok()?, i8::try_from(minute).ok()?, 0, 0).ok()
        };
        let (hour, minute) = (
            u32::try_from(from.hour()).ok()?,
            u32::try_from(from.minute()).ok()?,
        );
        // A minute that has begun is over.
        let begun = u32::from(from.second() > 0 || from.subsec_nanosecond() > 0);
        let same_hour = (self.hours >> hour & 1 == 1)
            .then(|| first(self.minutes, minute + begun))
            .flatten();
        match same_hour {
            Some(minute) => made(hour, minute),
            None => made(first(self.hours, hour + 1)?, first(self.minutes, 0)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_next() {
        for (cron, from, next) in [
            ("* * * * *", "2026-01-01T00:00", "2026-01-01T00:00"),
            ("* * * * *", "2026-01-01T00:00:01", "2026-01-01T00:01"),
            ("*/15 * * * *", "2026-01-01T00:46", "2026-01-01T01:00"),
            ("5/20 * * * *", "2026-01-01T00:26", "2026-01-01T00:45"),
            ("0 9-17/4 * * *", "2026-01-01T09:01", "2026-01-01T13:00"),
            ("59 23 31 12 *", "2026-12-31T23:59:30", "2027-12-31T23:59"),
            ("30 9 * * mon-fri", "2026-01-02T10:00", "2026-01-05T09:30"),
            ("0 0 29 2 *", "2096-03-01T00:00", "2104-02-29T00:00"),
            ("0 0 13 * 5", "2026-01-01T00:00", "2026-01-02T00:00"),
            ("0 0 13 * 5", "2026-01-10T00:00", "2026-01-13T00:00"),
            ("0 0 */2 * 5", "2026-01-01T00:00", "2026-01-09T00:00"),
            ("0 0 * * 7", "2026-01-01T00:00", "2026-01-04T00:00"),
            ("0 0 * * SUN,Tue", "2026-01-05T00:00", "2026-01-06T00:00"),
            ("0 0 1 jan,JUL *", "2026-02-01T00:00", "2026-07-01T00:00"),
            ("  @weekly ", "2026-01-01T00:00", "2026-01-04T00:00"),
            ("@yearly", "2026-01-01T00:01", "2027-01-01T00:00"),
        ] {
            let parsed: Cron = cron.parse().unwrap();
            let expected: DateTime = next.parse().unwrap();
            assert_eq!(parsed.next(from.parse().unwrap()), Some(expected), "{cron}");
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for (cron, said) in [
            (
                "",
                "has five fields (minute, hour, day of the month, month, day of the week), not 0",
            ),
            ("* * * *", "not 4"),
            ("0 0 9 * * *", "not 6"),
            ("60 * * * *", "`60` is no minute (0 to 59)"),
            ("* 24 * * *", "`24` is no hour (0 to 23)"),
            ("* * 0 * *", "`0` is no day of the month (1 to 31)"),
            ("* * * 13 *", "`13` is no month"),
            ("* * * * 8", "`8` is no day of the week (0 to 7)"),
            ("* * * * monday", "`monday` is no day of the week"),
            ("5-1 * * * *", "`5-1` is no minute"),
            ("*/0 * * * *", "`*/0` is no minute"),
            ("1,,2 * * * *", "`` is no minute"),
            ("+5 * * * *", "`+5` is no minute"),
            ("-5 * * * *", "`-5` is no minute"),
            ("99999 * * * *", "`99999` is no minute"),
            ("@often", "`@often` is not known"),
            ("0 0 31 2 *", "it would never fire"),
            ("0 0 30,31 feb *", "it would never fire"),
        ] {
            let error = cron.parse::<Cron>().unwrap_err().to_string();
            assert!(error.contains(said), "{cron}: {error}");
        }
    }
}
