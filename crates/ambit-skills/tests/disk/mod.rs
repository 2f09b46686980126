//! Skills written to temporary folders.

use std::fs;
use std::path::Path;

use ambit_skills::root::SkillRoot;
use ambit_skills::scan::{SkillSet, scan};
use tempfile::{TempDir, tempdir};

pub(crate) fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

pub(crate) fn write_skill(root: &Path, name: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: The {name} skill.\n---\n{body}");
    write(root, &format!("{name}/SKILL.md"), text);
}

/// One user root with one skill, `it`.
pub(crate) fn one_skill() -> TempDir {
    let root = tempdir().unwrap();
    write_skill(root.path(), "it", "Do it.");
    root
}

pub(crate) fn scan_user(root: &Path) -> SkillSet {
    scan(&[SkillRoot::user(root)])
}

/// Names and problems, in a form that reads well when it differs.
pub(crate) fn summary(set: &SkillSet) -> (Vec<&str>, Vec<String>) {
    let names = set.skills.iter().map(|it| it.name()).collect();
    let problems = set
        .problems
        .iter()
        .map(|it| {
            let name = it.path.file_name().unwrap_or_default().to_string_lossy();
            format!("{name}: {}", it.problem)
        })
        .collect();
    (names, problems)
}
