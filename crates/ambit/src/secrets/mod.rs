//! Secrets at rest: encrypted with `age`, in the user's data directory.
//!
//! `secrets.age` is a JSON map encrypted to the key in `secrets.key`, which only its owner may
//! read, or in the system's keyring (feature `os-keyring`). The two are never guessed back into
//! place: a store without its key is an error, not an empty store, and whatever cannot be read
//! is left as it is. Logins to servers are kept beside the secrets, under names no secret can have.

mod key;
#[cfg(feature = "os-keyring")]
mod keyring;
mod logins;
mod store;
#[cfg(test)]
mod tests;
mod value;

pub use logins::Logins;
pub use store::{SecretStore, SecretsError};
pub use value::SecretValue;

/// Whether a text can name a secret: letters, digits, `_`, `.`, `-`, at most 64.
pub fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}
