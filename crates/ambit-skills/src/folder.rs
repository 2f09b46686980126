//! One skill's folder, and reading inside it without ever leaving it.
//!
//! Every read goes through a directory handle that resolves `..` and links itself and refuses
//! to step out, so a skill full of links to `/` reads as a skill full of refusals.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;

use crate::problem::{SkillProblem, clip};
use crate::root::{RootTrust, SkillRoot};
use crate::validate::MAX_SKILL_MD;

/// Upper case is the format's; lower case is accepted by its validator.
const SKILL_MD_NAMES: [&str; 2] = ["SKILL.md", "skill.md"];

/// A skill's folder in its root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFolder {
    root: Arc<SkillRoot>,
    name: OsString,
}

impl SkillFolder {
    pub(crate) fn new(root: Arc<SkillRoot>, name: OsString) -> Self {
        SkillFolder { root, name }
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.root.path().join(&self.name)
    }

    /// Who vouches for it.
    pub fn trust(&self) -> RootTrust {
        self.root.trust()
    }

    /// The one agent it is for, if it is not for all.
    pub fn only_for(&self) -> Option<&str> {
        self.root.only_for()
    }

    /// The name a skill in it must have.
    pub(crate) fn name(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }

    pub(crate) fn open(&self) -> Result<Dir, ReadRefusal> {
        self.root
            .open(Path::new(&self.name))
            .map_err(|error| ReadRefusal::from_io(&self.name, error))
    }
}

/// Why something was not read.
#[derive(Debug)]
pub(crate) enum ReadRefusal {
    NotFound,
    NotAFolder(String),
    NotAFile(String),
    Leaves(String),
    TooLarge { bytes: u64, limit: u64 },
    Io(io::Error),
}

impl ReadRefusal {
    pub(crate) fn from_io(path: &OsStr, error: io::Error) -> Self {
        let path = || clip(&path.to_string_lossy());
        match error.kind() {
            io::ErrorKind::NotFound => ReadRefusal::NotFound,
            io::ErrorKind::NotADirectory => ReadRefusal::NotAFolder(path()),
            io::ErrorKind::IsADirectory => ReadRefusal::NotAFile(path()),
            // An escape is refused by the handle, not by the system: there is no system error.
            io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
                ReadRefusal::Leaves(path())
            }
            _ => ReadRefusal::Io(error),
        }
    }
}

impl From<ReadRefusal> for SkillProblem {
    fn from(refusal: ReadRefusal) -> Self {
        match refusal {
            ReadRefusal::NotFound => SkillProblem::MissingSkillMd,
            ReadRefusal::NotAFolder(path) => SkillProblem::NotAFolder(path),
            ReadRefusal::NotAFile(path) => SkillProblem::NotAFile(path),
            ReadRefusal::Leaves(path) => SkillProblem::LeavesFolder(path),
            ReadRefusal::TooLarge { bytes, limit } => SkillProblem::TooLarge { bytes, limit },
            ReadRefusal::Io(error) => SkillProblem::Unreadable(error.to_string()),
        }
    }
}

/// A whole regular file of at most `limit` bytes.
pub(crate) fn read_file(dir: &Dir, path: &Path, limit: u64) -> Result<Vec<u8>, ReadRefusal> {
    let refused = |error| ReadRefusal::from_io(path.as_os_str(), error);
    // Looked at before it is opened: opening a pipe would wait for a writer.
    let metadata = dir.metadata(path).map_err(refused)?;
    if !metadata.is_file() {
        return Err(ReadRefusal::NotAFile(clip(&path.to_string_lossy())));
    }
    let bytes = metadata.len();
    if bytes > limit {
        return Err(ReadRefusal::TooLarge { bytes, limit });
    }
    let file = dir.open(path).map_err(refused)?;
    let mut content = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0));
    // It may have grown since.
    let mut bounded = file.take(limit.saturating_add(1));
    bounded.read_to_end(&mut content).map_err(refused)?;
    let bytes = content.len() as u64;
    if bytes > limit {
        return Err(ReadRefusal::TooLarge { bytes, limit });
    }
    Ok(content)
}

/// The bytes of `SKILL.md`.
pub(crate) fn read_skill_md(dir: &Dir) -> Result<Vec<u8>, ReadRefusal> {
    read_file(dir, skill_md_path(dir)?, MAX_SKILL_MD)
}

/// The name `SKILL.md` has here.
pub(crate) fn skill_md_path(dir: &Dir) -> Result<&'static Path, ReadRefusal> {
    for name in SKILL_MD_NAMES {
        match dir.metadata(name) {
            Ok(_) => return Ok(Path::new(name)),
            Err(error) => match ReadRefusal::from_io(OsStr::new(name), error) {
                ReadRefusal::NotFound => {}
                refusal => return Err(refusal),
            },
        }
    }
    Err(ReadRefusal::NotFound)
}
