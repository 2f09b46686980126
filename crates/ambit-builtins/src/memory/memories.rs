//! The memories of one pool: an agent's own, or those all agents of the workspace share.

use std::sync::Arc;

use ambit_core::observation::Failure;
use rusqlite::{OptionalExtension as _, Row, Transaction, named_params};

use super::similar::{Likeness, compare};
use crate::Clock;
use crate::asked::Asked;
use crate::moment::written;
use crate::store::{Part, Store, StoreError};

pub(crate) const PART: Part = Part {
    name: super::KEY,
    versions: &["
CREATE TABLE memories (
    -- Never given to another, so that an id a model remembers means this one or none.
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Whose: an agent's, or everybody's.
    agent TEXT,
    text TEXT NOT NULL,
    saved_by TEXT NOT NULL,
    saved_at TEXT NOT NULL,
    changed_by TEXT,
    changed_at TEXT
) STRICT;
CREATE INDEX memories_of_agent ON memories (agent, number);
CREATE VIRTUAL TABLE memories_text USING fts5(
    text, content = '', contentless_delete = 1, tokenize = 'porter unicode61'
);
-- An import replaces rows without deleting them first.
CREATE TRIGGER memories_inserted AFTER INSERT ON memories BEGIN
    DELETE FROM memories_text WHERE rowid = new.number;
    INSERT INTO memories_text (rowid, text) VALUES (new.number, new.text);
END;
CREATE TRIGGER memories_updated AFTER UPDATE OF text ON memories BEGIN
    DELETE FROM memories_text WHERE rowid = old.number;
    INSERT INTO memories_text (rowid, text) VALUES (new.number, new.text);
END;
CREATE TRIGGER memories_deleted AFTER DELETE ON memories BEGIN
    DELETE FROM memories_text WHERE rowid = old.number;
END"],
    tables: &["memories"],
};

/// One memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    pub(super) number: i64,
    pub(super) text: String,
    pub(super) saved: Stamp,
    pub(super) changed: Option<Stamp>,
}

/// Who, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) by: String,
    pub(super) at: String,
}

/// How much is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) entries: u32,
    pub(super) characters: usize,
}

/// A pool, as one agent uses it.
pub(super) struct Memories {
    pub(super) store: Arc<Store>,
    pub(super) clock: Clock,
    /// Who saves and changes.
    pub(super) agent: String,
    /// Whose pool; `None` for everybody's.
    pub(super) pool: Option<String>,
    pub(super) limits: Limits,
}

/// What became of a text that was to be saved.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Saved {
    New(Memory),
    /// One that is there says it.
    Known(Memory),
    /// One that is there said nearly as much, and now says all of it.
    Extended {
        memory: Memory,
        before: String,
    },
}

/// What an update did.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Updated {
    pub(super) memory: Memory,
    pub(super) before: String,
    /// Another that says nearly the same now.
    pub(super) twin: Option<Memory>,
}

const COLUMNS: &str =
    "SELECT number, text, saved_by, saved_at, changed_by, changed_at FROM memories";

impl Memories {
    pub(super) fn save(&self, text: &str) -> Result<Saved, StoreError> {
        let text = self.fitting(text)?;
        self.store.write(|it| {
            if let Some((known, likeness)) = self.nearest(it, text, None)? {
                return Ok(match likeness {
                    Likeness::Extends => Saved::Extended {
                        memory: self.change(it, known.number, text)?,
                        before: known.text,
                    },
                    _ => Saved::Known(known),
                });
            }
            let count = self.count(it)?;
            if count >= self.limits.entries {
                return Err(Failure::refused(format!(
                    "all {} memories are in use: delete or merge some with delete_memory and \
                     update_memory, then save again",
                    self.limits.entries
                ))
                .into());
            }
            it.execute(
                "INSERT INTO memories (agent, text, saved_by, saved_at) VALUES (?1, ?2, ?3, ?4)",
                (&self.pool, text, &self.agent, self.now()),
            )?;
            Ok(Saved::New(self.get(it, it.last_insert_rowid())?))
        })
    }

    /// The best matches: those with all the words first, by how much the words say.
    pub(super) fn search(&self, asked: &Asked, limit: u32) -> Result<Vec<Memory>, StoreError> {
        self.store.read(|it| {
            let mut found: Vec<Memory> = Vec::new();
            let mut statement = it.prepare(
                "SELECT m.number, m.text, saved_by, saved_at, changed_by, changed_at
                 FROM memories_text JOIN memories m ON m.number = memories_text.rowid
                 WHERE memories_text MATCH :query AND m.agent IS :pool
                 ORDER BY bm25(memories_text), m.number DESC LIMIT :limit",
            )?;
            for query in asked.queries() {
                let rows = statement.query_map(
                    named_params! { ":query": query, ":pool": self.pool, ":limit": limit },
                    read,
                )?;
                for memory in rows {
                    let memory = memory?;
                    if found.len() < limit as usize && !found.contains(&memory) {
                        found.push(memory);
                    }
                }
            }
            if found.is_empty() {
                found = self.containing(it, asked, limit)?;
            }
            Ok(found)
        })
    }

    /// Those that have a word somewhere inside: for languages without spaces, and parts of names.
    fn containing(
        &self,
        it: &Transaction<'_>,
        asked: &Asked,
        limit: u32,
    ) -> Result<Vec<Memory>, StoreError> {
        let mut found = self.all(it)?;
        found.retain(|memory| {
            let text = memory.text.to_lowercase();
            asked.words().iter().any(|word| text.contains(word))
        });
        found.reverse();
        found.truncate(limit as usize);
        Ok(found)
    }

    /// The newest that are older than a number, and how many there are in all.
    pub(super) fn list(
        &self,
        before: Option<i64>,
        limit: u32,
    ) -> Result<(Vec<Memory>, u32), StoreError> {
        self.store.read(|it| {
            let mut statement = it.prepare(&format!(
                "{COLUMNS} WHERE agent IS ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3"
            ))?;
            let rows =
                statement.query_map((&self.pool, before.unwrap_or(i64::MAX), limit), read)?;
            Ok((rows.collect::<rusqlite::Result<_>>()?, self.count(it)?))
        })
    }

    pub(super) fn update(&self, number: i64, text: &str) -> Result<Updated, StoreError> {
        let text = self.fitting(text)?;
        self.store.write(|it| {
            let before = self.get(it, number)?.text;
            let memory = self.change(it, number, text)?;
            let twin = self.nearest(it, text, Some(number))?.map(|(it, _)| it);
            Ok(Updated {
                memory,
                before,
                twin,
            })
        })
    }

    /// Deletes one for good, and returns what it said.
    pub(super) fn delete(&self, number: i64) -> Result<Memory, StoreError> {
        self.store.write(|it| {
            let memory = self.get(it, number)?;
            it.execute("DELETE FROM memories WHERE number = ?1", [number])?;
            Ok(memory)
        })
    }

    /// The text as it is kept, if it may be.
    fn fitting<'a>(&self, text: &'a str) -> Result<&'a str, Failure> {
        let text = text.trim();
        let most = self.limits.characters;
        match text.chars().count() {
            0 => Err(Failure::refused("`text` is empty: say what to remember")),
            it if it > most => Err(Failure::refused(format!(
                "`text` has {it} characters and a memory at most {most}: shorten it, or save one \
                 fact per memory"
            ))),
            _ => Ok(text),
        }
    }

    /// What says the same already, if anything: the same words before nearly the same.
    fn nearest(
        &self,
        it: &Transaction<'_>,
        text: &str,
        except: Option<i64>,
    ) -> Result<Option<(Memory, Likeness)>, StoreError> {
        let mut nearest = None;
        for memory in self.all(it)? {
            if Some(memory.number) == except {
                continue;
            }
            match compare(&memory.text, text) {
                Likeness::Different => {}
                Likeness::Same => return Ok(Some((memory, Likeness::Same))),
                likeness => nearest = nearest.or(Some((memory, likeness))),
            }
        }
        Ok(nearest)
    }

    fn change(&self, it: &Transaction<'_>, number: i64, text: &str) -> Result<Memory, StoreError> {
        it.execute(
            "UPDATE memories SET text = ?2, changed_by = ?3, changed_at = ?4 WHERE number = ?1",
            (number, text, &self.agent, self.now()),
        )?;
        self.get(it, number)
    }

    fn get(&self, it: &Transaction<'_>, number: i64) -> Result<Memory, StoreError> {
        let found = it
            .query_row(
                &format!("{COLUMNS} WHERE number = ?1 AND agent IS ?2"),
                (number, &self.pool),
                read,
            )
            .optional()?;
        found.ok_or_else(|| {
            Failure::refused(format!(
                "there is no memory `m{number}`: list_memories shows those there are"
            ))
            .into()
        })
    }

    fn all(&self, it: &Transaction<'_>) -> Result<Vec<Memory>, StoreError> {
        let mut statement = it.prepare(&format!("{COLUMNS} WHERE agent IS ?1 ORDER BY number"))?;
        let rows = statement.query_map([&self.pool], read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn count(&self, it: &Transaction<'_>) -> Result<u32, StoreError> {
        let count = "SELECT count(*) FROM memories WHERE agent IS ?1";
        Ok(it.query_row(count, [&self.pool], |row| row.get(0))?)
    }

    fn now(&self) -> String {
        written((self.clock)())
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Memory> {
    let changed_by: Option<String> = row.get(4)?;
    let changed_at: Option<String> = row.get(5)?;
    Ok(Memory {
        number: row.get(0)?,
        text: row.get(1)?,
        saved: Stamp {
            by: row.get(2)?,
            at: row.get(3)?,
        },
        changed: changed_by.zip(changed_at).map(|(by, at)| Stamp { by, at }),
    })
}
