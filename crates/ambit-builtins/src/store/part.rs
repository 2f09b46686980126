//! The tables of one capability, and the steps that brought them to where they are.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};

use super::StoreError;

/// What one capability keeps.
pub(crate) struct Part {
    /// The capability's key.
    pub(crate) name: &'static str,
    /// What each version adds to the one before. Never edited, only added to.
    pub(crate) versions: &'static [&'static str],
    /// The tables that hold everything: what is derived from them is not listed. In an order in
    /// which they can be filled.
    pub(crate) tables: &'static [&'static str],
}

impl Part {
    pub(super) fn version(&self) -> i64 {
        i64::try_from(self.versions.len()).unwrap_or(i64::MAX)
    }
}

const KNOWN: &str = "
CREATE TABLE IF NOT EXISTS parts (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT";

/// Finds out whether anything in it is newer than this program.
pub(super) fn refuse_newer(
    connection: &Connection,
    parts: &[&Part],
    path: &Path,
) -> Result<(), StoreError> {
    let is_new = !connection.table_exists(None, "parts")?;
    if is_new {
        return Ok(());
    }
    let mut found = connection.prepare("SELECT name, version FROM parts")?;
    let found = found.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for it in found {
        let (name, version): (String, i64) = it?;
        let known = parts.iter().find(|it| it.name == name);
        let known = known.map_or(0, |it| it.version());
        if version > known {
            return Err(StoreError::Newer {
                path: path.to_owned(),
                part: name,
                found: version,
                known,
            });
        }
    }
    Ok(())
}

/// Brings every part to its last version, in one step that nobody else sees half of.
pub(super) fn bring_up(
    connection: &mut Connection,
    parts: &[&Part],
    path: &Path,
) -> Result<(), StoreError> {
    if is_current(connection, parts)? {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Somebody else may have been here since.
    refuse_newer(&transaction, parts, path)?;
    transaction.execute_batch(KNOWN)?;
    for part in parts {
        let at = version_of(&transaction, part.name)?.unwrap_or(0);
        let missing = part.versions.iter().skip(usize::try_from(at).unwrap_or(0));
        for step in missing {
            transaction.execute_batch(step)?;
        }
        transaction.execute(
            "INSERT INTO parts VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET version = ?2",
            (part.name, part.version()),
        )?;
    }
    transaction.commit()?;
    Ok(())
}

fn is_current(connection: &Connection, parts: &[&Part]) -> Result<bool, StoreError> {
    if !connection.table_exists(None, "parts")? {
        return Ok(false);
    }
    for part in parts {
        if version_of(connection, part.name)? != Some(part.version()) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn version_of(connection: &Connection, name: &str) -> Result<Option<i64>, StoreError> {
    Ok(connection
        .query_row("SELECT version FROM parts WHERE name = ?1", [name], |row| {
            row.get(0)
        })
        .optional()?)
}
