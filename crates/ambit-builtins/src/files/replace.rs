//! Replacing a file as a whole: whoever reads it sees the old content or the new, and a failure
//! on the way leaves the old.
//!
//! The folder is entered one component at a time without following a link, along the path that
//! was resolved before. So the handle the new file is renamed in is the one whose real path was
//! compared with the control files, and not one that a link swapped in meanwhile leads to.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use ambit_core::observation::Failure;
use cap_std::fs::{Dir, File, Metadata, OpenOptions, Permissions, PermissionsExt as _};
use rustix::fs::{Mode, OFlags};

use super::bounds::{Bounds, OpenError, Place, open_regular};
use super::control::FileId;
use crate::stop::Stop;

/// A file that may be written: its folder held open, its name within.
pub(crate) struct Target<'a> {
    place: &'a Place<'a>,
    dir: Dir,
    name: OsString,
    existing: Option<Metadata>,
}

/// What became of the old content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replaced {
    /// There was none.
    Created,
    /// It is gone.
    Overwritten,
}

impl<'a> Target<'a> {
    /// Finds where a write to this place really goes and refuses what may not be written.
    /// Missing folders are created.
    pub(crate) fn open(bounds: &Bounds, place: &'a Place<'a>) -> Result<Self, Failure> {
        let failed = |error: io::Error| place.failure(&error);
        let inside = through_link(place)?;
        let (Some(parent), Some(name)) = (inside.parent(), inside.file_name()) else {
            return Err(folder(place));
        };
        let way = Way::to(place, parent)?;

        // Opened anew: the root's own handle only finds things and cannot be synced.
        let mut dir = enter(&place.root.dir, OsStr::new(".")).map_err(failed)?;
        let mut passed = vec![FileId::of(&dir.dir_metadata().map_err(failed)?)];
        for component in &way.existing {
            dir = enter(&dir, component).map_err(failed)?;
            passed.push(FileId::of(&dir.dir_metadata().map_err(failed)?));
        }
        let existing = if way.missing.as_os_str().is_empty() {
            lookup(&dir, name).map_err(failed)?
        } else {
            None
        };
        passed.extend(existing.as_ref().map(FileId::of));
        let real = place
            .root
            .real
            .join(&way.existing)
            .join(&way.missing)
            .join(name);
        bounds.control.check(&real, &passed, &place.shown)?;
        writable(place, existing.as_ref())?;

        for component in &way.missing {
            match dir.create_dir(component) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(place.failure(&error));
                }
                _ => dir = enter(&dir, component).map_err(failed)?,
            }
        }
        Ok(Target {
            place,
            dir,
            name: name.to_owned(),
            existing,
        })
    }

    /// Opens what is there now for reading.
    pub(crate) fn open_existing(&self) -> Result<(File, Metadata), Failure> {
        open_regular(&self.dir, Path::new(&self.name)).map_err(|error| match error {
            OpenError::Io(error) => self.place.failure(&error),
            OpenError::Folder | OpenError::Special => folder(self.place),
        })
    }

    /// Puts new content in the file's place.
    pub(crate) fn replace(&self, content: &[u8], stop: &Stop) -> Result<Replaced, Failure> {
        let failed = |error: io::Error| self.place.failure(&error);
        let (mut file, draft) = Draft::create(&self.dir).map_err(failed)?;
        file.write_all(content).map_err(failed)?;
        if let Some(existing) = &self.existing {
            let mode = existing.permissions().mode() & 0o777;
            file.set_permissions(Permissions::from_mode(mode))
                .map_err(failed)?;
        }
        file.sync_all().map_err(failed)?;
        stop.check()?;
        draft.rename(&self.name).map_err(failed)?;
        // The rename itself is durable only once the folder is.
        rustix::fs::fsync(&self.dir).map_err(|errno| failed(errno.into()))?;
        Ok(match self.existing {
            Some(_) => Replaced::Overwritten,
            None => Replaced::Created,
        })
    }
}

/// The path with a link at its end followed, so that the link stays and its target is replaced.
fn through_link(place: &Place<'_>) -> Result<PathBuf, Failure> {
    match place.root.dir.symlink_metadata(&place.inside) {
        Ok(metadata) if metadata.is_symlink() => match place.resolved() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(Failure::refused(format!(
                    "`{}` is a symlink to something that does not exist",
                    place.shown
                )))
            }
            resolved => resolved.map_err(|error| place.failure(&error)),
        },
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(place.failure(&error)),
        _ => Ok(place.inside.clone()),
    }
}

/// The way to a folder: what exists of it, links resolved, and what has to be created.
struct Way {
    existing: PathBuf,
    missing: PathBuf,
}

impl Way {
    fn to(place: &Place<'_>, folder: &Path) -> Result<Way, Failure> {
        let mut existing = folder.to_owned();
        loop {
            if existing.as_os_str().is_empty() {
                return Ok(Way {
                    existing,
                    missing: folder.to_owned(),
                });
            }
            match place.root.dir.canonicalize(&existing) {
                Ok(real) => {
                    let missing = folder.strip_prefix(&existing).unwrap_or(Path::new(""));
                    return Ok(Way {
                        existing: real,
                        missing: missing.to_owned(),
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    existing.pop();
                }
                Err(error) => return Err(place.failure(&error)),
            }
        }
    }
}

fn lookup(dir: &Dir, name: &OsStr) -> io::Result<Option<Metadata>> {
    match dir.symlink_metadata(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// Opens a folder right below another; a link in its place is an error.
fn enter(dir: &Dir, name: &OsStr) -> io::Result<Dir> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    Ok(Dir::from(handle))
}

fn writable(place: &Place<'_>, existing: Option<&Metadata>) -> Result<(), Failure> {
    let Some(existing) = existing else {
        return Ok(());
    };
    if !existing.is_file() {
        return Err(folder(place));
    }
    // A rename would get past a read-only file; whoever made it so meant it.
    if existing.permissions().readonly() {
        return Err(Failure::refused(format!("`{}` is read-only", place.shown)));
    }
    Ok(())
}

fn folder(place: &Place<'_>) -> Failure {
    Failure::refused(format!(
        "`{}` is not a regular file and cannot be replaced by one",
        place.shown
    ))
}

/// The new content under a passing name, removed again unless it is renamed.
struct Draft<'a> {
    dir: &'a Dir,
    name: Option<String>,
}

impl<'a> Draft<'a> {
    fn create(dir: &'a Dir) -> io::Result<(File, Draft<'a>)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!(".ambit-{}-{count}.tmp", std::process::id());
            match dir.open_with(&name, &options) {
                // Left behind by a process of the same number that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(file) => {
                    return Ok((
                        file,
                        Draft {
                            dir,
                            name: Some(name),
                        },
                    ));
                }
            }
        }
    }

    fn rename(mut self, to: &OsStr) -> io::Result<()> {
        if let Some(name) = &self.name {
            self.dir.rename(name, self.dir, to)?;
        }
        self.name = None;
        Ok(())
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = self.dir.remove_file(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use ambit_core::code::Code;

    #[test]
    fn a_write_that_does_not_finish_leaves_the_old_content_and_nothing_else() {
        let fixture = Fixture::new(&[("a/old.txt", "old")]);
        let place = fixture.bounds.locate("a/old.txt").unwrap();
        let target = Target::open(&fixture.bounds, &place).unwrap();
        let stop = Stop::default();
        stop.set();
        let failure = target.replace(b"new", &stop).unwrap_err();
        assert_eq!(failure.code, Code::Cancelled);
        assert_eq!(fixture.content("a/old.txt"), "old");
        assert_eq!(fixture.names("a"), ["old.txt"]);
    }

    #[test]
    fn a_name_that_cannot_be_created_leaves_nothing() {
        let fixture = Fixture::new(&[("a/old.txt", "old")]);
        let name = format!("a/{}", "x".repeat(300));
        let place = fixture.bounds.locate(&name).unwrap();
        let written = Target::open(&fixture.bounds, &place)
            .and_then(|it| it.replace(b"new", &Stop::default()));
        assert!(written.is_err());
        assert_eq!(fixture.names("a"), ["old.txt"]);
    }
}
