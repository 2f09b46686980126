//! The name of a session: short enough to type, sorted by when it began.

use std::fmt;
use std::str::FromStr;

use ambit_core::digest::Digest;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Names one session, such as `20261115-112233-x7k2p9`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

/// What is wrong with a session's name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` cannot name a session (1 to 128 letters, digits, `-`, `_` or `.`; not `last`)")]
pub struct SessionIdProblem {
    text: String,
}

/// Base32 without the letters that look like digits.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

impl SessionId {
    /// A new one: the time in UTC and six random characters.
    pub fn generate() -> Self {
        let now = jiff::Timestamp::now();
        let mut random = [0; 6];
        if getrandom::fill(&mut random).is_err() {
            // Only uniqueness is at stake, not secrecy.
            let seed = Digest::of_fields([
                now.as_nanosecond().to_le_bytes().as_slice(),
                std::process::id().to_le_bytes().as_slice(),
            ]);
            for (to, from) in random.iter_mut().zip(seed.as_bytes()) {
                *to = *from;
            }
        }
        let suffix = random
            .iter()
            .filter_map(|byte| ALPHABET.get(usize::from(byte % 32)))
            .map(|byte| char::from(*byte))
            .collect::<String>();
        SessionId(format!("{}-{suffix}", now.strftime("%Y%m%d-%H%M%S")))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As stored, whatever it is: a damaged name must still be shown.
    pub(super) fn stored(text: String) -> Self {
        SessionId(text)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for SessionId {
    type Error = SessionIdProblem;

    fn try_from(text: String) -> Result<Self, SessionIdProblem> {
        let fits = (1..=128).contains(&text.len())
            && text != "last"
            && text
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(&it));
        if fits {
            Ok(SessionId(text))
        } else {
            Err(SessionIdProblem { text })
        }
    }
}

impl FromStr for SessionId {
    type Err = SessionIdProblem;

    fn from_str(text: &str) -> Result<Self, SessionIdProblem> {
        text.to_owned().try_into()
    }
}

impl From<SessionId> for String {
    fn from(it: SessionId) -> String {
        it.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_names_are_names_and_differ() {
        let one = SessionId::generate();
        assert_eq!(one.as_str().len(), "20261115-112233-x7k2p9".len());
        assert_eq!(one.to_string().parse(), Ok(one.clone()));
        assert_ne!(one, SessionId::generate());
    }

    #[test]
    fn odd_names_are_refused() {
        for text in ["", "last", "a b", "a/b", "é", &"x".repeat(129)] {
            assert!(text.parse::<SessionId>().is_err(), "{text}");
        }
    }
}
