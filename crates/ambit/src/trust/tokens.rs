//! Tokens that open agents to clients over HTTP, by digest. One that was revoked is remembered:
//! an agent that has once needed a token does not silently stop to.

use ambit_gateway::http::TokenDigest;
use jiff::Timestamp;
use rusqlite::{Row, params};

use super::{TrustError, TrustStore, digest, now, time};

/// Whose tokens answer for a person. No agent has this name: it is no name.
pub const OPERATOR: &str = "@operator";

/// A token as it is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedToken {
    /// Its number, to revoke it by.
    pub number: i64,
    /// The agent it opens.
    pub agent: String,
    /// What is kept of it.
    pub digest: TokenDigest,
    /// When it was issued.
    pub at: Timestamp,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
}

impl TrustStore {
    /// Remembers a new token, and says its number.
    pub fn add_token(&self, agent: &str, token: &TokenDigest) -> Result<i64, TrustError> {
        let connection = self.connection.lock();
        connection.execute(
            "INSERT INTO tokens (agent, digest, at) VALUES (?1, ?2, ?3)",
            params![agent, token.0.to_string(), now()],
        )?;
        Ok(connection.last_insert_rowid())
    }

    /// Revokes the tokens of an agent, or one of them, and says how many.
    pub fn revoke_tokens(&self, agent: &str, number: Option<i64>) -> Result<usize, TrustError> {
        Ok(self.connection.lock().execute(
            "UPDATE tokens SET revoked = ?3
             WHERE agent = ?1 AND (?2 IS NULL OR n = ?2) AND revoked IS NULL",
            params![agent, number, now()],
        )?)
    }

    /// Forgets that an agent ever had a token, and says how many it had.
    pub fn forget_tokens(&self, agent: &str) -> Result<usize, TrustError> {
        let connection = self.connection.lock();
        Ok(connection.execute("DELETE FROM tokens WHERE agent = ?1", [agent])?)
    }

    /// All tokens, the revoked ones included, by agent.
    pub fn tokens(&self) -> Result<Vec<IssuedToken>, TrustError> {
        let connection = self.connection.lock();
        let mut query = connection
            .prepare_cached("SELECT n, agent, digest, at, revoked FROM tokens ORDER BY agent, n")?;
        let rows = query.query_map([], issued)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn issued(row: &Row<'_>) -> rusqlite::Result<IssuedToken> {
    let is_revoked = row.get::<_, Option<i64>>(4)?.is_some();
    Ok(IssuedToken {
        number: row.get(0)?,
        agent: row.get(1)?,
        digest: TokenDigest(digest(row, 2)?),
        at: time(row, 3)?,
        revoked: is_revoked.then(|| time(row, 4)).transpose()?,
    })
}
