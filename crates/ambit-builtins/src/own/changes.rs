//! Every change of what is an agent's own, with what was there before; and taking changes back,
//! which is one more change.

use std::collections::BTreeMap;

use ambit_core::observation::Failure;
use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};

use super::Own;
use super::document::Document;
use crate::store::{Part, Store, StoreError};

pub(crate) const PART: Part = Part {
    name: super::KEY,
    versions: &["
CREATE TABLE own_changes (
    agent TEXT NOT NULL,
    version INTEGER NOT NULL,
    at INTEGER NOT NULL,
    made_by TEXT NOT NULL,
    what TEXT NOT NULL,
    was TEXT,
    became TEXT,
    PRIMARY KEY (agent, version)
) STRICT"],
    tables: &["own_changes"],
};

/// Who made a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The agent itself.
    Agent,
    /// A person, by taking one back.
    Person,
}

impl By {
    /// The word used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            By::Agent => "agent",
            By::Person => "person",
        }
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Counts an agent's changes, from 1.
    pub version: i64,
    /// When it was made.
    pub at: Timestamp,
    /// By whom.
    pub by: By,
    /// Of what: `instructions`, `responsibilities` or `skill NAME`.
    pub what: String,
    /// What it said before; nothing if it was not there.
    pub was: Option<String>,
    /// What it says since; nothing if it is gone.
    pub became: Option<String>,
}

/// What taking back changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// Everything is as it was right after this one.
    pub to: i64,
    /// The changes that brought it there.
    pub changes: Vec<Change>,
}

impl Own {
    /// All changes, oldest first.
    pub fn history(&self) -> Result<Vec<Change>, StoreError> {
        self.store.read(|it| history(it, &self.agent))
    }

    /// Takes back every change after `to`; without it, the last one. Nothing is lost by it: taking
    /// back is a change like any other.
    pub fn undo(&self, to: Option<i64>) -> Result<Undone, Failure> {
        let _locked = self.lock()?;
        let history = self.history()?;
        let last = history.last().map_or(0, |it| it.version);
        let to = to.unwrap_or(last - 1);
        if !(0..last).contains(&to) {
            let message = match last {
                0 => format!("`{}` has never changed what it is told", self.agent),
                _ => format!("there is no change after version {to}; the last is {last}"),
            };
            return Err(Failure::refused(message));
        }
        // What each document said before the first of the changes that are taken back.
        let mut before: BTreeMap<Document, Option<String>> = BTreeMap::new();
        for change in history.into_iter().filter(|it| it.version > to) {
            if let Some(document) = Document::parse(&change.what) {
                before.entry(document).or_insert(change.was);
            }
        }
        let mut changes = Vec::new();
        for (document, content) in before {
            changes.extend(self.put_and_keep(&document, By::Person, content)?);
        }
        Ok(Undone { to, changes })
    }

    /// Changes a document to what `edit` makes of it. The caller is told what it says then.
    pub(super) fn change<T>(
        &self,
        document: &Document,
        edit: impl FnOnce(Option<String>) -> Result<(Option<String>, T), Failure>,
    ) -> Result<T, Failure> {
        let _locked = self.lock()?;
        let (content, done) = edit(self.content(document)?)?;
        self.put_and_keep(document, By::Agent, content)?;
        Ok(done)
    }

    /// Kept first, so that nothing is ever replaced that is not kept.
    fn put_and_keep(
        &self,
        document: &Document,
        by: By,
        became: Option<String>,
    ) -> Result<Option<Change>, Failure> {
        let was = self.content(document)?;
        if was == became {
            return Ok(None);
        }
        let at = (self.clock)();
        let change = self.store.write(|it| {
            let last = "SELECT ifnull(max(version), 0) FROM own_changes WHERE agent = ?1";
            let last: i64 = it.query_row(last, [&self.agent], |row| row.get(0))?;
            let change = Change {
                version: last + 1,
                at,
                by,
                what: document.word(),
                was,
                became,
            };
            it.execute(
                "INSERT INTO own_changes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    self.agent,
                    change.version,
                    at.as_millisecond(),
                    by.as_str(),
                    change.what,
                    change.was,
                    change.became,
                ],
            )?;
            Ok(change)
        })?;
        if let Err(failure) = self.put(document, change.became.as_deref()) {
            let delete = "DELETE FROM own_changes WHERE agent = ?1 AND version = ?2";
            self.store
                .write(|it| Ok(it.execute(delete, params![self.agent, change.version])?))?;
            return Err(failure);
        }
        Ok(Some(change))
    }

    pub(super) fn last_kept(&self, document: &Document) -> Result<Option<String>, Failure> {
        Ok(last_kept(&self.store, &self.agent, document)?)
    }
}

/// What a document said after its last change.
pub(super) fn last_kept(
    store: &Store,
    agent: &str,
    document: &Document,
) -> Result<Option<String>, StoreError> {
    // Asking must not make a database.
    if !store.path().exists() {
        return Ok(None);
    }
    let last = "SELECT became FROM own_changes WHERE agent = ?1 AND what = ?2
        ORDER BY version DESC LIMIT 1";
    store.read(|it| {
        let found = it.query_row(last, params![agent, document.word()], |row| row.get(0));
        Ok(found.optional()?.flatten())
    })
}

fn history(it: &Transaction<'_>, agent: &str) -> Result<Vec<Change>, StoreError> {
    let mut rows = it.prepare(
        "SELECT version, at, made_by, what, was, became FROM own_changes
         WHERE agent = ?1 ORDER BY version",
    )?;
    let rows = rows.query_map([agent], change)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn change(row: &Row<'_>) -> rusqlite::Result<Change> {
    let made_by: String = row.get(2)?;
    Ok(Change {
        version: row.get(0)?,
        at: Timestamp::from_millisecond(row.get(1)?).unwrap_or(Timestamp::UNIX_EPOCH),
        by: match made_by.as_str() {
            "person" => By::Person,
            _ => By::Agent,
        },
        what: row.get(3)?,
        was: row.get(4)?,
        became: row.get(5)?,
    })
}
