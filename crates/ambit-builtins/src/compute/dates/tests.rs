//! Dates, across the changes of clocks.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::fixture::{structured, text};

#[track_caller]
fn check(tool: &str, cases: &[(Value, &str)]) {
    for (arguments, expected) in cases {
        assert_eq!(text(tool, arguments.clone()), *expected, "{arguments}");
    }
}

#[test]
fn dates_are_read_and_converted() {
    check(
        "date_convert",
        &[
            (
                json!({ "date": "2026-03-29" }),
                "2026-03-29T00:00:00+00:00[UTC] (Sunday)",
            ),
            (
                json!({ "date": "2026-07-01T12:00Z", "to": "America/New_York" }),
                "2026-07-01T08:00:00-04:00[America/New_York] (Wednesday)",
            ),
            (
                json!({ "date": "2026-07-01T12:00", "zone": "Asia/Tokyo", "to": "UTC" }),
                "2026-07-01T03:00:00+00:00[UTC] (Wednesday)",
            ),
            (
                json!({ "date": "2026-07-01T12:00+05:30" }),
                "2026-07-01T12:00:00+05:30[+05:30] (Wednesday)",
            ),
            (
                json!({ "date": "2026-07-01T12:00[Europe/Berlin]", "to": "+00:00" }),
                "2026-07-01T10:00:00+00:00[UTC] (Wednesday)",
            ),
            (
                json!({ "date": "Wed, 1 Jul 2026 12:00:00 +0200", "zone": "utc" }),
                "2026-07-01T10:00:00+00:00[UTC] (Wednesday)",
            ),
            (
                json!({ "date": "@0", "to": "Pacific/Kiritimati" }),
                "1969-12-31T13:20:00-10:40[Pacific/Kiritimati] (Wednesday)",
            ),
            (
                json!({ "date": "@-1.5" }),
                "1969-12-31T23:59:58.5+00:00[UTC] (Wednesday)",
            ),
        ],
    );
    let all = structured(
        "date_convert",
        json!({ "date": "2027-01-03T23:30:00.25[Europe/Paris]" }),
    );
    assert_eq!(
        all,
        json!({
            "datetime": "2027-01-03T23:30:00.25+01:00[Europe/Paris]",
            "date": "2027-01-03", "time": "23:30:00.25", "weekday": "Sunday",
            "zone": "Europe/Paris", "offset": "+01:00",
            "utc": "2027-01-03T22:30:00.25Z", "unix": 1_799_015_400,
            "isoWeek": "2026-W53", "dayOfYear": 3,
        })
    );
}

#[test]
fn times_the_clocks_skip_or_repeat_follow_the_policy() {
    let berlin = |date: &str, ambiguous: &str| {
        text(
            "date_convert",
            json!({ "date": date, "zone": "Europe/Berlin", "ambiguous": ambiguous }),
        )
    };
    let (skipped, repeated) = ("2026-03-29T02:30", "2026-10-25T02:30");
    let never =
        "2026-03-29T02:30:00 does not exist in Europe/Berlin: the clocks go forward over it";
    let twice = "2026-10-25T02:30:00 happens twice in Europe/Berlin: the clocks go back over it";
    for (date, ambiguous, expected) in [
        (
            skipped,
            "compatible",
            format!(
                "2026-03-29T03:30:00+02:00[Europe/Berlin] (Sunday)\nnote: {never}; taken as 2026-03-29T03:30:00 at offset +02"
            ),
        ),
        (
            skipped,
            "earlier",
            format!(
                "2026-03-29T01:30:00+01:00[Europe/Berlin] (Sunday)\nnote: {never}; taken as 2026-03-29T01:30:00 at offset +01"
            ),
        ),
        (
            skipped,
            "later",
            format!(
                "2026-03-29T03:30:00+02:00[Europe/Berlin] (Sunday)\nnote: {never}; taken as 2026-03-29T03:30:00 at offset +02"
            ),
        ),
        (
            skipped,
            "reject",
            format!("refused: {never}; give an offset"),
        ),
        (
            repeated,
            "compatible",
            format!(
                "2026-10-25T02:30:00+02:00[Europe/Berlin] (Sunday)\nnote: {twice}; taken as 2026-10-25T02:30:00 at offset +02"
            ),
        ),
        (
            repeated,
            "later",
            format!(
                "2026-10-25T02:30:00+01:00[Europe/Berlin] (Sunday)\nnote: {twice}; taken as 2026-10-25T02:30:00 at offset +01"
            ),
        ),
        (
            repeated,
            "reject",
            format!("refused: {twice}; give an offset"),
        ),
        (
            "2026-10-25T02:30+01:00[Europe/Berlin]",
            "reject",
            "2026-10-25T02:30:00+01:00[Europe/Berlin] (Sunday)".to_owned(),
        ),
    ] {
        assert_eq!(berlin(date, ambiguous), expected, "{date} {ambiguous}");
    }
}

#[test]
fn calendar_units_keep_the_local_time_and_others_pass() {
    let add = |date: &str, duration: &str| json!({ "date": date, "duration": duration, "zone": "Europe/Berlin" });
    check(
        "date_add",
        &[
            (
                add("2026-01-31", "1 month"),
                "2026-02-28T00:00:00+01:00[Europe/Berlin] (Saturday)",
            ),
            (
                add("2024-02-29", "1 year"),
                "2025-02-28T00:00:00+01:00[Europe/Berlin] (Friday)",
            ),
            (
                add("2026-03-28T12:00", "1 day"),
                "2026-03-29T12:00:00+02:00[Europe/Berlin] (Sunday)",
            ),
            (
                add("2026-03-28T12:00", "24 hours"),
                "2026-03-29T13:00:00+02:00[Europe/Berlin] (Sunday)",
            ),
            (
                add("2026-03-28T02:30", "P1D"),
                "2026-03-29T03:30:00+02:00[Europe/Berlin] (Sunday)",
            ),
            (
                add("2026-10-24T02:30", "1d"),
                "2026-10-25T02:30:00+02:00[Europe/Berlin] (Sunday)",
            ),
            (
                add("2026-10-24T02:30", "25h"),
                "2026-10-25T02:30:00+01:00[Europe/Berlin] (Sunday)",
            ),
            (
                add("2026-03-10", "-90 days"),
                "2025-12-10T00:00:00+01:00[Europe/Berlin] (Wednesday)",
            ),
            (
                add("2026-03-10", "2 weeks ago"),
                "2026-02-24T00:00:00+01:00[Europe/Berlin] (Tuesday)",
            ),
            (
                add("9999-12-30", "2 months"),
                "refused: `9999-12-30 + 2 months` leads outside the years -9999 to 9999",
            ),
            (
                add("2026-03-10", "soon"),
                "refused: `soon` is not an amount of time: write it as `3 days 4 hours`, `-90m` or `P3DT4H`",
            ),
        ],
    );
}

#[test]
fn differences_count_in_one_place() {
    check(
        "date_difference",
        &[
            (
                json!({ "from": "2024-02-29", "to": "2026-03-01" }),
                "2 years 1 day",
            ),
            (
                json!({ "from": "2026-03-01", "to": "2026-02-01", "largest": "days" }),
                "28 days ago",
            ),
            (
                json!({ "from": "2026-03-28T12:00", "to": "2026-03-29T12:00", "zone": "Europe/Berlin" }),
                "1 day",
            ),
            (
                json!({ "from": "2026-03-28T12:00", "to": "2026-03-29T12:00", "zone": "Europe/Berlin", "largest": "hours" }),
                "23 hours",
            ),
            (
                json!({ "from": "2026-01-01T00:00Z", "to": "2026-01-01T00:00-05:00" }),
                "5 hours",
            ),
            (
                json!({ "from": "2026-01-01", "to": "2026-01-01" }),
                "0 seconds",
            ),
        ],
    );
    let all = structured(
        "date_difference",
        json!({ "from": "2026-01-01T23:59:59.5", "to": "2026-01-02" }),
    );
    assert_eq!(
        all,
        json!({ "duration": "PT0.5S", "words": "500 milliseconds", "calendarDays": 1, "totalSeconds": "0.5" })
    );
}

#[test]
fn what_cannot_be_read_says_what_can() {
    let unreadable = "cannot be read as a date: write it as `2026-03-29`, `2026-03-29T14:30:00+02:00`, `2026-03-29T14:30[Europe/Berlin]` or `@1774787400`";
    for (date, zone, expected) in [
        ("tomorrow", "UTC", format!("refused: `tomorrow` {unreadable}")),
        ("2026-02-30", "UTC", format!("refused: `2026-02-30` {unreadable}")),
        ("@1e9", "UTC", format!("refused: `@1e9` {unreadable}")),
        ("@99999999999999", "UTC", "refused: `99999999999999` leads outside the years -9999 to 9999".to_owned()),
        ("2026-01-01", "Berlin", "refused: `Berlin` is not a time zone; did you mean `Europe/Berlin`?".to_owned()),
        ("2026-01-01", "Mars", "refused: `Mars` is not a time zone; use a name such as `Europe/Berlin` or an offset such as `+02:00`".to_owned()),
        ("2026-01-01T00:00[Europe/Berln]", "UTC", "refused: `Europe/Berln` is not a time zone; did you mean `Europe/Berlin` or `Europe/Dublin` or `Europe/Jersey`?".to_owned()),
    ] {
        let found = text("date_convert", json!({ "date": date, "zone": zone }));
        assert_eq!(found, expected, "{date} {zone}");
    }
    let conflict = text(
        "date_convert",
        json!({ "date": "2026-07-01T12:00+01:00[Europe/Berlin]" }),
    );
    assert!(
        conflict
            .starts_with("refused: `2026-07-01T12:00+01:00[Europe/Berlin]` contradicts itself: "),
        "{conflict}"
    );
}

proptest! {
    #[test]
    fn what_was_added_is_the_difference(second in -30_000_000_000i64..100_000_000_000, seconds in -10_000_000_000i64..10_000_000_000, zone in proptest::sample::select(vec!["UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns"])) {
        let from = format!("@{second}");
        let sign = if seconds < 0 { "-" } else { "" };
        let later = structured("date_add", json!({ "date": from, "zone": zone, "duration": format!("{sign}PT{}S", seconds.abs()) }));
        prop_assert_eq!(&later["unix"], second + seconds);
        let between = structured("date_difference", json!({ "from": from, "to": later["datetime"], "zone": zone }));
        prop_assert_eq!(&between["totalSeconds"], &Value::from(seconds.to_string()));
        // The calendar's own way back.
        let again = structured("date_add", json!({ "date": from, "zone": zone, "duration": between["duration"] }));
        prop_assert_eq!(&again["utc"], &later["utc"]);
    }

    #[test]
    fn days_added_are_days_counted(days in -100_000i32..100_000) {
        let later = structured("date_add", json!({ "date": "2026-03-29", "duration": format!("{days}d") }));
        let between = structured("date_difference", json!({ "from": "2026-03-29", "to": later["date"], "largest": "days" }));
        prop_assert_eq!(&between["calendarDays"], days);
    }
}
