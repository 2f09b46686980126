//! The way back. Each file that is written leaves its old bytes and a record in the state
//! directory; undoing restores the bytes, and where the client wrote into its file since, puts
//! only the servers back.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ambit_core::digest::Digest;
use serde::{Deserialize, Serialize};

use super::apply::replace;
use super::clients::{ClientId, Syntax};
use super::rewire::{Rewire, put_back};
use super::scan;
use crate::places::{Places, private_directory};

const RECORDS: &str = "records.json";

/// What was written, and what was there before.
#[derive(Clone, Debug)]
pub struct Backups {
    directory: PathBuf,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    client: String,
    path: PathBuf,
    target: PathBuf,
    syntax: Syntax,
    section: Vec<String>,
    before: Digest,
    after: Digest,
}

impl Record {
    fn files(&self) -> [String; 2] {
        // The digest of the path keeps equal files apart.
        let place = Digest::of_bytes(self.target.as_os_str().as_encoded_bytes()).short();
        ["before", "after"].map(|it| format!("{}-{place}-{}.{it}", self.client, self.after.short()))
    }

    /// What a file that was edited since becomes: its old lines where the new ones still stand,
    /// or else its old servers wherever Ambit still is.
    fn put_back(&self, before: &[u8], after: &[u8], now: &[u8]) -> Option<String> {
        let text = |bytes| std::str::from_utf8(bytes).ok();
        let (before, after, now) = (text(before)?, text(after)?, text(now)?);
        let path: Vec<&str> = self.section.iter().map(String::as_str).collect();
        let by_lines = spliced(before, after, now);
        by_lines
            .filter(|it| scan::parse(self.syntax, it).is_ok())
            .or_else(|| put_back(self.syntax, &path, before, after, now).ok())
    }
}

/// One file, and what undoing did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// Whose file.
    pub client: String,
    /// The file, as the client finds it.
    pub path: PathBuf,
    /// What was done.
    pub how: UndoneHow,
}

/// What undoing did to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UndoneHow {
    /// It is as it was, byte for byte.
    Restored,
    /// It was edited since: what was replaced is back, the edits are kept.
    PutBack,
    /// It already was as before.
    Already,
    /// It was edited since where it was replaced. Its bytes from before are kept here.
    Edited {
        /// The backup.
        backup: PathBuf,
    },
    /// It cannot be read or written. Its bytes from before are kept here.
    Failed {
        /// The backup.
        backup: PathBuf,
        /// Why.
        why: String,
    },
}

impl UndoneHow {
    /// Whether there is nothing left to do.
    pub fn is_done(&self) -> bool {
        matches!(
            self,
            UndoneHow::Restored | UndoneHow::PutBack | UndoneHow::Already
        )
    }

    /// In a word.
    pub fn as_str(&self) -> &'static str {
        match self {
            UndoneHow::Restored => "restored",
            UndoneHow::PutBack => "put_back",
            UndoneHow::Already => "already",
            UndoneHow::Edited { .. } => "edited",
            UndoneHow::Failed { .. } => "failed",
        }
    }
}

impl Backups {
    /// Of this user.
    pub fn open(places: &Places) -> Backups {
        Backups {
            directory: places.state().join("takeover"),
        }
    }

    /// Keeps what a file is before it is written. Returns where.
    pub(super) fn keep(
        &self,
        rewire: &Rewire,
        target: &Path,
        before: &[u8],
        after: &[u8],
    ) -> io::Result<PathBuf> {
        let _lock = self.lock()?;
        let record = Record {
            client: rewire.client.to_string(),
            path: rewire.path.clone(),
            target: target.to_owned(),
            syntax: rewire.syntax,
            section: rewire.section.clone(),
            before: Digest::of_bytes(before),
            after: Digest::of_bytes(after),
        };
        let [old, new] = record.files().map(|it| self.directory.join(it));
        private_file(&old, before)?;
        private_file(&new, after)?;
        let mut records = self.records()?;
        let same = |it: &Record| it.target == record.target && it.after == record.after;
        records.retain(|it| !same(it));
        records.push(record);
        self.write(&records)?;
        Ok(old)
    }

    /// Undoes, newest first; all clients where none is named.
    pub fn undo(&self, clients: &[ClientId]) -> io::Result<Vec<Undone>> {
        if !self.directory.exists() {
            return Ok(Vec::new());
        }
        let _lock = self.lock()?;
        let mut records = self.records()?;
        let mut undone = Vec::new();
        for at in (0..records.len()).rev() {
            let Some(record) = records.get(at).cloned() else {
                continue;
            };
            let chosen = |it: &ClientId| it.as_str() == record.client;
            if !clients.is_empty() && !clients.iter().any(chosen) {
                continue;
            }
            let how = self.undo_one(&record);
            if how.is_done() {
                records.remove(at);
                self.write(&records)?;
                // They hold what the client's file holds, secrets too.
                for it in record.files() {
                    let _ = fs::remove_file(self.directory.join(it));
                }
            }
            undone.push(Undone {
                client: record.client,
                path: record.path,
                how,
            });
        }
        Ok(undone)
    }

    fn undo_one(&self, record: &Record) -> UndoneHow {
        let [old, new] = record.files().map(|it| self.directory.join(it));
        let restored = || -> io::Result<UndoneHow> {
            let now = fs::read(&record.target)?;
            let digest = Digest::of_bytes(&now);
            if digest == record.before {
                return Ok(UndoneHow::Already);
            }
            let before = fs::read(&old)?;
            if Digest::of_bytes(&before) != record.before {
                return Err(io::Error::other("the backup is damaged"));
            }
            if fs::metadata(&record.target)?.permissions().readonly() {
                return Err(io::Error::other("it is read-only"));
            }
            if digest == record.after {
                replace(&record.target, &before)?;
                return Ok(UndoneHow::Restored);
            }
            match record.put_back(&before, &fs::read(&new)?, &now) {
                Some(text) => {
                    replace(&record.target, text.as_bytes())?;
                    Ok(UndoneHow::PutBack)
                }
                None => Ok(UndoneHow::Edited {
                    backup: old.clone(),
                }),
            }
        };
        restored().unwrap_or_else(|error| UndoneHow::Failed {
            backup: old.clone(),
            why: error.to_string(),
        })
    }

    fn records(&self) -> io::Result<Vec<Record>> {
        match fs::read(self.directory.join(RECORDS)) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn write(&self, records: &[Record]) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(records)?;
        private_file(&self.directory.join(RECORDS), &text)
    }

    /// Nobody else changes the records before this is dropped.
    fn lock(&self) -> io::Result<File> {
        private_directory(&self.directory)?;
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(self.directory.join("lock"))?;
        file.lock()?;
        Ok(file)
    }
}

/// A file for its owner alone, whole or not at all.
fn private_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|it| it.error)?;
    File::open(folder)?.sync_all()
}

/// A text with what was written replaced by what was there before: the lines that `before` and
/// `after` do not share, where they stand in it exactly once.
fn spliced(before: &str, after: &str, now: &str) -> Option<String> {
    let lines =
        |text: &'_ str| -> Vec<String> { text.split_inclusive('\n').map(str::to_owned).collect() };
    let (before, after, now) = (lines(before), lines(after), lines(now));
    let shared = before.iter().zip(&after).take_while(|(a, b)| a == b);
    let head = shared.count();
    let room = before.len().min(after.len()) - head;
    let ends = before.iter().rev().zip(after.iter().rev()).take(room);
    let tail = ends.take_while(|(a, b)| a == b).count();
    let old = before.get(head..before.len() - tail)?;
    let new = after.get(head..after.len() - tail)?;
    if new.is_empty() {
        return None;
    }
    let mut places = now
        .windows(new.len())
        .enumerate()
        .filter(|(_, it)| *it == new);
    let (at, _) = places.next()?;
    if places.next().is_some() {
        return None;
    }
    let parts = [now.get(..at)?, old, now.get(at + new.len()..)?];
    Some(parts.concat().concat())
}
