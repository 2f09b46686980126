//! Folders with skills, those Ambit reads and those only their client does.

use std::path::{Path, PathBuf};

/// Where clients keep skills, below the home and below a project.
const FOLDERS: [&str; 7] = [
    ".agents/skills",
    ".claude/skills",
    ".codex/skills",
    ".cursor/skills",
    ".gemini/skills",
    ".config/opencode/skills",
    ".opencode/skills",
];

/// A folder with skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFolder {
    /// The folder.
    pub path: PathBuf,
    /// How many skills are in it.
    pub skills: usize,
    /// Whether Ambit reads it.
    pub is_read: bool,
}

/// Folders with skills below the home and the project. `read` are those Ambit looks into.
pub fn skill_folders(home: &Path, project: &Path, read: &[&Path]) -> Vec<SkillFolder> {
    let mut bases = vec![home];
    if project != home {
        bases.push(project);
    }
    let folders = bases
        .into_iter()
        .flat_map(|base| FOLDERS.map(|it| base.join(it)));
    folders
        .map(|path| SkillFolder {
            skills: count(&path),
            is_read: read.contains(&path.as_path()),
            path,
        })
        .filter(|it| it.skills > 0)
        .collect()
}

fn count(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|it| it.path().join("SKILL.md").is_file())
        .count()
}
