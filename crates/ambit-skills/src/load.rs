//! Loads a skill: the body in full, its files by name, and the digest that was approved.
//!
//! Whoever loads checks [`LoadedSkill::digest`] before showing the rest. The body and
//! frontmatter are of the very bytes in the digest, and files are read only as long as they
//! are what the digest covers.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use ambit_core::digest::Digest;
use ambit_core::id::CapabilityId;
use ambit_runtime::skill::frontmatter as written_frontmatter;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::SkillError;
use crate::folder::{ReadRefusal, SkillFolder, read_file};
use crate::frontmatter::Frontmatter;
use crate::hints::Hints;
use crate::problem::{SkillProblem, clip};
use crate::root::RootTrust;
use crate::scan::{Skill, check_in};
use crate::snapshot::{FileState, Snapshot, snapshot};

/// The most bytes of a file one read hands out.
pub const MAX_PAGE: usize = 64 << 10;
/// How many files the rendered skill names.
const SHOWN_RESOURCES: usize = 100;

/// A file beside `SKILL.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResourceFile {
    /// Relative to the skill's folder.
    pub path: String,
    /// In bytes.
    pub size: u64,
}

/// A skill's content at the moment it was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedSkill {
    /// `skill__name`.
    pub id: CapabilityId,
    /// Of the bytes that were digested, which may be newer than the scan.
    pub frontmatter: Frontmatter,
    /// Of the same bytes. A fork is for the agent runner to perform.
    pub hints: Hints,
    /// The instructions.
    pub body: String,
    /// The files beside `SKILL.md`, by path.
    pub resources: Vec<ResourceFile>,
    /// Of the whole folder: what approval is given to.
    pub digest: Digest,
    folder: SkillFolder,
    pub(crate) files: BTreeMap<PathBuf, FileState>,
    pub(crate) skill_md_path: PathBuf,
    /// The frontmatter as JSON, nothing in it left out or made plainer.
    pub(crate) head: Map<String, Value>,
}

/// Which part of a file to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// In bytes from the start; in text, moved back to the start of a character.
    pub offset: u64,
    /// In bytes; at most [`MAX_PAGE`], and at least the four that make one character.
    pub limit: usize,
}

impl Default for Page {
    fn default() -> Self {
        Page {
            offset: 0,
            limit: MAX_PAGE,
        }
    }
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileContent {
    /// The whole file is UTF-8.
    Text(String),
    /// It is not.
    Binary(Vec<u8>),
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePage {
    /// The part.
    pub content: FileContent,
    /// Where it starts.
    pub offset: u64,
    /// Where the next part starts, if there is one.
    pub next_offset: Option<u64>,
    /// Of the whole file.
    pub size: u64,
}

/// Loads the skill as it is now.
pub fn load(skill: &Skill) -> Result<LoadedSkill, SkillError> {
    let Snapshot {
        digest,
        files,
        skill_md_path,
        skill_md,
    } = snapshot(&skill.folder)?;
    let checked = check_in(&skill.folder, &skill_md);
    let valid = match checked.valid {
        Some(valid) => valid,
        None => {
            return Err(SkillError::Broken {
                path: skill.folder.path(),
                problem: checked
                    .problems
                    .into_iter()
                    .max_by_key(SkillProblem::severity)
                    .unwrap_or(SkillProblem::MissingSkillMd),
            });
        }
    };
    let resources = files
        .iter()
        .filter(|(path, _)| **path != skill_md_path)
        .map(|(path, state)| ResourceFile {
            path: path.to_string_lossy().into_owned(),
            size: state.size,
        })
        .collect();
    let written = std::str::from_utf8(&skill_md)
        .ok()
        .and_then(written_frontmatter);
    let head = written.unwrap_or_else(|| plain(&valid.frontmatter));
    Ok(LoadedSkill {
        id: skill.id.clone(),
        frontmatter: valid.frontmatter,
        hints: valid.hints,
        body: valid.body,
        resources,
        digest,
        folder: skill.folder.clone(),
        files,
        skill_md_path,
        head,
    })
}

/// For frontmatter only Ambit's own reader understands.
fn plain(frontmatter: &Frontmatter) -> Map<String, Value> {
    match serde_json::to_value(frontmatter) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// The digest approval is given to: of everything in the skill's folder as it is now.
pub fn folder_digest(skill: &Skill) -> Result<Digest, SkillError> {
    snapshot(&skill.folder).map(|it| it.digest)
}

impl LoadedSkill {
    /// Who vouches for it.
    pub fn trust(&self) -> RootTrust {
        self.folder.trust()
    }

    /// The skill as a model reads it: the body, then the files it can ask for.
    pub fn render(&self) -> String {
        let mut text = self.body.clone();
        if self.resources.is_empty() {
            return text;
        }
        text.push_str("\n\nFiles of this skill:\n");
        for file in self.resources.iter().take(SHOWN_RESOURCES) {
            // Writing to a string does not fail.
            let _ = writeln!(text, "- {} ({} bytes)", clip(&file.path), file.size);
        }
        let more = self.resources.len().saturating_sub(SHOWN_RESOURCES);
        if more > 0 {
            let _ = writeln!(text, "- and {more} more");
        }
        text
    }

    /// Reads a part of a file, named relative to the skill's folder.
    pub fn read_file(&self, relative: &str, page: Page) -> Result<FilePage, SkillError> {
        let content = self.whole_file(relative)?;
        let size = content.len();
        let start = usize::try_from(page.offset).unwrap_or(size).min(size);
        let end = start
            .saturating_add(page.limit.clamp(4, MAX_PAGE))
            .min(size);
        let (content, start, end) = match String::from_utf8(content) {
            Ok(text) => {
                let start = text.floor_char_boundary(start);
                let end = text.floor_char_boundary(end);
                let part = text.get(start..end).unwrap_or_default();
                (FileContent::Text(part.to_owned()), start, end)
            }
            Err(error) => {
                let part = error.as_bytes().get(start..end).unwrap_or_default();
                (FileContent::Binary(part.to_owned()), start, end)
            }
        };
        Ok(FilePage {
            content,
            offset: start as u64,
            next_offset: (end < size).then_some(end as u64),
            size: size as u64,
        })
    }

    pub(crate) fn whole_file(&self, relative: &str) -> Result<Vec<u8>, SkillError> {
        let skill = || self.frontmatter.name.clone();
        let file = || clip(relative);
        let outside = || SkillError::NotInFolder {
            skill: skill(),
            file: file(),
        };
        let missing = || SkillError::NoSuchFile {
            skill: skill(),
            file: file(),
        };
        let changed = || SkillError::Changed {
            skill: skill(),
            file: file(),
        };
        let refused = |refusal| match refusal {
            ReadRefusal::Leaves(_) => outside(),
            ReadRefusal::NotFound | ReadRefusal::NotAFolder(_) | ReadRefusal::NotAFile(_) => {
                missing()
            }
            ReadRefusal::TooLarge { .. } => changed(),
            ReadRefusal::Io(source) => SkillError::Unreadable {
                path: self.folder.path().join(relative),
                source,
            },
        };
        let path = Path::new(relative);
        let is_plain = |it| matches!(it, Component::Normal(_) | Component::CurDir);
        if relative.contains('\0') || !path.components().all(is_plain) {
            return Err(outside());
        }
        let dir = self.folder.open().map_err(refused)?;
        // Through links inside the folder, to the file that was digested. `metadata` goes
        // first because `canonicalize` stops silently where a link leads out.
        let path = dir
            .metadata(path)
            .and_then(|_| dir.canonicalize(path))
            .map_err(|error| refused(ReadRefusal::from_io(path.as_os_str(), error)))?;
        let state = self.files.get(&path).ok_or_else(missing)?;
        let content = read_file(&dir, &path, state.size).map_err(refused)?;
        if Digest::of_bytes(&content) == state.digest {
            Ok(content)
        } else {
            Err(changed())
        }
    }
}
