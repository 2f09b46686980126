//! How long to wait before the next try: as long as the provider asks for, or else twice as long
//! as the last time, and a little by chance, so that many who failed together do not come back
//! together.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

/// How often a request is sent before giving up.
pub(crate) const TRIES: u32 = 5;
/// The first pause.
const FIRST: Duration = Duration::from_millis(500);
/// The longest pause of one's own choosing.
const LONGEST: Duration = Duration::from_secs(20);
/// The longest pause taken because a provider asks for it.
pub(crate) const LONGEST_ASKED: Duration = Duration::from_secs(60);

/// The pause after this many tries; `None` to give up. `chance` is anywhere from 0 to `u32::MAX`.
pub(crate) fn pause(tries: u32, asked: Option<Duration>, chance: u32) -> Option<Duration> {
    if tries >= TRIES {
        return None;
    }
    let doubled = FIRST.saturating_mul(1 << tries.saturating_sub(1).min(16));
    let own = doubled.min(LONGEST);
    let part = f64::from(chance) / f64::from(u32::MAX);
    match asked {
        Some(asked) if asked > LONGEST_ASKED => None,
        // Never earlier than asked for.
        Some(asked) => Some(asked + FIRST.mul_f64(part)),
        None => Some(own.mul_f64(0.5 + part / 2.0)),
    }
}

/// Something to vary pauses by.
pub(crate) fn chance() -> u32 {
    let mut bytes = [0u8; 4];
    // Without a source of chance all pauses are of the same length, which does no harm.
    let _ = getrandom::fill(&mut bytes);
    u32::from_le_bytes(bytes)
}

/// How long a provider wants to be left alone: seconds or milliseconds, or a date, which is read
/// by the provider's own clock.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok();
    let millis = text(HeaderName::from_static("retry-after-ms")).and_then(number);
    if let Some(Ok(pause)) = millis.map(|it| Duration::try_from_secs_f64(it / 1000.0)) {
        return Some(pause);
    }
    let after = text(RETRY_AFTER)?;
    if let Some(seconds) = number(after) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = |text: &str| DateTimeParser::new().parse_timestamp(text).ok();
    let now = text(DATE).and_then(date).unwrap_or_else(Timestamp::now);
    let wait = date(after)?.duration_since(now);
    Some(Duration::try_from(wait).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    #[test]
    fn pauses_grow_and_end() {
        let millis = |tries, chance| pause(tries, None, chance).map(|it| it.as_millis());
        assert_eq!(millis(1, 0), Some(250));
        assert_eq!(millis(1, u32::MAX), Some(500));
        assert_eq!(millis(2, u32::MAX), Some(1000));
        assert_eq!(millis(4, u32::MAX), Some(4000));
        assert_eq!(millis(TRIES, 0), None);
    }

    #[test]
    fn a_provider_is_left_alone_as_long_as_it_asks_within_reason() {
        let seconds = |asked, chance| pause(1, Some(Duration::from_secs(asked)), chance);
        assert_eq!(seconds(7, 0), Some(Duration::from_secs(7)));
        assert_eq!(seconds(7, u32::MAX), Some(Duration::from_millis(7500)));
        assert_eq!(seconds(0, 0), Some(Duration::ZERO));
        assert_eq!(seconds(3600, 0), None);
    }

    #[track_caller]
    fn check(headers: &[(&'static str, &'static str)], expected: Option<u64>) {
        let headers = headers.iter().map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        });
        let headers: HeaderMap = headers.collect();
        let found = retry_after(&headers).map(|it| it.as_millis() as u64);
        assert_eq!(found, expected, "{headers:?}");
    }

    #[test]
    fn retry_after_is_read_in_every_form() {
        check(&[], None);
        check(&[("retry-after", "3")], Some(3000));
        check(&[("retry-after", "1.5")], Some(1500));
        check(&[("retry-after-ms", "20"), ("retry-after", "3")], Some(20));
        check(&[("retry-after", "soon")], None);
        check(&[("retry-after", "-3")], None);
        check(&[("retry-after", "NaN")], None);
        check(
            &[
                ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
                ("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"),
            ],
            Some(30_000),
        );
        // Long ago: at once.
        check(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")], Some(0));
    }
}
