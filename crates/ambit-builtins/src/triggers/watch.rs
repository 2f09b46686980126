//! What watched files look like: a digest of their names, sizes and times. Looked at again and
//! again rather than listened to, because that works the same on every file system and through
//! every restart.

use std::path::Path;
use std::time::UNIX_EPOCH;

use ambit_core::digest::Digest;
use globset::GlobMatcher;
use ignore::WalkBuilder;

/// Most entries of a workspace that are looked at. What lies behind them is not watched.
const MOST_ENTRIES: usize = 50_000;

/// What the files a pattern names look like now. Links are not followed, and what `.gitignore`
/// leaves out is left out.
pub(super) fn look(workspace: &Path, glob: &GlobMatcher) -> String {
    let walk = WalkBuilder::new(workspace)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .sort_by_file_name(|a, b| a.cmp(b))
        .filter_entry(|it| it.file_name() != ".git")
        .build();
    let mut looks = String::new();
    for entry in walk.flatten().take(MOST_ENTRIES) {
        let Ok(path) = entry.path().strip_prefix(workspace) else {
            continue;
        };
        let is_file = entry.file_type().is_some_and(|it| it.is_file());
        if !is_file || !glob.is_match(path) {
            continue;
        }
        // One that is gone by now will be missed the next time.
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        let modified = metadata.modified().ok();
        let modified = modified.and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        let modified = modified.map_or(0, |it| it.as_nanos());
        looks.push_str(&format!("{path:?} {} {modified}\n", metadata.len()));
    }
    Digest::of_bytes(looks.as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::schedule::Schedule;
    use super::*;

    #[test]
    fn only_what_the_pattern_names_makes_a_difference() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("docs/deep")).unwrap();
        fs::write(root.join(".gitignore"), "built.md\n").unwrap();
        let Schedule::Watch { glob, .. } = Schedule::watch("./docs/**/*.md").unwrap() else {
            panic!("a pattern is watched");
        };
        let mut before = look(root, &glob);
        for (path, differs) in [
            ("docs/a.md", true),
            ("docs/deep/b.md", true),
            ("docs/a.txt", false),
            ("a.md", false),
            ("docs/built.md", false),
        ] {
            fs::write(root.join(path), path).unwrap();
            let now = look(root, &glob);
            assert_eq!(now != before, differs, "{path}");
            before = now;
        }
        fs::write(root.join("docs/a.md"), "longer than it was").unwrap();
        let longer = look(root, &glob);
        assert_ne!(longer, before);
        fs::remove_file(root.join("docs/a.md")).unwrap();
        assert_ne!(look(root, &glob), longer);
    }
}
