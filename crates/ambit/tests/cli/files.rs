//! `files` through the binary: what it does, and where it stops.

use std::os::unix::fs::symlink;

use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::support::{call, configured, ended, text};

fn auto(files: Value) -> Home {
    configured(json!({"mode": "auto", "agents": {"a": {"capabilities": {"files": files}}}}))
}

#[test]
fn files_are_read_written_edited_listed_and_searched() {
    let home = auto(json!({}));
    #[track_caller]
    fn check(home: &Home, tool: &str, input: Value, expected: &str) {
        let run = call(home, &format!("files__{tool}"), input, &[]);
        assert_eq!(ended(&run), "completed", "{run:?}");
        assert!(text(&run).contains(expected), "{expected}: {run:?}");
    }
    let on_disk = |path: &str| std::fs::read_to_string(home.work().join(path)).unwrap();
    check(
        &home,
        "write_file",
        json!({"path": "src/a.rs", "content": "fn one() {}\n"}),
        "created",
    );
    assert_eq!(on_disk("src/a.rs"), "fn one() {}\n");
    check(
        &home,
        "read_file",
        json!({"path": "src/a.rs"}),
        "fn one() {}\n",
    );
    check(
        &home,
        "edit_file",
        json!({"path": "src/a.rs", "old_text": "one", "new_text": "two"}),
        "+fn two() {}",
    );
    assert_eq!(on_disk("src/a.rs"), "fn two() {}\n");
    check(&home, "list_dir", json!({}), "src");
    check(&home, "glob", json!({"pattern": "**/*.rs"}), "src/a.rs");
    check(&home, "grep", json!({"pattern": "fn t.o"}), "src/a.rs");
    check(
        &home,
        "read_file",
        json!({"path": home.work().join("src/a.rs")}),
        "two",
    );
}

#[test]
fn what_is_outside_stays_outside() {
    let home = auto(json!({"dirs": ["allow"]}));
    home.write("allow/in.txt", "inside\n");
    home.write("allow_secret/out.txt", "outside\n");
    home.write("out.txt", "outside\n");
    let outside = home.work().join("allow_secret");
    symlink(outside.join("out.txt"), home.work().join("allow/link.txt")).unwrap();
    symlink(&outside, home.work().join("allow/linked")).unwrap();
    symlink(
        home.work().join("new.txt"),
        home.work().join("allow/dangling"),
    )
    .unwrap();
    let absolute = outside.join("out.txt").display().to_string();
    let read = |path: &str| call(&home, "files__read_file", json!({"path": path}), &[]);
    assert_eq!(ended(&read("allow/in.txt")), "completed");
    for path in [
        "out.txt",
        "allow/../out.txt",
        "allow_secret/out.txt",
        "allow/../allow_secret/out.txt",
        &absolute,
        "/etc/passwd",
        "allow/link.txt",
        "allow/linked/out.txt",
        "allow/\0",
    ] {
        let run = read(path);
        assert!(ended(&run).starts_with("failed"), "{path}: {run:?}");
        assert!(!format!("{run:?}").contains("outside\\n"), "{path}");
        let input = json!({"path": path, "content": "changed"});
        let run = call(&home, "files__write_file", input, &[]);
        assert!(ended(&run).starts_with("failed"), "{path}: {run:?}");
    }
    for path in [
        "allow/dangling",
        "allow/linked/new.txt",
        "allow_secret2/new.txt",
    ] {
        let run = call(
            &home,
            "files__write_file",
            json!({"path": path, "content": "x"}),
            &[],
        );
        assert_eq!(ended(&run), "failed refused", "{path}");
    }
    for path in ["new.txt", "allow_secret/new.txt", "allow_secret2"] {
        assert!(!home.work().join(path).exists(), "{path}");
    }
    assert_eq!(
        std::fs::read_to_string(home.work().join("out.txt")).unwrap(),
        "outside\n"
    );
    for (tool, input) in [
        ("files__grep", json!({"pattern": "outside"})),
        ("files__glob", json!({"pattern": "**/o?t.txt"})),
    ] {
        let run = call(&home, tool, input, &[]);
        assert!(!text(&run).contains("out.txt"), "{run:?}");
    }
}

#[test]
fn a_large_result_is_cut_and_paged() {
    let home = auto(json!({}));
    let whole: String = (0..4000).map(|n| format!("{n:049}\n")).collect();
    home.write("big.txt", &whole);
    let run = call(
        &home,
        "files__read_file",
        json!({"path": "big.txt", "limit": 2000}),
        &[],
    );
    assert_eq!(ended(&run), "completed");
    let report = run.json();
    assert_eq!(report["truncated"], false, "just within the limit");
    let home = configured(json!({"limits": {"resultBytes": 1000}}));
    home.write("big.txt", &whole[..20_000]);
    let run = call(&home, "files__read_file", json!({"path": "big.txt"}), &[]);
    let report = run.json();
    assert_eq!(report["truncated"], true);
    let reference = report["resultRef"].as_str().unwrap();
    assert!(
        text(&run).len() < 1200 && text(&run).contains(reference),
        "{run:?}"
    );
    let mut read = String::new();
    while read.len() < 20_000 {
        let input = json!({"ref": reference, "offset": read.len(), "limit": 900});
        let page = call(&home, "read_result", input, &[]);
        assert_eq!(ended(&page), "completed");
        let report = page.json();
        assert_eq!(report["truncated"], false, "a page is not cut again");
        let piece = report["content"][0]["text"].as_str().unwrap();
        assert!(!piece.is_empty());
        read.push_str(piece);
    }
    assert_eq!(read[..20_000], whole[..20_000]);
    for (wrong, code) in [
        (json!({"ref": "r-nope"}), "failed refused"),
        (json!({"ref": "../../journal.db"}), "failed refused"),
        (
            json!({"ref": reference, "offset": -1}),
            "denied input_invalid",
        ),
    ] {
        assert_eq!(
            ended(&call(&home, "read_result", &wrong, &[])),
            code,
            "{wrong}"
        );
    }
}

#[test]
fn results_belong_to_their_agent() {
    let home = configured(json!({
        "limits": {"resultBytes": 100},
        "agents": {"a": {"capabilities": ["files"]}, "b": {"capabilities": ["files"]}},
    }));
    home.write("big.txt", "x\n".repeat(1000));
    let run = call(
        &home,
        "files__read_file",
        json!({"path": "big.txt"}),
        &["--agent", "a"],
    );
    let input = json!({"ref": run.json()["resultRef"]});
    let other = call(&home, "read_result", &input, &["--agent", "b"]);
    assert_eq!(ended(&other), "failed refused");
    assert_eq!(
        ended(&call(&home, "read_result", &input, &["--agent", "a"])),
        "completed"
    );
}
