//! Skills from the command line: listed, loaded, asked about, and reported when they are broken.

use std::path::Path;

use ambit_testkit::{Home, Run};
use serde_json::{Value, json};

use crate::support::{call, configured, ended, events, home, text};

fn write_skill(root: &Path, name: &str, body: &str) {
    let folder = root.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!("---\nname: {name}\ndescription: The {name} skill.\n---\n{body}");
    std::fs::write(folder.join("SKILL.md"), text).unwrap();
}

/// A user's skill `mine` and a project's skill `theirs`.
fn with_skills(home: Home) -> Home {
    write_skill(
        &home.home().join(".claude/skills"),
        "mine",
        "My kaleidoscope.",
    );
    write_skill(
        &home.work().join(".agents/skills"),
        "theirs",
        "Their kaleidoscope.",
    );
    home
}

fn load(home: &Home, name: &str) -> Run {
    call(home, "load_skill", json!({"name": name}), &[])
}

#[test]
fn skills_are_listed_and_found_without_their_bodies() {
    let home = with_skills(home());
    let listed = home.run(&["ls", "--json"]).exits(0).json();
    let rows = listed["capabilities"].as_array().unwrap();
    for name in ["mine", "theirs"] {
        let row = rows
            .iter()
            .find(|it| it["id"] == format!("skill__{name}"))
            .unwrap();
        assert_eq!(
            (&row["kind"], &row["summary"]),
            (&json!("skill"), &json!(format!("The {name} skill.")))
        );
    }
    let found = home.run(&["search", "kaleidoscope", "--json"]).exits(0);
    assert_eq!(
        found.json()["hits"].as_array().unwrap().len(),
        2,
        "found by what their bodies say"
    );
    for arguments in [
        &["search", "skill", "--json"][..],
        &["visible", "--json"],
        &["visible", "--explain"],
        &["visible", "--format", "openai"],
        &["ls", "--json"],
        &["ls"],
        &["show", "skill__mine", "--json"],
        &["explain", "skill__theirs", "--json"],
    ] {
        let run = home.run(arguments).exits(0);
        assert!(
            !run.stdout.contains("kaleidoscope"),
            "{arguments:?}: {}",
            run.stdout
        );
    }
    let shown = home.run(&["visible", "--format", "mcp"]).exits(0).json();
    assert_eq!(
        shown["skills"],
        json!(["- mine: The mine skill.", "- theirs: The theirs skill."])
    );
}

#[test]
fn a_projects_skill_is_loaded_after_a_person_said_so() {
    let home = with_skills(home());
    assert_eq!(ended(&load(&home, "mine")), "completed");
    assert!(text(&load(&home, "mine")).contains("My kaleidoscope."));
    let allow = |home: &Home| {
        let listed = home.run(&["approvals", "--json"]).exits(0).json();
        let number = listed["pending"][0]["number"].to_string();
        assert_eq!(listed["pending"][0]["id"], "skill__theirs");
        home.run(&["approvals", "allow", &number, "--for", "always"])
            .exits(0);
    };
    let pending = load(&home, "theirs");
    assert_eq!(ended(&pending), "denied approval_pending");
    assert!(!pending.stdout.contains("kaleidoscope"));
    allow(&home);
    for _ in 0..2 {
        assert!(text(&load(&home, "theirs")).contains("Their kaleidoscope."));
    }
    // Any file of the folder: a person agreed to all of it.
    home.write(".agents/skills/theirs/more.md", "more");
    assert_eq!(ended(&load(&home, "theirs")), "denied approval_pending");
    allow(&home);
    assert!(text(&load(&home, "theirs")).contains("- more.md (4 bytes)"));
    let loaded = events(&home, &["--type", "capability.loaded"]);
    let ids: Vec<_> = loaded.iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        [
            "skill__mine",
            "skill__mine",
            "skill__theirs",
            "skill__theirs",
            "skill__theirs"
        ]
    );
    let replayed = home.run(&["replay", "last", "--json"]).exits(0).json();
    assert_eq!(replayed["differences"], json!([]));
    home.run(&["log", "verify"]).exits(0);
}

#[test]
fn skills_are_granted_like_anything_else() {
    let home = with_skills(configured(json!({"agents": {
        "none": {"capabilities": ["files"]},
        "users": {"capabilities": {"skills": {"sources": ["user"]}}},
        "some": {"capabilities": {"skills": {"tools": ["theirs"]}}},
    }})));
    for (agent, name, expected) in [
        ("none", "mine", "denied not_visible"),
        ("users", "mine", "completed"),
        ("users", "theirs", "denied not_visible"),
        ("some", "mine", "denied not_visible"),
        ("some", "theirs", "denied approval_pending"),
    ] {
        let run = call(
            &home,
            "load_skill",
            json!({"name": name}),
            &["--agent", agent],
        );
        assert_eq!(ended(&run), expected, "{agent} {name}");
    }
}

#[test]
fn no_capability_writes_a_skill() {
    let home = with_skills(configured(json!({"mode": "auto"})));
    for path in [
        ".agents/skills/theirs/SKILL.md",
        ".agents/skills/new/SKILL.md",
        ".claude/skills/new/SKILL.md",
        ".agent/skills/x",
    ] {
        let run = call(
            &home,
            "files__write_file",
            json!({"path": path, "content": "x"}),
            &[],
        );
        assert_eq!(ended(&run), "failed refused", "{path}");
    }
    let run = call(
        &home,
        "files__write_file",
        json!({"path": "skills/a", "content": "x"}),
        &[],
    );
    assert_eq!(ended(&run), "completed");
}

#[test]
fn check_lists_what_is_wrong_with_skills() {
    let home = with_skills(home());
    home.run(&["check"]).exits(0);
    let problems = || -> (i32, Vec<String>) {
        let run = home.run(&["check", "--json"]);
        let line = |it: &Value| {
            format!(
                "{} {}",
                it["severity"].as_str().unwrap(),
                it["code"].as_str().unwrap()
            )
        };
        (
            run.code,
            run.json()["problems"]
                .as_array()
                .unwrap()
                .iter()
                .map(line)
                .collect(),
        )
    };
    write_skill(&home.work().join(".agents/skills"), "mine", "shadowed");
    assert_eq!(problems(), (0, vec!["warning skill_shadowed".to_owned()]));
    let said = home.run(&["check"]).exits(0).stderr;
    assert!(
        said.contains("skill `mine`") && said.contains("is hidden by"),
        "{said}"
    );

    let bomb: String = (0..40)
        .map(|n| format!("a{}: &a{} [*a{n}, *a{n}, *a{n}]\n", n + 1, n + 1))
        .collect();
    home.write(
        ".agents/skills/bomb/SKILL.md",
        format!("---\nname: bomb\ndescription: x\na0: &a0 [x]\n{bomb}---\n"),
    );
    home.write(".agents/skills/big/SKILL.md", vec![b'x'; 20 << 20]);
    home.write(".agents/skills/none/SKILL.md", "no frontmatter");
    std::os::unix::fs::symlink("/", home.work().join(".agents/skills/root")).unwrap();
    let (code, listed) = problems();
    assert_eq!(code, 2);
    assert_eq!(
        listed
            .iter()
            .filter(|it| *it == "error skill_broken")
            .count(),
        4,
        "{listed:?}"
    );
    // They hurt nothing else.
    assert_eq!(ended(&load(&home, "mine")), "completed");
    assert_eq!(ended(&load(&home, "bomb")), "denied not_visible");
}

#[test]
fn what_skills_say_about_themselves_cannot_move_the_cursor() {
    let home = home();
    let description = "Good\u{1b}[2J \u{202e}evil\u{2066} text";
    home.write(
        ".agents/skills/odd/SKILL.md",
        format!(
            "---\nname: odd\ndescription: \"{}\"\n---\n",
            description.replace('\u{1b}', "\\e")
        ),
    );
    for arguments in [
        &["ls"][..],
        &["search", "odd"],
        &["visible", "--explain"],
        &["show", "skill__odd"],
        &["check"],
    ] {
        let run = home.run(arguments);
        let said = run.stdout + &run.stderr;
        assert!(
            !said.contains(['\u{1b}', '\u{202e}', '\u{2066}']),
            "{arguments:?}: {said:?}"
        );
    }
}
