//! What can be changed and taken back: each a text that is there or not. Instructions and skills
//! are files a person can open; responsibilities are what was last kept of them.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use ambit_core::code::Code;
use ambit_core::digest::Digest;
use ambit_core::observation::Failure;

use super::Own;

/// A file larger than this is not one of these.
const MAX_BYTES: u64 = 1 << 20;

const INSTRUCTIONS: &str = "instructions.md";
const SKILLS: &str = "skills";
const SKILL_MD: &str = "SKILL.md";

/// One thing of an agent's own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Document {
    Instructions,
    Responsibilities,
    Skill(String),
}

impl Document {
    /// The word it is kept under.
    pub(super) fn word(&self) -> String {
        match self {
            Document::Instructions => "instructions".to_owned(),
            Document::Responsibilities => "responsibilities".to_owned(),
            Document::Skill(name) => format!("skill {name}"),
        }
    }

    pub(super) fn parse(word: &str) -> Option<Document> {
        match word {
            "instructions" => Some(Document::Instructions),
            "responsibilities" => Some(Document::Responsibilities),
            _ => {
                let name = word.strip_prefix("skill ")?;
                is_folder_name(name).then(|| Document::Skill(name.to_owned()))
            }
        }
    }
}

/// Whether a name leads to a folder right below another, and nowhere else. The format is stricter.
pub(super) fn is_folder_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.chars().all(|it| it.is_alphanumeric() || it == '-')
}

/// What tells one content from another.
pub(super) fn revision(content: &str) -> String {
    Digest::of_bytes(content.as_bytes()).short()
}

/// The file of an agent's own instructions.
pub(super) fn instructions_file(folder: &Path) -> PathBuf {
    folder.join(INSTRUCTIONS)
}

/// What a file says; nothing where there is none.
pub(super) fn read(path: &Path) -> io::Result<Option<String>> {
    let large = |it: &fs::Metadata| it.len() > MAX_BYTES;
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(it) if large(&it) => Err(io::Error::other("it is larger than a megabyte")),
        Ok(_) => fs::read_to_string(path).map(Some),
    }
}

impl Own {
    pub(super) fn skills_folder(&self) -> PathBuf {
        self.folder.join(SKILLS)
    }

    /// Where a document lies, if it is a file.
    pub(super) fn file(&self, document: &Document) -> Option<PathBuf> {
        match document {
            Document::Instructions => Some(instructions_file(&self.folder)),
            Document::Responsibilities => None,
            Document::Skill(name) => Some(self.skills_folder().join(name).join(SKILL_MD)),
        }
    }

    /// What it says now.
    pub(super) fn content(&self, document: &Document) -> Result<Option<String>, Failure> {
        match self.file(document) {
            Some(path) => read(&path).map_err(|error| unusable(&path, &error)),
            None => self.last_kept(document),
        }
    }

    /// Makes the file say this, or be gone.
    pub(super) fn put(&self, document: &Document, content: Option<&str>) -> Result<(), Failure> {
        let Some(path) = self.file(document) else {
            return Ok(());
        };
        let done = match content {
            Some(content) => replace(&path, content),
            None => remove(&path),
        };
        done.map_err(|error| unusable(&path, &error))?;
        if let (Document::Skill(_), Some(skills)) = (document, &self.skills) {
            skills.changed();
        }
        Ok(())
    }

    /// Nobody else changes what is any agent's own meanwhile, in any process.
    pub(super) fn lock(&self) -> Result<File, Failure> {
        let agents = self.folder.parent().unwrap_or(&self.folder);
        let path = agents.join(".lock");
        let locked = || -> io::Result<File> {
            private_folder(agents)?;
            let mut options = OpenOptions::new();
            let file = options.append(true).create(true).mode(0o600).open(&path)?;
            file.lock()?;
            Ok(file)
        };
        locked().map_err(|error| unusable(&path, &error))
    }
}

fn unusable(path: &Path, error: &io::Error) -> Failure {
    let message = format!("`{}` cannot be used: {error}", path.display());
    Failure::new(Code::ProviderFailed, message)
}

fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Whoever reads it sees the old content or the new.
fn replace(path: &Path, content: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    private_folder(folder)?;
    // Nobody else writes here: the lock is held.
    let draft = path.with_extension("md.new");
    let mut file = File::create(&draft)?;
    file.write_all(content.as_bytes())?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    File::open(folder)?.sync_all()
}

/// A folder goes with its last file. What a person put beside it stays.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    if path.ends_with(SKILL_MD)
        && let Some(folder) = path.parent()
    {
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}
