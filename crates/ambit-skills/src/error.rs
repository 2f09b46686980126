//! Why a skill was not loaded, or a file of it not read.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::problem::SkillProblem;

/// Why a skill was not loaded, or a file of it not read.
#[derive(Debug, Error)]
pub enum SkillError {
    /// The folder, or something in it, cannot be read.
    #[error("cannot read `{path}`")]
    Unreadable {
        /// What.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The skill was fine when it was found and is not any more.
    #[error("the skill in `{path}` is broken: {problem}")]
    Broken {
        /// Its folder.
        path: PathBuf,
        /// What is wrong now.
        problem: SkillProblem,
    },
    /// More files, folders and links than are looked at.
    #[error("`{path}` holds more than {limit} files and folders")]
    TooManyFiles {
        /// The skill's folder.
        path: PathBuf,
        /// How many are looked at.
        limit: usize,
    },
    /// More bytes than are read.
    #[error("`{path}` holds more than {limit} bytes")]
    TooManyBytes {
        /// The skill's folder.
        path: PathBuf,
        /// How many are read.
        limit: u64,
    },
    /// A path that is absolute, goes up, or leads out through a link.
    #[error("`{file}` is not inside the folder of skill `{skill}`")]
    NotInFolder {
        /// The skill's name.
        skill: String,
        /// The path asked for.
        file: String,
    },
    /// No such file when the skill was loaded.
    #[error("skill `{skill}` has no file `{file}`")]
    NoSuchFile {
        /// The skill's name.
        skill: String,
        /// The path asked for.
        file: String,
    },
    /// The file is not what it was when the skill was loaded.
    #[error("`{file}` of skill `{skill}` has changed since the skill was loaded")]
    Changed {
        /// The skill's name.
        skill: String,
        /// The path asked for.
        file: String,
    },
}

impl SkillError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            SkillError::Unreadable { .. } => return None,
            SkillError::Broken { problem, .. } => return problem.hint(),
            SkillError::TooManyFiles { .. } | SkillError::TooManyBytes { .. } => {
                "move what the skill does not need (caches, dependencies, data) out of its folder"
            }
            SkillError::NotInFolder { .. } => "name a file relative to the skill's folder",
            SkillError::NoSuchFile { .. } => "loading the skill lists its files",
            SkillError::Changed { .. } => "load the skill again",
        })
    }
}
