//! What was seen last time: descriptors of each source, definitions by digest, token costs. A
//! warm start lists everything without starting or counting anything.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ambit_core::descriptor::{CapabilityDescriptor, TokenCosts};
use ambit_core::digest::Digest;
use ambit_core::manifest::CapabilityManifest;
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension, params};
use thiserror::Error;

use crate::tokens;

const VERSION: i64 = 4;
const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS sources(source TEXT PRIMARY KEY, identity TEXT NOT NULL, descriptors TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS failures(source TEXT PRIMARY KEY, identity TEXT NOT NULL, why TEXT NOT NULL, at INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS definitions(digest TEXT PRIMARY KEY, manifest TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS costs(digest TEXT PRIMARY KEY, index_tokens INTEGER NOT NULL, card_tokens INTEGER NOT NULL, full_tokens INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS revisions(revision INTEGER PRIMARY KEY AUTOINCREMENT, digest TEXT NOT NULL);
";

/// The cache cannot be used. Nothing depends on it but time.
#[derive(Debug, Error)]
#[error("descriptor cache `{path}`: {source}")]
pub struct CacheError {
    path: PathBuf,
    source: rusqlite::Error,
}

/// Descriptors as they were seen last.
pub struct DescriptorCache {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl DescriptorCache {
    /// In this file. A file of another version is started over: it is only a cache.
    pub fn open(path: &Path) -> Result<Self, CacheError> {
        if let Some(folder) = path.parent() {
            // If this fails, opening says why.
            let _ = std::fs::create_dir_all(folder);
        }
        Self::prepare(path.to_owned(), Connection::open(path))
    }

    /// In memory, for as long as the process lives.
    pub fn in_memory() -> Result<Self, CacheError> {
        Self::prepare(PathBuf::from(":memory:"), Connection::open_in_memory())
    }

    fn prepare(
        path: PathBuf,
        connection: rusqlite::Result<Connection>,
    ) -> Result<Self, CacheError> {
        let prepared = connection.and_then(|it| {
            it.busy_timeout(Duration::from_secs(2))?;
            it.pragma_update(None, "journal_mode", "WAL")?;
            it.pragma_update(None, "synchronous", "OFF")?;
            // Each page is read once; keeping them would only be memory. In KiB, since negative.
            it.pragma_update(None, "cache_size", -256)?;
            let version: i64 = it.pragma_query_value(None, "user_version", |row| row.get(0))?;
            if version != VERSION {
                let drop = "DROP TABLE IF EXISTS sources; DROP TABLE IF EXISTS failures; DROP TABLE IF EXISTS definitions; DROP TABLE IF EXISTS costs;";
                it.execute_batch(drop)?;
                it.execute_batch(SCHEMA)?;
                it.pragma_update(None, "user_version", VERSION)?;
            }
            Ok(it)
        });
        match prepared {
            Ok(connection) => Ok(DescriptorCache {
                path,
                connection: Mutex::new(connection),
            }),
            Err(source) => Err(CacheError { path, source }),
        }
    }

    fn failed(&self, source: rusqlite::Error) -> CacheError {
        CacheError {
            path: self.path.clone(),
            source,
        }
    }

    /// Descriptors for manifests, counting only what was never counted.
    pub fn describe(
        &self,
        source: &str,
        manifests: &[CapabilityManifest],
    ) -> Vec<CapabilityDescriptor> {
        let digests: Vec<Digest> = manifests.iter().map(CapabilityManifest::digest).collect();
        // A cache that cannot be read costs time, not correctness.
        let mut known = self.costs(&digests).unwrap_or_default();
        let mut counted = Vec::new();
        let descriptors = manifests
            .iter()
            .zip(&digests)
            .map(|(manifest, digest)| {
                let costs = *known.entry(*digest).or_insert_with(|| {
                    let costs = tokens::costs(manifest);
                    counted.push((*digest, costs));
                    costs
                });
                CapabilityDescriptor::new(manifest, source, costs)
            })
            .collect();
        if !counted.is_empty() {
            let _ = self.put_costs(&counted);
        }
        descriptors
    }

    fn costs(&self, digests: &[Digest]) -> Result<HashMap<Digest, TokenCosts>, CacheError> {
        let connection = self.connection.lock();
        let find = || {
            let mut statement = connection.prepare_cached(
                "SELECT index_tokens, card_tokens, full_tokens FROM costs WHERE digest = ?1",
            )?;
            let mut known = HashMap::new();
            for digest in digests {
                let costs = statement
                    .query_row([digest.to_string()], |row| {
                        Ok(TokenCosts {
                            index: row.get(0)?,
                            card: row.get(1)?,
                            full: row.get(2)?,
                        })
                    })
                    .optional()?;
                if let Some(costs) = costs {
                    known.insert(*digest, costs);
                }
            }
            Ok(known)
        };
        find().map_err(|source| self.failed(source))
    }

    fn put_costs(&self, counted: &[(Digest, TokenCosts)]) -> Result<(), CacheError> {
        let mut connection = self.connection.lock();
        let mut put = || {
            let transaction = connection.transaction()?;
            for (digest, costs) in counted {
                transaction.execute(
                    "INSERT OR REPLACE INTO costs VALUES (?1, ?2, ?3, ?4)",
                    params![digest.to_string(), costs.index, costs.card, costs.full],
                )?;
            }
            transaction.commit()
        };
        put().map_err(|source| self.failed(source))
    }

    /// Remembers what a source offered. `identity` is what the source is (its command, its url);
    /// another identity under the same name is another source.
    pub fn put_source(
        &self,
        source: &str,
        identity: &Digest,
        manifests: &[CapabilityManifest],
    ) -> Result<Vec<CapabilityDescriptor>, CacheError> {
        let descriptors = self.describe(source, manifests);
        let text = serde_json::to_string(&descriptors).unwrap_or_default();
        let mut connection = self.connection.lock();
        let mut put = || {
            let transaction = connection.transaction()?;
            transaction.execute(
                "INSERT OR REPLACE INTO sources VALUES (?1, ?2, ?3)",
                params![source, identity.to_string(), text],
            )?;
            transaction.execute("DELETE FROM failures WHERE source = ?1", [source])?;
            for manifest in manifests {
                let json = serde_json::to_string(manifest).unwrap_or_default();
                transaction.execute(
                    "INSERT OR IGNORE INTO definitions VALUES (?1, ?2)",
                    params![manifest.digest().to_string(), json],
                )?;
            }
            transaction.commit()
        };
        put().map_err(|source| self.failed(source))?;
        Ok(descriptors)
    }

    /// What a source offered last, if it is still the same source.
    pub fn source(
        &self,
        source: &str,
        identity: &Digest,
    ) -> Option<Vec<Arc<CapabilityDescriptor>>> {
        let connection = self.connection.lock();
        connection
            .prepare_cached("SELECT descriptors FROM sources WHERE source = ?1 AND identity = ?2")
            .and_then(|mut it| {
                it.query_row(params![source, identity.to_string()], |row| {
                    Ok(serde_json::from_str(row.get_ref(0)?.as_str()?).ok())
                })
            })
            .ok()?
    }

    /// Remembers that a source could not say what it offers.
    pub fn put_failure(
        &self,
        source: &str,
        identity: &Digest,
        why: &str,
        at: SystemTime,
    ) -> Result<(), CacheError> {
        let put = "INSERT OR REPLACE INTO failures VALUES (?1, ?2, ?3, ?4)";
        let row = params![source, identity.to_string(), why, milliseconds(at)];
        let done = self.connection.lock().execute(put, row);
        done.map(drop).map_err(|source| self.failed(source))
    }

    /// Why a source could not say what it offers, and how long ago that was, if it is still the
    /// same source.
    pub fn failure(
        &self,
        source: &str,
        identity: &Digest,
        now: SystemTime,
    ) -> Option<(String, Duration)> {
        let find = "SELECT why, at FROM failures WHERE source = ?1 AND identity = ?2";
        let connection = self.connection.lock();
        let found = connection.query_row(find, params![source, identity.to_string()], |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?))
        });
        let (why, at) = found.ok()?;
        // A time to come is one of a clock that was set back.
        let age = u64::try_from(milliseconds(now) - at).ok()?;
        Some((why, Duration::from_millis(age)))
    }

    /// A definition seen before.
    pub fn definition(&self, digest: &Digest) -> Option<CapabilityManifest> {
        let connection = self.connection.lock();
        connection
            .prepare_cached("SELECT manifest FROM definitions WHERE digest = ?1")
            .and_then(|mut it| {
                it.query_row([digest.to_string()], |row| {
                    Ok(serde_json::from_str(row.get_ref(0)?.as_str()?).ok())
                })
            })
            .ok()?
    }

    /// The number of this catalog content: the last one's if nothing changed, the next otherwise.
    pub fn revision(&self, catalog: &Digest) -> Result<u64, CacheError> {
        let connection = self.connection.lock();
        let find = || {
            let last: Option<(i64, String)> = connection
                .query_row(
                    "SELECT revision, digest FROM revisions ORDER BY revision DESC LIMIT 1",
                    [],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
                .optional()?;
            match last {
                Some((revision, digest)) if digest == catalog.to_string() => Ok(revision),
                _ => {
                    connection.execute(
                        "INSERT INTO revisions(digest) VALUES (?1)",
                        [catalog.to_string()],
                    )?;
                    Ok(connection.last_insert_rowid())
                }
            }
        };
        find()
            .map(|it| u64::try_from(it).unwrap_or(0))
            .map_err(|source| self.failed(source))
    }
}

fn milliseconds(at: SystemTime) -> i64 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
