//! How a moment is kept and shown: to the second, in one time zone, so that texts sort as times.

use jiff::Timestamp;

/// `2026-11-15T17:51:26Z`.
pub(crate) fn written(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The day of a written moment, for a reader.
pub(crate) fn day(written: &str) -> &str {
    written.get(..10).unwrap_or(written)
}
