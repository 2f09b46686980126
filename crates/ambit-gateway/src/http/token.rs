//! Bearer tokens: made here, shown once, and known from then on by a digest only. A token has 256
//! random bits, so a plain digest cannot be turned back, and guessing is no way in.

use std::fmt;

use ambit_core::digest::Digest;
use subtle::ConstantTimeEq;

/// What every token begins with: whoever finds one knows what it opens.
const PREFIX: &str = "ambit_";

/// A new token, in clear.
pub struct NewToken(String);

impl NewToken {
    /// From the system's randomness; without any there is no token.
    pub fn generate() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(NewToken(format!("{PREFIX}{hex}")))
    }

    /// The token itself, to be shown once.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    pub fn digest(&self) -> TokenDigest {
        TokenDigest::of(&self.0)
    }
}

impl fmt::Debug for NewToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NewToken(…)")
    }
}

/// What is kept of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenDigest(pub Digest);

impl TokenDigest {
    /// Of a token as presented.
    pub fn of(token: &str) -> Self {
        TokenDigest(Digest::of_bytes(token.as_bytes()))
    }

    /// Whether it is one of these. Looks at all of them, each to its end.
    pub(crate) fn is_among(&self, known: &[TokenDigest]) -> bool {
        let found = known.iter().fold(0, |found, it| {
            found | it.0.as_bytes().ct_eq(self.0.as_bytes()).unwrap_u8()
        });
        found == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_digest_alone() {
        let (one, other) = (NewToken::generate().unwrap(), NewToken::generate().unwrap());
        assert_eq!(one.expose().len(), PREFIX.len() + 64);
        assert_ne!(one.expose(), other.expose());
        assert!(!format!("{one:?}").contains(one.expose()));
        let known = [other.digest(), one.digest()];
        assert!(TokenDigest::of(one.expose()).is_among(&known));
        assert!(!TokenDigest::of(PREFIX).is_among(&known));
        assert!(!one.digest().is_among(&[]));
    }
}
