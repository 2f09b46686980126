//! The notes one agent can read: its own, and those other agents of the workspace share.
//!
//! What is written is written while the workspace's database is held for writing, so that two
//! processes never decide on the same state of a folder. A person's editor holds nothing; what
//! it changed is noticed by the version.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ambit_core::digest::Digest;
use ambit_core::id::is_owner;
use ambit_core::observation::Failure;
use ambit_core::suggest::{did_you_mean, suggest};

use super::difference::difference;
use super::document::{Document, Mark};
use super::file_name::{file_name, free_name};
use super::shelf::{Listing, NoteFile, Shelf, Unreadable, list_at};
use crate::Clock;
use crate::files::bounds::BoundsError;
use crate::store::{Part, Store, StoreError};

pub(crate) const PART: Part = Part {
    name: super::KEY,
    versions: &["
-- Where each agent's notes are, for the others to find what it shares.
CREATE TABLE note_folders (
    agent TEXT PRIMARY KEY,
    folder TEXT NOT NULL
) STRICT"],
    // Of this machine: an import elsewhere must not point back here.
    tables: &[],
};

/// Where notes are kept.
#[derive(Clone, Debug)]
pub(super) enum Root {
    /// With the rest of what the workspace keeps.
    Store,
    /// In a folder of the workspace.
    Workspace { workspace: PathBuf, dir: PathBuf },
}

/// How much is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) notes: usize,
    pub(super) characters: usize,
}

/// What an agent's tools work on.
pub(super) struct Notes {
    pub(super) store: Arc<Store>,
    pub(super) clock: Clock,
    pub(super) agent: String,
    pub(super) root: Root,
    pub(super) control: Vec<PathBuf>,
    pub(super) limits: Limits,
}

/// A note somebody may read.
#[derive(Clone, Debug)]
pub(super) struct Note {
    /// Whose it is, unless the reader's own.
    pub(super) of: Option<String>,
    pub(super) file: NoteFile,
}

impl Note {
    /// What a model calls it.
    pub(super) fn name(&self) -> String {
        match &self.of {
            Some(agent) => format!("{agent}/{}", self.file.name),
            None => self.file.name.clone(),
        }
    }

    pub(super) fn is_pinned(&self) -> bool {
        self.of.is_none() && self.file.document.has(Mark::Pinned)
    }
}

/// A note that was written.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) version: String,
    pub(super) path: PathBuf,
}

impl Notes {
    /// The agent's own folder, where there can be one by now.
    pub(super) fn shelf(&self) -> Result<Option<Shelf>, Failure> {
        let (base, inside, control) = match &self.root {
            // The store's own folder is nobody's to write but the store's, and this is part of it.
            Root::Store => (self.store.folder(), Path::new("notes"), Vec::new()),
            Root::Workspace { workspace, dir } => {
                (workspace.as_path(), dir.as_path(), self.control.clone())
            }
        };
        match Shelf::open(base, inside.join(self.folder_name()), control) {
            Ok(shelf) => Ok(Some(shelf)),
            Err(BoundsError::Workspace { source, .. })
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                Ok(None)
            }
            Err(error) => Err(Failure::provider(error.to_string())),
        }
    }

    /// Everything that may be read, and what looks like a note of its own and cannot.
    pub(super) fn all(&self) -> Result<(Vec<Note>, Vec<Unreadable>), Failure> {
        let Listing { notes, unreadable } = self.own()?;
        let own = notes.into_iter().map(|file| Note { of: None, file });
        let mut all: Vec<Note> = own.collect();
        for (agent, folder) in self.others()? {
            let shared = list_at(&folder).notes.into_iter();
            let shared = shared.filter(|it| it.document.has(Mark::Shared));
            all.extend(shared.map(|file| Note {
                of: Some(agent.clone()),
                file,
            }));
        }
        Ok((all, unreadable))
    }

    /// The note a model means: by its name, or by a title that only one has.
    pub(super) fn find(&self, wanted: &str) -> Result<Note, Failure> {
        let (mut all, unreadable) = self.all()?;
        if let Some(Unreadable { name, why }) = unreadable.iter().find(|it| it.name == wanted) {
            return Err(Failure::refused(format!(
                "`{name}` cannot be read: {why}; a person has to look at the file"
            )));
        }
        if let Some(at) = all.iter().position(|it| it.name() == wanted) {
            return Ok(all.swap_remove(at));
        }
        let is_titled = |it: &Note| it.file.title().to_lowercase() == wanted.to_lowercase();
        let titled: Vec<usize> = (0..all.len())
            .filter(|at| all.get(*at).is_some_and(is_titled))
            .collect();
        match titled.as_slice() {
            [one] => Ok(all.swap_remove(*one)),
            [] => {
                let names: Vec<String> = all.iter().map(Note::name).collect();
                let near = suggest(wanted, names.iter().map(String::as_str));
                let hint = did_you_mean(&near).unwrap_or_else(|| {
                    "list_notes and search_notes show those there are".to_owned()
                });
                Err(Failure::refused(format!(
                    "there is no note `{}`; {hint}",
                    wanted.escape_debug()
                )))
            }
            several => {
                let names = several.iter().filter_map(|at| all.get(*at));
                let names: Vec<String> = names.map(|it| format!("`{}`", it.name())).collect();
                Err(Failure::refused(format!(
                    "{} notes have this title: say which by name, {}",
                    names.len(),
                    names.join(" or ")
                )))
            }
        }
    }

    pub(super) fn save(&self, title: &str, content: &str) -> Result<Kept, StoreError> {
        let title = fitting_title(title)?;
        self.fitting(content)?;
        self.writing(|shelf| {
            let listing = shelf.list()?;
            let same = |it: &&NoteFile| it.title().to_lowercase() == title.to_lowercase();
            if let Some(known) = listing.notes.iter().find(same) {
                return Err(Failure::refused(format!(
                    "there is a note of this title, `{}`: read_note and update_note change it, or \
                     choose another title",
                    known.name
                )));
            }
            let most = self.limits.notes;
            if listing.notes.len() >= most {
                return Err(Failure::refused(format!(
                    "all {most} notes are in use: delete_note those that are no longer needed, or \
                     add to one with update_note"
                )));
            }
            let name = free_name(&file_name(title), |it| listing.is_taken(it));
            put(shelf, &name, &Document::new(title, content))
        })
    }

    /// Replaces the content of a note that is still what the writer has read.
    pub(super) fn update(
        &self,
        wanted: &str,
        version: &str,
        title: Option<&str>,
        content: &str,
    ) -> Result<Kept, StoreError> {
        let title = title.map(fitting_title).transpose()?;
        self.fitting(content)?;
        self.changing(wanted, |shelf, file| {
            if file.version != version {
                let now = &file.document.body;
                return Err(Failure::refused(format!(
                    "`{}` was changed since version `{}` was read; it is at version `{}`. What it \
                     says now (-) and what was to be written (+):\n{}\nPut both together and \
                     update again with the version it is at.",
                    file.name,
                    version.escape_debug(),
                    file.version,
                    difference(now, content)
                )));
            }
            let mut document = file.document;
            document.set_body(content);
            if let Some(title) = title {
                document.set_title(title);
            }
            put(shelf, &file.name, &document)
        })
    }

    /// Changes what the head of a note says, and nothing a person would read.
    pub(super) fn change_head(
        &self,
        wanted: &str,
        change: impl FnOnce(&mut Document),
    ) -> Result<Kept, StoreError> {
        self.changing(wanted, |shelf, file| {
            let mut document = file.document;
            change(&mut document);
            put(shelf, &file.name, &document)
        })
    }

    /// Moves a note to the trash. Returns its name, and where it is then.
    pub(super) fn delete(&self, wanted: &str) -> Result<(String, PathBuf), StoreError> {
        let stamp = (self.clock)().strftime("%Y%m%dT%H%M%S").to_string();
        self.changing(wanted, |shelf, file| {
            let path = shelf.trash(&file.name, &stamp)?;
            Ok((file.name, path))
        })
    }

    fn own(&self) -> Result<Listing, Failure> {
        match self.shelf()? {
            Some(shelf) => shelf.list(),
            None => Ok(Listing::default()),
        }
    }

    /// Changes a note of its own, as it is once nobody else can change it.
    fn changing<T>(
        &self,
        wanted: &str,
        work: impl FnOnce(&Shelf, NoteFile) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let found = self.find(wanted)?;
        if let Some(agent) = found.of {
            return Err(Failure::refused(format!(
                "`{wanted}` is a note of `{agent}`, which alone may change it: save a note of \
                 your own with what is to be different"
            ))
            .into());
        }
        let name = found.file.name;
        self.writing(|shelf| {
            let mut notes = shelf.list()?.notes.into_iter();
            let file = notes.find(|it| it.name == name).ok_or_else(|| {
                Failure::refused(format!("`{name}` was deleted just now by somebody else"))
            })?;
            work(shelf, file)
        })
    }

    /// Does something that no other process does at the same time.
    fn writing<T>(&self, work: impl FnOnce(&Shelf) -> Result<T, Failure>) -> Result<T, StoreError> {
        self.store.write(|it| {
            let shelf = self.shelf()?.ok_or_else(|| {
                Failure::provider("the folder of the workspace is gone: nothing can be written")
            })?;
            let path = shelf.path()?;
            it.execute(
                "INSERT INTO note_folders VALUES (?1, ?2) ON CONFLICT (agent) DO UPDATE SET \
                 folder = ?2",
                (&self.agent, path.to_string_lossy()),
            )?;
            Ok(work(&shelf)?)
        })
    }

    /// The folders of other agents: those that have written, and those that came with an import.
    fn others(&self) -> Result<Vec<(String, PathBuf)>, StoreError> {
        let mut others = self.known_others()?;
        let beside = std::fs::read_dir(self.store.folder().join("notes"));
        for folder in beside.into_iter().flatten().flatten() {
            let name = folder.file_name().to_string_lossy().into_owned();
            let is_known = others.iter().any(|(agent, _)| *agent == name);
            if is_owner(&name) && name != self.agent && !is_known {
                others.push((name, folder.path()));
            }
        }
        others.sort();
        Ok(others)
    }

    fn known_others(&self) -> Result<Vec<(String, PathBuf)>, StoreError> {
        self.store.read(|it| {
            let mut rows = it.prepare(
                "SELECT agent, folder FROM note_folders WHERE agent <> ?1 ORDER BY agent",
            )?;
            let rows = rows.query_map([&self.agent], |row| {
                Ok((row.get(0)?, PathBuf::from(row.get::<_, String>(1)?)))
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The agent's name as a folder's.
    fn folder_name(&self) -> String {
        let name = &self.agent;
        match is_owner(name) {
            true => name.clone(),
            false => format!(
                "{}-{}",
                file_name(name),
                Digest::of_bytes(name.as_bytes()).short()
            ),
        }
    }

    fn fitting(&self, content: &str) -> Result<(), Failure> {
        let most = self.limits.characters;
        match content.chars().count() {
            _ if content.trim().is_empty() => Err(Failure::refused(
                "`content` is empty: a note has to say something",
            )),
            it if it > most => Err(Failure::refused(format!(
                "`content` has {it} characters and a note at most {most}: shorten it, or make \
                 several notes of it"
            ))),
            _ => Ok(()),
        }
    }
}

fn put(shelf: &Shelf, name: &str, document: &Document) -> Result<Kept, Failure> {
    let version = shelf.write(name, document)?;
    Ok(Kept {
        title: document.title().unwrap_or_else(|| name.to_owned()),
        path: shelf.path()?.join(format!("{name}.md")),
        name: name.to_owned(),
        version,
    })
}

fn fitting_title(title: &str) -> Result<&str, Failure> {
    let title = title.trim();
    if title.is_empty() {
        return Err(Failure::refused("`title` is empty: name the note"));
    }
    if title.chars().any(char::is_control) {
        return Err(Failure::refused(
            "`title` has to be one line without control characters",
        ));
    }
    Ok(title)
}
