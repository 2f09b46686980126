//! A skill's folder at one moment: every file's digest, and one digest of them all.
//!
//! The folder's digest covers paths, contents and where links point. Links are recorded and
//! not followed, pipes and devices are recorded and not opened. What cannot be covered
//! wholly, for its size, has no digest, and so cannot be approved.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ambit_core::digest::Digest;
use cap_std::fs::Dir;

use crate::error::SkillError;
use crate::folder::{ReadRefusal, SkillFolder, read_file, skill_md_path};
use crate::validate::MAX_SKILL_MD;

/// Files, folders and links in one skill.
pub(crate) const MAX_ENTRIES: usize = 2_000;
/// Bytes of all files of one skill.
pub(crate) const MAX_BYTES: u64 = 64 << 20;

/// A regular file as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileState {
    pub(crate) size: u64,
    pub(crate) digest: Digest,
}

/// The folder as it was.
pub(crate) struct Snapshot {
    pub(crate) digest: Digest,
    pub(crate) files: BTreeMap<PathBuf, FileState>,
    /// Where `SKILL.md` really is: it may be a link to another file of the folder.
    pub(crate) skill_md_path: PathBuf,
    /// The bytes that were digested.
    pub(crate) skill_md: Vec<u8>,
}

enum Entry {
    File(FileState),
    Link(PathBuf),
    Special,
}

/// Takes the snapshot.
pub(crate) fn snapshot(folder: &SkillFolder) -> Result<Snapshot, SkillError> {
    let dir = folder
        .open()
        .map_err(|it| failed(folder, Path::new(""), it))?;
    let skill_md_path = skill_md_path(&dir)
        .and_then(|path| {
            dir.canonicalize(path)
                .map_err(|error| ReadRefusal::from_io(path.as_os_str(), error))
        })
        .map_err(|it| failed(folder, Path::new("SKILL.md"), it))?;
    let mut walk = Walk {
        folder,
        dir: &dir,
        entries: BTreeMap::new(),
        seen: 0,
        bytes_left: MAX_BYTES,
        skill_md: None,
        skill_md_path: &skill_md_path,
    };
    walk.run()?;
    let (entries, skill_md) = (walk.entries, walk.skill_md);
    let skill_md =
        skill_md.ok_or_else(|| failed(folder, Path::new("SKILL.md"), ReadRefusal::NotFound))?;
    Ok(Snapshot {
        digest: digest(&entries),
        files: entries
            .into_iter()
            .filter_map(|(path, entry)| match entry {
                Entry::File(state) => Some((path, state)),
                Entry::Link(_) | Entry::Special => None,
            })
            .collect(),
        skill_md_path,
        skill_md,
    })
}

fn digest(entries: &BTreeMap<PathBuf, Entry>) -> Digest {
    Digest::of_fields(entries.iter().flat_map(|(path, entry)| {
        let (kind, content): (&[u8], &[u8]) = match entry {
            Entry::File(state) => (b"file", state.digest.as_bytes()),
            Entry::Link(target) => (b"link", target.as_os_str().as_encoded_bytes()),
            Entry::Special => (b"special", b""),
        };
        [kind, path.as_os_str().as_encoded_bytes(), content]
    }))
}

struct Walk<'a> {
    folder: &'a SkillFolder,
    dir: &'a Dir,
    entries: BTreeMap<PathBuf, Entry>,
    seen: usize,
    bytes_left: u64,
    skill_md_path: &'a Path,
    skill_md: Option<Vec<u8>>,
}

impl Walk<'_> {
    fn run(&mut self) -> Result<(), SkillError> {
        let mut folders = vec![PathBuf::new()];
        while let Some(below) = folders.pop() {
            let refused = |error| {
                let refusal = ReadRefusal::from_io(below.as_os_str(), error);
                failed(self.folder, &below, refusal)
            };
            let list = if below.as_os_str().is_empty() {
                self.dir.entries()
            } else {
                self.dir.read_dir(&below)
            };
            let mut files = Vec::new();
            for entry in list.map_err(refused)? {
                let entry = entry.map_err(refused)?;
                self.seen += 1;
                if self.seen > MAX_ENTRIES {
                    return Err(SkillError::TooManyFiles {
                        path: self.folder.path(),
                        limit: MAX_ENTRIES,
                    });
                }
                let kind = entry.file_type().map_err(refused)?;
                let path = below.join(entry.file_name());
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_symlink() {
                    let target = self.dir.read_link_contents(&path).map_err(refused)?;
                    self.entries.insert(path, Entry::Link(target));
                } else if kind.is_file() {
                    files.push(path);
                } else {
                    self.entries.insert(path, Entry::Special);
                }
            }
            for path in files {
                let state = self.file(&path)?;
                self.entries.insert(path, Entry::File(state));
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<FileState, SkillError> {
        let is_skill_md = path == self.skill_md_path;
        let limit = if is_skill_md {
            MAX_SKILL_MD
        } else {
            self.bytes_left
        };
        let content = read_file(self.dir, path, limit).map_err(|refusal| match refusal {
            ReadRefusal::TooLarge { .. } if !is_skill_md => SkillError::TooManyBytes {
                path: self.folder.path(),
                limit: MAX_BYTES,
            },
            refusal => failed(self.folder, path, refusal),
        })?;
        let state = FileState {
            size: content.len() as u64,
            digest: Digest::of_bytes(&content),
        };
        self.bytes_left = self.bytes_left.saturating_sub(state.size);
        if is_skill_md {
            self.skill_md = Some(content);
        }
        Ok(state)
    }
}

/// What a refusal below the folder means for the whole skill.
fn failed(folder: &SkillFolder, below: &Path, refusal: ReadRefusal) -> SkillError {
    let path = folder.path();
    match refusal {
        ReadRefusal::Io(source) => SkillError::Unreadable {
            path: path.join(below),
            source,
        },
        refusal => SkillError::Broken {
            path,
            problem: refusal.into(),
        },
    }
}
