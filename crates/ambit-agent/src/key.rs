//! What lets Ambit into a model's API, and is shown nowhere.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer};

/// Shorter than this, a key is a word: taking it out of texts would take words out of them.
const SHORTEST_TAKEN_OUT: usize = 6;

/// A key. Not shown by `Debug`, not serialized, wiped when dropped.
#[derive(Clone)]
pub struct ApiKey(SecretString);

impl ApiKey {
    /// Takes the text over.
    pub fn new(text: impl Into<String>) -> ApiKey {
        ApiKey(SecretString::from(text.into()))
    }

    /// The text itself, for the header it is sent in.
    pub(crate) fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// A text without it. A server may repeat in an error what it was sent.
    pub(crate) fn taken_out_of(&self, text: &str) -> String {
        if self.expose().len() < SHORTEST_TAKEN_OUT {
            return text.to_owned();
        }
        text.replace(self.expose(), "***")
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

impl PartialEq for ApiKey {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

impl Eq for ApiKey {}

impl<'de> Deserialize<'de> for ApiKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(ApiKey::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_does_not_show() {
        let key = ApiKey::new("sk-hunter2");
        assert_eq!(
            format!("{key:?} {:?}", Some(&key)),
            "ApiKey(…) Some(ApiKey(…))"
        );
        assert_eq!(
            key.taken_out_of("no such key: sk-hunter2!"),
            "no such key: ***!"
        );
        assert_eq!(ApiKey::new("a").taken_out_of("an apple"), "an apple");
    }
}
