//! Finds the skills of some roots: which there are, which of two wins, what is wrong with the
//! rest.
//!
//! Precedence is the root's trust, then the order of the roots, then the folder's name, so
//! the outcome depends on the roots' content alone. A name belongs to the first valid skill
//! that has it; a later one is shadowed, and one that merely looks alike is refused.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ambit_core::digest::Digest;
use ambit_core::id::{CapabilityId, IdError, skeleton};

use crate::folder::{ReadRefusal, SkillFolder, read_skill_md};
use crate::frontmatter::Frontmatter;
use crate::hints::Hints;
use crate::problem::SkillProblem;
use crate::root::{RootTrust, SkillRoot};
use crate::validate::{Checked, ValidSkillMd, check_skill_md};

/// How many folders of one root are looked at.
pub const MAX_SKILLS_PER_ROOT: usize = 1_000;
/// How much of a body is indexed. The format advises bodies of about 20 KB at most.
pub const MAX_INDEX_TEXT: usize = 32 << 10;

/// A skill that can be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// `skill__name`.
    pub id: CapabilityId,
    /// What it says about itself.
    pub frontmatter: Frontmatter,
    /// What it tells the discovery policy and the agent runner.
    pub hints: Hints,
    /// Where it is, and who vouches for it.
    pub folder: SkillFolder,
    /// Of `SKILL.md` as scanned: changes when the index line may have. Approval is given to
    /// the whole folder's digest instead, which loading computes.
    pub skill_md: Digest,
    /// The start of the body, for search. Never shown: to show a body, load the skill.
    pub index_text: String,
}

impl Skill {
    /// The name, in NFKC.
    pub fn name(&self) -> &str {
        &self.frontmatter.name
    }

    /// Who vouches for it.
    pub fn trust(&self) -> RootTrust {
        self.folder.trust()
    }

    /// The one agent it is for, if it is not for all.
    pub fn only_for(&self) -> Option<&str> {
        self.folder.only_for()
    }

    /// What everybody may see of it: name and description on one line.
    pub fn index_line(&self) -> String {
        let mut line = format!("{}:", self.name());
        for word in self.frontmatter.description.split_whitespace() {
            line.push(' ');
            line.push_str(word);
        }
        line
    }
}

/// A valid skill whose name another skill has first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadowed {
    /// The name of both.
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
    /// The folder of the skill with precedence.
    pub by: PathBuf,
}

/// A problem and the folder or root that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundProblem {
    /// The folder or root.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: SkillProblem,
}

/// What some roots hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillSet {
    /// By name.
    pub skills: Vec<Skill>,
    /// In the order of precedence.
    pub shadowed: Vec<Shadowed>,
    /// In the order of precedence: errors of skipped skills, warnings of the others.
    pub problems: Vec<FoundProblem>,
}

impl SkillSet {
    /// The skill of a name.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        let at = self
            .skills
            .binary_search_by(|it| it.name().cmp(name))
            .ok()?;
        self.skills.get(at)
    }
}

/// Reads the roots. A root that does not exist has no skills.
pub fn scan(roots: &[SkillRoot]) -> SkillSet {
    let mut by_precedence: Vec<&SkillRoot> = roots.iter().collect();
    by_precedence.sort_by_key(|root| Reverse(root.trust()));
    let mut scan = Scan::default();
    for root in by_precedence {
        scan.root(root);
    }
    let mut set = scan.set;
    set.skills.sort_by(|a, b| a.name().cmp(b.name()));
    set
}

/// Judges one folder by itself, as the public validator's command does.
pub fn validate_folder(path: &Path) -> Vec<SkillProblem> {
    let unreadable = |error: io::Error| vec![SkillProblem::Unreadable(error.to_string())];
    // `.` has a name too.
    let path = match path.file_name() {
        Some(_) => path.to_owned(),
        None => match fs::canonicalize(path) {
            Ok(path) => path,
            Err(error) => return unreadable(error),
        },
    };
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return vec![SkillProblem::MissingSkillMd];
    };
    if let Err(error) = fs::metadata(&path) {
        return unreadable(error);
    }
    let folder = SkillFolder::new(Arc::new(SkillRoot::user(parent)), name.to_owned());
    match read_skill(&folder) {
        Ok((_, checked)) => checked.problems,
        Err(refusal) => vec![refusal.into()],
    }
}

#[derive(Default)]
struct Scan {
    set: SkillSet,
    /// Who has a name, or one that looks like it.
    taken: BTreeMap<String, Taken>,
}

struct Taken {
    name: String,
    path: PathBuf,
}

impl Scan {
    fn problem(&mut self, path: PathBuf, problem: SkillProblem) {
        self.set.problems.push(FoundProblem { path, problem });
    }

    fn root(&mut self, root: &SkillRoot) {
        let folders = match list_folders(root) {
            Ok(folders) => folders,
            Err(ReadRefusal::NotFound) => return,
            Err(refusal) => return self.problem(root.path().to_owned(), refusal.into()),
        };
        if folders.left_out > 0 {
            let problem = SkillProblem::TooManySkills {
                limit: MAX_SKILLS_PER_ROOT,
                left_out: folders.left_out,
            };
            self.problem(root.path().to_owned(), problem);
        }
        let root = Arc::new(root.clone());
        for name in folders.names {
            self.folder(SkillFolder::new(root.clone(), name));
        }
    }

    fn folder(&mut self, folder: SkillFolder) {
        let (bytes, checked) = match read_skill(&folder) {
            Ok(read) => read,
            // A link to a file is no more a skill than a file is.
            Err(ReadRefusal::NotAFolder(_)) => return,
            Err(refusal) => return self.problem(folder.path(), refusal.into()),
        };
        for problem in checked.problems {
            self.problem(folder.path(), problem);
        }
        if let Some(valid) = checked.valid {
            self.skill(folder, &bytes, valid);
        }
    }

    fn skill(&mut self, folder: SkillFolder, bytes: &[u8], valid: ValidSkillMd) {
        let name = &valid.frontmatter.name;
        let path = folder.path();
        let looks = skeleton(name);
        match self.taken.get(&looks) {
            Some(taken) if taken.name != *name => {
                let problem = SkillProblem::LooksLike {
                    name: name.clone(),
                    other: taken.name.clone(),
                };
                self.problem(path, problem);
            }
            // Two roots often are one folder, linked. That shadows nothing.
            Some(taken) if is_same_folder(&taken.path, &path) => {}
            Some(taken) => self.set.shadowed.push(Shadowed {
                name: name.clone(),
                path,
                by: taken.path.clone(),
            }),
            None => match skill_id(name) {
                Ok(id) => {
                    let name = name.clone();
                    self.taken.insert(looks, Taken { name, path });
                    let mut index_text = valid.body;
                    index_text.truncate(index_text.floor_char_boundary(MAX_INDEX_TEXT));
                    index_text.shrink_to_fit();
                    self.set.skills.push(Skill {
                        id,
                        frontmatter: valid.frontmatter,
                        hints: valid.hints,
                        folder,
                        skill_md: Digest::of_bytes(bytes),
                        index_text,
                    });
                }
                Err(error) => self.problem(path, SkillProblem::Unreadable(error.to_string())),
            },
        }
    }
}

/// Names outside the alphabet of ids keep what they can, and a hash keeps them apart.
fn skill_id(name: &str) -> Result<CapabilityId, IdError> {
    CapabilityId::skill(name).or_else(|_| {
        let ascii: String = name.chars().filter(char::is_ascii).collect();
        let hash = Digest::of_bytes(name.as_bytes()).short();
        CapabilityId::skill(format!("{}-{hash}", ascii.trim_matches('-')).trim_start_matches('-'))
    })
}

fn is_same_folder(a: &Path, b: &Path) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

struct Folders {
    names: BTreeSet<OsString>,
    left_out: usize,
}

/// The first folders of a root by name, however the system lists them. Links count, whatever
/// they turn out to be; hidden entries are somebody's bookkeeping.
fn list_folders(root: &SkillRoot) -> Result<Folders, ReadRefusal> {
    let refused = |error| ReadRefusal::from_io(root.path().as_os_str(), error);
    let mut folders = Folders {
        names: BTreeSet::new(),
        left_out: 0,
    };
    let dir = root.open(Path::new("")).map_err(refused)?;
    for entry in dir.entries().map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let kind = entry.file_type().map_err(refused)?;
        let name = entry.file_name();
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        if is_hidden || !(kind.is_dir() || kind.is_symlink()) {
            continue;
        }
        folders.names.insert(name);
        if folders.names.len() > MAX_SKILLS_PER_ROOT {
            folders.names.pop_last();
            folders.left_out += 1;
        }
    }
    Ok(folders)
}

/// Judges a `SKILL.md` as one of this folder: what it says of tools counts only where its root
/// may speak of them.
pub(crate) fn check_in(folder: &SkillFolder, bytes: &[u8]) -> Checked {
    let mut checked = check_skill_md(bytes, &folder.name());
    if let Some(valid) = checked.valid.as_mut()
        && !folder.trust().speaks_of_tools()
    {
        valid.frontmatter.allowed_tools.clear();
    }
    checked
}

fn read_skill(folder: &SkillFolder) -> Result<(Vec<u8>, Checked), ReadRefusal> {
    let bytes = read_skill_md(&folder.open()?)?;
    let checked = check_in(folder, &bytes);
    Ok((bytes, checked))
}
