//! Pinned definitions: what a person has accepted of servers' tools, and what is held back until
//! one does.

use std::collections::BTreeMap;

use ambit_core::digest::Digest;
use ambit_core::id::CapabilityId;
use ambit_core::quarantine::{Quarantine, QuarantineReason};
use ambit_mcp::{Accepted, Definition, Judged, PinError, PinStore};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::{TrustError, TrustStore, broken, capability, digest, now, time};

pub(super) const SCHEMA: &str = "
CREATE TABLE servers (
    name TEXT PRIMARY KEY,
    at INTEGER NOT NULL
) STRICT;
CREATE TABLE pins (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    server TEXT NOT NULL,
    id TEXT NOT NULL,
    digest TEXT NOT NULL,
    definition TEXT NOT NULL,
    at INTEGER NOT NULL,
    UNIQUE (id, digest)
) STRICT;
CREATE INDEX pins_of_server ON pins (server);
CREATE TABLE held (
    id TEXT PRIMARY KEY,
    server TEXT NOT NULL,
    digest TEXT NOT NULL,
    definition TEXT NOT NULL,
    reason TEXT NOT NULL,
    diff TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX held_of_server ON held (server);
";

/// A definition that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldDefinition {
    /// Whose.
    pub id: CapabilityId,
    /// Of which server.
    pub server: String,
    /// Of the definition.
    pub digest: Digest,
    /// Why it is held back, and what is different.
    pub quarantine: Quarantine,
    /// Since when.
    pub at: Timestamp,
}

impl TrustStore {
    /// Everything that is held back, by id.
    pub fn held_definitions(&self) -> Result<Vec<HeldDefinition>, TrustError> {
        let connection = self.connection.lock();
        let mut query = connection
            .prepare("SELECT id, reason, diff, server, digest, at FROM held ORDER BY id")?;
        let rows = query.query_map([], |row| {
            let (id, quarantine) = held(row)?;
            Ok(HeldDefinition {
                id,
                quarantine,
                server: row.get(3)?,
                digest: digest(row, 4)?,
                at: time(row, 5)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// A person accepts a definition as they were shown it. Whether it was still held back.
    pub fn accept_definition(&self, shown: &HeldDefinition) -> Result<bool, TrustError> {
        let mut connection = self.connection.lock();
        let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let key = params![shown.id.as_str(), shown.digest.to_string(), now()];
        // Accepting anew what was accepted before makes it the last accepted.
        change.execute(
            "INSERT OR REPLACE INTO pins (server, id, digest, definition, at)
             SELECT server, id, digest, definition, ?3 FROM held WHERE id = ?1 AND digest = ?2",
            key,
        )?;
        let key = params![shown.id.as_str(), shown.digest.to_string()];
        let was = change.execute("DELETE FROM held WHERE id = ?1 AND digest = ?2", key)?;
        change.commit()?;
        Ok(was > 0)
    }

    /// How many definitions have been accepted.
    pub fn pinned_definitions(&self) -> Result<u32, TrustError> {
        let connection = self.connection.lock();
        Ok(connection.query_row("SELECT count(*) FROM pins", [], |row| row.get(0))?)
    }
}

impl PinStore for TrustStore {
    fn accepted(&self, server: &str) -> Result<Option<Accepted>, PinError> {
        accepted(&self.connection.lock(), server).map_err(untold)
    }

    fn last_accepted(&self, id: &CapabilityId) -> Result<Option<Definition>, PinError> {
        let connection = self.connection.lock();
        let newest = "SELECT definition FROM pins WHERE id = ?1 ORDER BY n DESC LIMIT 1";
        let found = connection.query_row(newest, [id.as_str()], |row| {
            let text: String = row.get(0)?;
            serde_json::from_str(&text).map_err(|error| broken(0, error))
        });
        found.optional().map_err(untold)
    }

    fn held(&self, server: &str) -> Result<BTreeMap<CapabilityId, Quarantine>, PinError> {
        let connection = self.connection.lock();
        let find = || -> rusqlite::Result<_> {
            let mut query =
                connection.prepare_cached("SELECT id, reason, diff FROM held WHERE server = ?1")?;
            query.query_map([server], held)?.collect()
        };
        find().map_err(untold)
    }

    fn record(&self, server: &str, judged: &Judged) -> Result<(), PinError> {
        let mut connection = self.connection.lock();
        let mut put = || {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            record(&change, server, judged)?;
            change.commit()
        };
        put().map_err(untold)
    }
}

fn untold(error: rusqlite::Error) -> PinError {
    PinError(Box::new(error))
}

fn accepted(connection: &Connection, server: &str) -> rusqlite::Result<Option<Accepted>> {
    let seen = "SELECT 1 FROM servers WHERE name = ?1";
    let seen = connection.query_row(seen, [server], |_| Ok(()));
    if seen.optional()?.is_none() {
        return Ok(None);
    }
    let mut query = connection.prepare("SELECT id, digest FROM pins WHERE server = ?1")?;
    let rows = query.query_map([server], |row| Ok((capability(row, 0)?, digest(row, 1)?)))?;
    let mut accepted = Accepted::new();
    for row in rows {
        let (id, digest) = row?;
        accepted.entry(id).or_default().insert(digest);
    }
    Ok(Some(accepted))
}

fn held(row: &Row<'_>) -> rusqlite::Result<(CapabilityId, Quarantine)> {
    let reason: String = row.get(1)?;
    let reason = QuarantineReason::parse(&reason)
        .ok_or_else(|| broken(1, format!("`{reason}` is no reason")))?;
    let diff = row.get(2)?;
    Ok((capability(row, 0)?, Quarantine { reason, diff }))
}

fn record(change: &Transaction<'_>, server: &str, judged: &Judged) -> rusqlite::Result<()> {
    let at = now();
    let json = |it: &Definition| serde_json::to_string(it).unwrap_or_default();
    change.execute(
        "INSERT OR IGNORE INTO servers VALUES (?1, ?2)",
        params![server, at],
    )?;
    for (id, definition) in &judged.pinned {
        change.execute(
            "INSERT OR IGNORE INTO pins (server, id, digest, definition, at) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![server, id.as_str(), definition.digest().to_string(), json(definition), at],
        )?;
    }
    let mut waiting = change.prepare("SELECT id, digest, at FROM held WHERE server = ?1")?;
    let since: BTreeMap<(String, String), i64> = waiting
        .query_map([server], |row| {
            Ok(((row.get(0)?, row.get(1)?), row.get(2)?))
        })?
        .collect::<Result<_, _>>()?;
    change.execute("DELETE FROM held WHERE server = ?1", [server])?;
    for it in &judged.held {
        let (id, digest) = (it.id.to_string(), it.definition.digest().to_string());
        let at = since.get(&(id.clone(), digest.clone())).unwrap_or(&at);
        let Quarantine { reason, diff } = &it.quarantine;
        change.execute(
            "INSERT OR REPLACE INTO held VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                id,
                server,
                digest,
                json(&it.definition),
                reason.as_str(),
                diff,
                at
            ],
        )?;
    }
    Ok(())
}
