//! A value nobody should see by accident.

use std::fmt;

use age::secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer};

/// A secret text: not shown by `Debug` or `Display`, not serialized, wiped when dropped.
#[derive(Clone)]
pub struct SecretValue(SecretString);

impl SecretValue {
    /// Takes the text over.
    pub fn new(text: impl Into<String>) -> SecretValue {
        SecretValue(SecretString::from(text.into()))
    }

    /// The text itself. Whoever calls this answers for where it goes.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretValue(…)")
    }
}

impl fmt::Display for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl PartialEq for SecretValue {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

impl Eq for SecretValue {}

impl<'de> Deserialize<'de> for SecretValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(SecretValue::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_does_not_show() {
        let value = SecretValue::new("hunter2");
        assert!(!format!("{value} {value:?} {:?}", Some(&value)).contains("hunter2"));
        assert_eq!(value.expose(), "hunter2");
    }
}
