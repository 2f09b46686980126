//! The folder one agent's notes are in. Everything goes through handles of folders: no name a
//! model says ever becomes a path, and no link leads out.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use ambit_core::digest::Digest;
use ambit_core::observation::Failure;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use jiff::Timestamp;

use super::document::Document;
use super::file_name::free_name;
use crate::files::bounds::{Bounds, BoundsError, OpenError, open_regular};
use crate::files::replace::Target;
use crate::stop::Stop;

/// The largest file that is taken for a note.
const MOST_BYTES: u64 = 1024 * 1024;
const ENDING: &str = ".md";
/// Where deleted notes go.
pub(super) const TRASH: &str = ".trash";

/// A note as it is on disk now.
#[derive(Clone, Debug)]
pub(super) struct NoteFile {
    /// Of the file, without its ending.
    pub(super) name: String,
    pub(super) document: Document,
    /// Another for every content.
    pub(super) version: String,
    pub(super) changed: Timestamp,
}

impl NoteFile {
    pub(super) fn title(&self) -> String {
        self.document.title().unwrap_or_else(|| self.name.clone())
    }
}

/// What lies in a folder.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) notes: Vec<NoteFile>,
    pub(super) unreadable: Vec<Unreadable>,
}

/// A file that looks like a note and cannot be read.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unreadable {
    pub(super) name: String,
    pub(super) why: String,
}

impl Listing {
    pub(super) fn is_taken(&self, name: &str) -> bool {
        let names = self.notes.iter().map(|it| &it.name);
        names
            .chain(self.unreadable.iter().map(|it| &it.name))
            .any(|it| it.to_lowercase() == name.to_lowercase())
    }
}

/// An agent's folder, where it may be written.
pub(super) struct Shelf {
    bounds: Bounds,
    /// From the bounds' folder.
    inside: PathBuf,
}

impl Shelf {
    /// The folder `inside` of a folder that exists; it is made when the first note is.
    pub(super) fn open(
        base: &Path,
        inside: PathBuf,
        control: Vec<PathBuf>,
    ) -> Result<Self, BoundsError> {
        let bounds = Bounds::open(base, &[PathBuf::from(".")], control)?;
        Ok(Shelf { bounds, inside })
    }

    /// Why nothing can be written there, if that is so.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let place = self.bounds.locate(&self.inside.to_string_lossy())?;
        let real = place.root.real.join(&place.inside);
        self.bounds.control.check(&real, &[], &place.shown)
    }

    /// Where a person finds it.
    pub(super) fn path(&self) -> Result<PathBuf, Failure> {
        let place = self.bounds.locate(&self.inside.to_string_lossy())?;
        Ok(place.root.real.join(&place.inside))
    }

    pub(super) fn list(&self) -> Result<Listing, Failure> {
        let place = self.bounds.locate(&self.inside.to_string_lossy())?;
        match place.root.dir.open_dir(&place.inside) {
            Ok(dir) => list(&dir).map_err(|error| place.failure(&error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Listing::default()),
            Err(error) => Err(place.failure(&error)),
        }
    }

    /// Writes a note whole, or leaves what was there. Returns its new version.
    pub(super) fn write(&self, name: &str, document: &Document) -> Result<String, Failure> {
        let text = document.render();
        let place = self.bounds.locate(&self.file(name))?;
        Target::open(&self.bounds, &place)?.replace(text.as_bytes(), &Stop::default())?;
        Ok(version(text.as_bytes()))
    }

    /// Moves a note to the trash. Returns where it is then.
    pub(super) fn trash(&self, name: &str, stamp: &str) -> Result<PathBuf, Failure> {
        let place = self.bounds.locate(&self.file(name))?;
        let failed = |error: io::Error| place.failure(&error);
        // Only what may be replaced may go.
        Target::open(&self.bounds, &place)?;
        let folder = self.bounds.locate(&self.inside.to_string_lossy())?;
        let dir = folder.root.dir.open_dir(&folder.inside).map_err(failed)?;
        match dir.create_dir(TRASH) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed(error));
            }
            _ => {}
        }
        let trash = dir.open_dir(TRASH).map_err(failed)?;
        let free = free_name(&format!("{name}-{stamp}"), |it| {
            trash.exists(format!("{it}{ENDING}"))
        });
        let to = format!("{free}{ENDING}");
        dir.rename(format!("{name}{ENDING}"), &trash, &to)
            .map_err(failed)?;
        Ok(self.path()?.join(TRASH).join(to))
    }

    fn file(&self, name: &str) -> String {
        let file = self.inside.join(format!("{name}{ENDING}"));
        file.to_string_lossy().into_owned()
    }
}

/// What lies in somebody else's folder. Nothing where there is none.
pub(super) fn list_at(folder: &Path) -> Listing {
    Dir::open_ambient_dir(folder, ambient_authority())
        .and_then(|dir| list(&dir))
        .unwrap_or_default()
}

fn list(dir: &Dir) -> io::Result<Listing> {
    let mut listing = Listing::default();
    for entry in dir.entries()? {
        let file_name = entry?.file_name();
        let Some(name) = file_name.to_str().and_then(|it| it.strip_suffix(ENDING)) else {
            continue;
        };
        if name.is_empty() || name.starts_with('.') {
            continue;
        }
        match read(dir, Path::new(&file_name)) {
            Ok((content, changed)) => listing.notes.push(NoteFile {
                version: version(content.as_bytes()),
                document: Document::parse(&content),
                name: name.to_owned(),
                changed,
            }),
            Err(why) => listing.unreadable.push(Unreadable {
                name: name.to_owned(),
                why,
            }),
        }
    }
    listing.notes.sort_by(|a, b| a.name.cmp(&b.name));
    listing.unreadable.sort();
    Ok(listing)
}

fn read(dir: &Dir, path: &Path) -> Result<(String, Timestamp), String> {
    let (file, metadata) = open_regular(dir, path).map_err(|error| match error {
        OpenError::Io(error) => error.to_string(),
        OpenError::Folder | OpenError::Special => "not a regular file".to_owned(),
    })?;
    let mut content = Vec::new();
    file.take(MOST_BYTES + 1)
        .read_to_end(&mut content)
        .map_err(|error| error.to_string())?;
    if content.len() as u64 > MOST_BYTES {
        return Err(format!("larger than {MOST_BYTES} bytes"));
    }
    let content = String::from_utf8(content).map_err(|_| "not UTF-8 text".to_owned())?;
    let changed = metadata
        .modified()
        .map_err(|error| error.to_string())
        .and_then(|it| Timestamp::try_from(it.into_std()).map_err(|error| error.to_string()))?;
    Ok((content, changed))
}

fn version(content: &[u8]) -> String {
    Digest::of_bytes(content).short()
}
