//! Messages from runs that nobody watched, kept until somebody reads them.

use std::sync::Arc;

use ambit_core::observation::Failure;
use ambit_runtime::random::random_word;
use ambit_runtime::resolver::{Notice, Notify};
use jiff::Timestamp;
use rusqlite::params;
use serde::Serialize;

use crate::Clock;
use crate::store::cell::time;
use crate::store::{Part, Store, StoreError};

pub(crate) const PART: Part = Part {
    name: "notices",
    versions: &["
CREATE TABLE notices (
    id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    message TEXT NOT NULL,
    urgency TEXT NOT NULL,
    at INTEGER NOT NULL,
    read INTEGER NOT NULL
) STRICT;
CREATE INDEX notices_by_time ON notices (at)"],
    tables: &["notices"],
};

/// Most unread ones of one agent: whoever does not read fifty does not read a thousand.
const MOST_UNREAD: i64 = 200;
/// How many are kept once they are read.
const MOST_READ: i64 = 500;

/// The notices of a workspace.
#[derive(Clone)]
pub struct Notices {
    store: Arc<Store>,
    clock: Clock,
}

/// A notice as it is kept.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptNotice {
    /// Its name.
    pub id: String,
    /// When it was sent.
    #[serde(serialize_with = "as_text")]
    pub at: Timestamp,
    /// The agent it is from.
    pub agent: String,
    /// The session it was sent in.
    pub session: String,
    /// `low`, `normal` or `high`.
    pub urgency: String,
    /// What it says.
    pub message: String,
    /// Whether somebody has seen it.
    pub read: bool,
}

fn as_text<S: serde::Serializer>(at: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(at)
}

/// Which notices are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those nobody has seen.
    Unread,
    /// All that are kept.
    All,
}

impl Notices {
    /// Of what is kept in this store.
    pub fn new(store: Arc<Store>, clock: Clock) -> Self {
        Notices { store, clock }
    }

    /// Keeps what runs in the background have to say.
    pub fn notify(self) -> Notify {
        Arc::new(move |notice| self.keep(&notice).map_err(|error| error.to_string()))
    }

    /// Keeps one.
    pub fn keep(&self, notice: &Notice) -> Result<(), StoreError> {
        let at = (self.clock)().as_millisecond();
        self.store.write(|it| {
            let sql = "SELECT count(*) FROM notices WHERE agent = ?1 AND NOT read";
            let unread: i64 = it.query_row(sql, [&notice.agent], |row| row.get(0))?;
            if unread >= MOST_UNREAD {
                return Err(Failure::refused(format!(
                    "{unread} messages of yours wait to be read; go on without"
                ))
                .into());
            }
            it.execute(
                "INSERT INTO notices VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0)",
                params![
                    format!("m-{}", random_word(10)),
                    notice.agent,
                    notice.session,
                    notice.message,
                    notice.urgency.as_str(),
                    at,
                ],
            )?;
            it.execute(
                "DELETE FROM notices WHERE read AND id NOT IN
                 (SELECT id FROM notices WHERE read ORDER BY at DESC, rowid DESC LIMIT ?1)",
                [MOST_READ],
            )?;
            Ok(())
        })
    }

    /// Those that are asked for, oldest first.
    pub fn list(&self, which: Which) -> Result<Vec<KeptNotice>, StoreError> {
        if !self.store.path().exists() {
            return Ok(Vec::new());
        }
        let sql = match which {
            Which::Unread => "SELECT * FROM notices WHERE NOT read ORDER BY at, rowid",
            Which::All => "SELECT * FROM notices ORDER BY at, rowid",
        };
        self.store.read(|it| {
            let mut rows = it.prepare(sql)?;
            let rows = rows.query_map([], |row| {
                Ok(KeptNotice {
                    id: row.get("id")?,
                    at: time(row, "at")?,
                    agent: row.get("agent")?,
                    session: row.get("session")?,
                    urgency: row.get("urgency")?,
                    message: row.get("message")?,
                    read: row.get("read")?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Somebody has seen these. Others that came in meanwhile are still unread.
    pub fn seen(&self, notices: &[KeptNotice]) -> Result<(), StoreError> {
        self.store.write(|it| {
            for notice in notices {
                it.execute("UPDATE notices SET read = 1 WHERE id = ?1", [&notice.id])?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use ambit_runtime::resolver::Urgency;

    use super::*;

    fn notice(agent: &str, message: &str) -> Notice {
        Notice {
            agent: agent.to_owned(),
            session: "s".to_owned(),
            message: message.to_owned(),
            urgency: Urgency::High,
        }
    }

    #[test]
    fn they_are_unread_until_they_were_shown() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        let notices = Notices::new(store, Arc::new(|| Timestamp::UNIX_EPOCH));
        let notify = notices.clone().notify();
        notify(notice("a", "first")).unwrap();
        let shown = notices.list(Which::Unread).unwrap();
        notify(notice("a", "second")).unwrap();
        notices.seen(&shown).unwrap();
        let messages = |which| -> Vec<String> {
            let listed = notices.list(which).unwrap();
            listed.into_iter().map(|it| it.message).collect()
        };
        assert_eq!(messages(Which::Unread), ["second"]);
        assert_eq!(messages(Which::All), ["first", "second"]);
    }

    #[test]
    fn there_is_a_most_of_unread_ones() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        let notices = Notices::new(store, Arc::new(|| Timestamp::UNIX_EPOCH));
        for _ in 0..MOST_UNREAD {
            notices.keep(&notice("a", "x")).unwrap();
        }
        let refused = notices.keep(&notice("a", "x")).unwrap_err().to_string();
        assert!(refused.contains("200 messages of yours wait"), "{refused}");
        notices.keep(&notice("b", "x")).unwrap();
        notices.seen(&notices.list(Which::All).unwrap()).unwrap();
        notices.keep(&notice("a", "x")).unwrap();
    }
}
