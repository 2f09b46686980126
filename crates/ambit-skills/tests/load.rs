//! Skills on disk: digested, loaded, and never left.

// Helpers are test code too.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::indexing_slicing)]

mod disk;

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

use ambit_skills::error::SkillError;
use ambit_skills::load::{FileContent, LoadedSkill, Page, folder_digest, load};
use disk::{one_skill, scan_user, summary, write, write_skill};
use tempfile::tempdir;

fn load_it(root: &Path) -> Result<LoadedSkill, SkillError> {
    load(scan_user(root).get("it").expect("a skill `it`"))
}

#[test]
fn links_out_of_a_skill_read_nothing() {
    let root = one_skill();
    let it = root.path().join("it");
    write(root.path(), "secret.txt", "secret");
    write(&it, "refs/a.md", "inside");
    for n in 0..200 {
        symlink("/", it.join(format!("root{n}"))).unwrap();
    }
    symlink("/etc/passwd", it.join("passwd")).unwrap();
    symlink("../secret.txt", it.join("up")).unwrap();
    symlink("../../secret.txt", it.join("refs/up")).unwrap();
    symlink("refs/a.md", it.join("alias")).unwrap();
    symlink("refs", it.join("dir-alias")).unwrap();
    symlink("loop", it.join("loop")).unwrap();
    symlink("gone", it.join("gone-link")).unwrap();
    let loaded = load_it(root.path()).unwrap();
    let listed: Vec<_> = loaded.resources.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(listed, ["refs/a.md"]);

    for file in ["refs/a.md", "./refs/a.md", "alias", "dir-alias/a.md"] {
        let page = loaded.read_file(file, Page::default()).unwrap();
        assert_eq!(page.content, FileContent::Text("inside".into()), "{file}");
    }
    for file in [
        "passwd",
        "up",
        "refs/up",
        "root0/etc/passwd",
        "root7",
        "../secret.txt",
        "..",
        "refs/../SKILL.md",
        "/etc/passwd",
        "refs/../../secret.txt",
        "a\0b",
    ] {
        let error = loaded.read_file(file, Page::default()).unwrap_err();
        assert!(
            matches!(error, SkillError::NotInFolder { .. }),
            "{file}: {error:?}"
        );
    }
    for file in ["", ".", "refs", "none", "gone-link", "refs/a.md/x"] {
        let error = loaded.read_file(file, Page::default()).unwrap_err();
        assert!(
            matches!(error, SkillError::NoSuchFile { .. }),
            "{file}: {error:?}"
        );
    }
    assert!(loaded.read_file("loop", Page::default()).is_err());
}

#[test]
fn a_skill_md_may_be_a_link_inside_its_folder() {
    let root = tempdir().unwrap();
    write(
        root.path(),
        "it/docs/it.md",
        "---\nname: it\ndescription: x\n---\nBody.",
    );
    symlink("docs/it.md", root.path().join("it/SKILL.md")).unwrap();
    let loaded = load_it(root.path()).unwrap();
    assert_eq!((loaded.body.as_str(), loaded.resources.len()), ("Body.", 0));
}

#[test]
fn a_pipe_is_not_waited_for() {
    let root = one_skill();
    let pipe = root.path().join("it/pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(made.success());
    let loaded = load_it(root.path()).unwrap();
    assert!(loaded.resources.is_empty());
    assert!(loaded.read_file("pipe", Page::default()).is_err());
    fs::create_dir(root.path().join("piped")).unwrap();
    fs::rename(&pipe, root.path().join("piped/SKILL.md")).unwrap();
    let (_, problems) = summary(&scan_user(root.path()));
    assert_eq!(problems, ["piped: `SKILL.md` is not a regular file"]);
}

#[test]
fn any_change_changes_the_digest_and_nothing_else_does() {
    let root = one_skill();
    let it = root.path().join("it");
    let set = scan_user(root.path());
    let digest = || folder_digest(set.get("it").unwrap()).unwrap();
    let mut seen = vec![digest()];
    let mut changed = |what: &str| {
        let now = digest();
        assert!(!seen.contains(&now), "{what}");
        seen.push(now);
    };
    write(&it, "a/b", "1");
    changed("a file added");
    write(&it, "a/b", "2");
    changed("a file edited");
    fs::rename(it.join("a/b"), it.join("a/c")).unwrap();
    changed("a file renamed");
    symlink("/etc", it.join("link")).unwrap();
    changed("a link added");
    fs::remove_file(it.join("link")).unwrap();
    symlink("/usr", it.join("link")).unwrap();
    changed("a link turned");
    write(&it, "link2", "/usr");
    changed("a file that says what a link says");
    write_skill(root.path(), "it", "Do it otherwise.");
    changed("the body edited");

    let copy = tempdir().unwrap();
    write_skill(copy.path(), "it", "Do it otherwise.");
    let copied = copy.path().join("it");
    write(&copied, "link2", "/usr");
    symlink("/usr", copied.join("link")).unwrap();
    write(&copied, "a/c", "2");
    assert_eq!(load_it(copy.path()).unwrap().digest, digest());
}

#[test]
fn what_changed_after_loading_is_not_read() {
    let root = one_skill();
    let it = root.path().join("it");
    write(&it, "run.sh", "echo good");
    write(&it, "ref.md", "text");
    let loaded = load_it(root.path()).unwrap();
    write(&it, "run.sh", "echo evil");
    fs::remove_file(it.join("ref.md")).unwrap();
    symlink("run.sh", it.join("ref.md")).unwrap();
    write(&it, "new.md", "new");
    for (file, expected) in [
        ("run.sh", "has changed"),
        ("ref.md", "has changed"),
        ("new.md", "has no file"),
    ] {
        let error = loaded.read_file(file, Page::default()).unwrap_err();
        assert!(error.to_string().contains(expected), "{file}: {error}");
    }
    write(&it, "SKILL.md", "no frontmatter any more");
    let set = scan_user(root.path());
    assert!(set.get("it").is_none());
}

#[test]
fn a_skill_that_broke_after_the_scan_says_so() {
    let root = one_skill();
    let set = scan_user(root.path());
    let check = |expected: &str| {
        let error = load(set.get("it").unwrap()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    write(
        root.path(),
        "it/SKILL.md",
        "---\nname: other\ndescription: x\ncolor: red\n---\n",
    );
    check("differs from its folder");
    write(root.path(), "it/SKILL.md", vec![b'x'; 2 << 20]);
    check("more than 1048576");
    fs::remove_file(root.path().join("it/SKILL.md")).unwrap();
    check("missing required file");
    fs::remove_dir(root.path().join("it")).unwrap();
    check("missing required file");
}

#[test]
fn a_skill_too_large_to_digest_is_not_loaded() {
    let root = one_skill();
    let it = root.path().join("it");
    for n in 0..3 {
        let file = File::create(it.join(format!("big{n}"))).unwrap();
        file.set_len(30 << 20).unwrap();
    }
    let error = load_it(root.path()).unwrap_err();
    assert!(
        matches!(error, SkillError::TooManyBytes { .. }),
        "{error:?}"
    );
    for n in 0..3 {
        fs::remove_file(it.join(format!("big{n}"))).unwrap();
    }
    for n in 0..2_000 {
        write(&it, &format!("many/{n}"), "");
    }
    let error = load_it(root.path()).unwrap_err();
    assert!(
        matches!(error, SkillError::TooManyFiles { .. }),
        "{error:?}"
    );
    assert!(error.hint().is_some());
}

#[test]
fn files_are_read_page_by_page() {
    let root = one_skill();
    let text = "aäöü€😀z".repeat(3);
    write(root.path(), "it/text", &text);
    write(root.path(), "it/data", [0xff, 1, 2, 3, 4, 5]);
    let loaded = load_it(root.path()).unwrap();
    for limit in [0, 4, 5, 7, 1_000_000] {
        let mut read = String::new();
        let mut next = Some(0);
        while let Some(offset) = next {
            let page = loaded.read_file("text", Page { offset, limit }).unwrap();
            let FileContent::Text(part) = page.content else {
                panic!("not text")
            };
            assert!(!part.is_empty());
            read += &part;
            next = page.next_offset;
        }
        assert_eq!(read, text, "{limit}");
    }
    let data = loaded
        .read_file(
            "data",
            Page {
                offset: 4,
                limit: 9,
            },
        )
        .unwrap();
    assert_eq!(
        (data.content, data.next_offset, data.size),
        (FileContent::Binary(vec![4, 5]), None, 6)
    );
    let past = loaded
        .read_file(
            "text",
            Page {
                offset: u64::MAX,
                limit: 9,
            },
        )
        .unwrap();
    assert_eq!(past.content, FileContent::Text(String::new()));
    assert_eq!(
        loaded.render(),
        format!(
            "Do it.\n\nFiles of this skill:\n- data (6 bytes)\n- text ({} bytes)\n",
            text.len()
        )
    );
}
