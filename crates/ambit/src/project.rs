//! What kind of project a folder holds, by the files that mark it.

use std::collections::BTreeSet;
use std::path::Path;

/// Files that mark a kind of project, and words capabilities for it use.
const MARKERS: [(&str, &str); 14] = [
    ("Cargo.toml", "rust cargo"),
    ("package.json", "javascript node npm"),
    ("tsconfig.json", "typescript"),
    ("pyproject.toml", "python"),
    ("requirements.txt", "python"),
    ("go.mod", "go golang"),
    ("pom.xml", "java maven"),
    ("build.gradle", "java gradle"),
    ("Gemfile", "ruby"),
    ("composer.json", "php"),
    ("CMakeLists.txt", "cpp cmake"),
    ("Dockerfile", "docker container"),
    ("docker-compose.yml", "docker container"),
    ("main.tf", "terraform"),
];

/// The kinds of project in a folder. Looks at names only.
pub fn project_kinds(folder: &Path) -> BTreeSet<String> {
    let marked = MARKERS
        .iter()
        .filter(|(file, _)| folder.join(file).is_file());
    marked.map(|(_, words)| (*words).to_owned()).collect()
}
