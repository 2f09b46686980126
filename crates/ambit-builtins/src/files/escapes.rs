//! No path leads out, and none to what controls the agent.

use std::fs;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use ambit_core::code::Code;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::bounds::Bounds;
use super::fixture::{CANARY, Fixture};

/// Every tool, pointed at one path.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({ "path": path })),
        ("list_dir", json!({ "path": path })),
        ("glob", json!({ "path": path, "pattern": "**" })),
        ("grep", json!({ "path": path, "pattern": "." })),
        (
            "write_file",
            json!({ "path": path, "content": "overwritten" }),
        ),
        (
            "edit_file",
            json!({ "path": path, "old_text": CANARY, "new_text": "edited" }),
        ),
    ]
}

/// Ways out: by `..`, by absolute path, by prefix, by every kind of link.
fn with_ways_out() -> Fixture {
    let fixture = Fixture::new(&[("in.txt", "inside"), ("dir/in.txt", "inside")]);
    fixture.link("file_out", "../outside/key.txt");
    fixture.link("dir_out", "../outside");
    fixture.link("absolute_out", fixture.path("../outside"));
    fixture.link("dir/up", "../..");
    fixture.link("chain", "dir/up/outside");
    fixture.link("loop", "loop");
    fixture.link("dangling_out", "../outside/new.txt");
    fixture.link("dir_in", "dir");
    fixture
}

fn outside_is_untouched(fixture: &Fixture) {
    for folder in ["../outside", "../allow_secret"] {
        assert_eq!(fixture.names(folder), [CANARY, "key.txt"]);
        assert_eq!(fixture.content(&format!("{folder}/key.txt")), CANARY);
    }
    assert_eq!(fixture.names(".."), ["allow", "allow_secret", "outside"]);
}

#[test]
fn ways_out_are_refused_and_named() {
    let fixture = with_ways_out();
    let absolute = fixture.path("../outside/key.txt");
    let collision = format!(
        "{}_secret/key.txt",
        fixture.path("").display().to_string().trim_end_matches('/')
    );
    for path in [
        "..",
        "../outside/key.txt",
        "../allow_secret/key.txt",
        "dir/../../outside/key.txt",
        "./dir/.././../outside",
        absolute.to_str().unwrap(),
        &collision,
        "/",
        "/etc/passwd",
        "file_out",
        "dir_out/key.txt",
        "dir_out",
        "absolute_out/key.txt",
        "dir/up/outside/key.txt",
        "chain/key.txt",
        "dir_in/up/outside/key.txt",
        "dangling_out",
    ] {
        for (tool, arguments) in calls(path) {
            let failure = fixture.call(tool, arguments).unwrap_err();
            assert_eq!(failure.code, Code::Refused, "{tool} {path}: {failure:?}");
            assert!(
                failure.message.contains("outside the allowed folders"),
                "{tool} {path}: {failure:?}"
            );
        }
    }
    for path in ["", "\0", "in.txt\0", "loop"] {
        for (tool, arguments) in calls(path) {
            assert!(fixture.call(tool, arguments).is_err(), "{tool} {path:?}");
        }
    }
    outside_is_untouched(&fixture);
}

#[test]
fn ways_in_are_open() {
    let fixture = with_ways_out();
    let absolute = fixture.path("in.txt");
    for path in [
        "in.txt",
        "./dir/../in.txt",
        "dir_in/in.txt",
        "../allow/in.txt",
        absolute.to_str().unwrap(),
    ] {
        assert_eq!(fixture.text("read_file", json!({ "path": path })), "inside");
    }
}

#[test]
fn a_workspace_known_by_a_link_may_be_named_by_it() {
    let fixture = Fixture::new(&[("in.txt", "inside")]);
    let known_by = fixture.path("../ws");
    std::os::unix::fs::symlink("allow", &known_by).unwrap();
    let bounds = Bounds::open(&known_by, &[".".into()], Vec::new()).unwrap();
    for path in [known_by.join("in.txt"), fixture.path("in.txt")] {
        let place = bounds.locate(path.to_str().unwrap()).unwrap();
        assert_eq!(place.shown, "in.txt");
    }
}

#[test]
fn only_the_configured_folders_count() {
    let files = [("a/x", "in a"), ("ab/x", CANARY), ("x", CANARY)];
    let fixture = Fixture::with(&files, &["a"], &[]);
    assert_eq!(fixture.text("read_file", json!({ "path": "a/x" })), "in a");
    for path in ["x", "ab/x", ".", "a/../x"] {
        for (tool, arguments) in calls(path) {
            let failure = fixture.call(tool, arguments).unwrap_err();
            assert_eq!(failure.code, Code::Refused, "{tool} {path}");
        }
    }
}

#[test]
fn a_folder_swapped_for_a_link_leads_nowhere() {
    let fixture = Fixture::new(&[("dir/key.txt", "inside")]);
    fs::rename(fixture.path("dir"), fixture.path("was")).unwrap();
    fixture.link("dir", "../outside");
    for (tool, arguments) in calls("dir/key.txt") {
        assert!(fixture.call(tool, arguments).is_err(), "{tool}");
    }
    outside_is_untouched(&fixture);
}

/// A folder that turns into a link and back all the time.
#[test]
#[cfg(target_os = "linux")]
fn a_folder_being_swapped_for_a_link_leads_nowhere() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    let fixture = Fixture::with(
        &[("out/key.txt", "inside"), ("guarded/conf", "as it was")],
        &["."],
        &["guarded"],
    );
    fixture.link("out_link", "../outside");
    fixture.link("in_link", "guarded");
    fs::create_dir(fixture.path("in")).unwrap();
    let done = AtomicBool::new(false);
    let swap = |a: &str, b: &str| {
        let (a, b) = (fixture.path(a), fixture.path(b));
        renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).unwrap();
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                swap("out", "out_link");
                swap("in", "in_link");
            }
        });
        for _ in 0..300 {
            for path in ["out/key.txt", "out", "out/new/x", "in/conf", "in/new/x"] {
                for (tool, arguments) in calls(path) {
                    let said = fixture.text(tool, arguments);
                    assert!(!said.contains(CANARY), "{tool} {path}: {said}");
                }
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    outside_is_untouched(&fixture);
    assert_eq!(fixture.names("guarded"), ["conf"]);
    assert_eq!(fixture.content("guarded/conf"), "as it was");
}

#[test]
fn control_files_are_read_and_never_written() {
    let files = [
        ("ambit.json", "CANARY"),
        (".agent/skills/a/SKILL.md", "CANARY"),
        ("real/conf.json", "CANARY"),
        ("free/x", "CANARY"),
    ];
    let control = [
        "ambit.json",
        ".agent/skills",
        "later/ambit.json",
        "conf-link.json",
    ];
    let fixture = Fixture::with(&files, &["."], &control);
    fixture.link("conf-link.json", "real/conf.json");
    fixture.link("to_file", "ambit.json");
    fixture.link("to_dir", ".agent");
    fixture.link("to_skills", ".agent/skills/");
    fs::hard_link(fixture.path("ambit.json"), fixture.path("hard")).unwrap();

    for path in [
        "ambit.json",
        "./free/../ambit.json",
        "to_file",
        "hard",
        ".agent/skills/a/SKILL.md",
        ".agent/skills/new/SKILL.md",
        "to_dir/skills/a/SKILL.md",
        "to_dir/skills/new.md",
        "to_skills/a/SKILL.md",
        "to_skills/b/c/d.md",
        "later/ambit.json",
        "conf-link.json",
        "real/conf.json",
    ] {
        for (tool, arguments) in calls(path).into_iter().skip(4) {
            let Err(failure) = fixture.call(tool, arguments) else {
                panic!("{tool} wrote {path}")
            };
            let missing = tool == "edit_file" && failure.message.ends_with("does not exist");
            assert!(
                missing || failure.message.contains("controls this agent"),
                "{tool} {path}: {failure:?}"
            );
        }
    }
    assert!(!fixture.path("later").exists());
    assert_eq!(fixture.names(".agent/skills"), ["a"]);
    for path in ["ambit.json", "real/conf.json", ".agent/skills/a/SKILL.md"] {
        assert_eq!(fixture.text("read_file", json!({ "path": path })), "CANARY");
    }
    for path in [
        "free/x",
        ".agent/skills-not",
        "ambit.json.bak",
        "later/other",
    ] {
        assert!(
            fixture
                .call("write_file", json!({ "path": path, "content": "" }))
                .is_ok()
        );
    }
}

/// One tree for all generated paths.
static TREE: LazyLock<Fixture> = LazyLock::new(with_ways_out);

fn segment() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "..",
        "..",
        ".",
        "",
        "/",
        "dir",
        "dir_in",
        "up",
        "in.txt",
        "file_out",
        "dir_out",
        "absolute_out",
        "chain",
        "loop",
        "dangling_out",
        "outside",
        "allow",
        "allow_secret",
        "key.txt",
        "~",
        "…",
        "\\..",
        "%2e%2e",
        "proc",
        "self",
        "root",
        "cwd",
    ]);
    prop_oneof![
        20 => known.prop_map(str::to_owned),
        2 => Just(TREE.path("../outside").display().to_string()),
        1 => Just(TREE.path("").display().to_string()),
        1 => any::<String>(),
    ]
}

proptest! {
    #[test]
    fn no_path_leads_out(segments in prop::collection::vec(segment(), 1..8)) {
        let path = segments.join("/");
        for (tool, arguments) in calls(&path) {
            let said = TREE.text(tool, arguments);
            prop_assert!(!said.contains(CANARY), "{tool} {path:?}: {said}");
        }
        outside_is_untouched(&TREE);
    }
}
