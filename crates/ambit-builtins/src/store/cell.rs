//! Cells of a row as the types of this crate. What does not fit can only have been written by
//! hand, or come with an import.

use std::str::FromStr;

use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::Type;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A word of this crate.
pub(crate) fn word<T: FromStr<Err = String>>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    text.parse().map_err(|error| unreadable(Type::Text, error))
}

/// A list, kept as JSON.
pub(crate) fn list<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<Vec<T>> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| unreadable(Type::Text, error.to_string()))
}

/// What [`list`] reads.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// An instant, kept as milliseconds.
pub(crate) fn time(row: &Row<'_>, column: &str) -> rusqlite::Result<Timestamp> {
    instant(row.get(column)?)
}

/// An instant that may be missing.
pub(crate) fn maybe_time(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Timestamp>> {
    let milliseconds: Option<i64> = row.get(column)?;
    milliseconds.map(instant).transpose()
}

fn instant(milliseconds: i64) -> rusqlite::Result<Timestamp> {
    Timestamp::from_millisecond(milliseconds)
        .map_err(|error| unreadable(Type::Integer, error.to_string()))
}

/// An instant as exactly as it can be kept.
pub(crate) fn kept(instant: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(instant.as_millisecond()).unwrap_or(instant)
}

/// A cell that holds something else than it should.
pub(crate) fn unreadable(of: Type, message: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, of, message.into())
}
