//! The same cases before the format's public validator (`skills-ref`), which must agree on
//! what is valid, on how many things are wrong, and on what a valid skill says.
//!
//! Runs if `AMBIT_SKILLS_REF` names the `agentskills` executable.

// Helpers are test code too.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::indexing_slicing)]

mod cases;

use std::fs;
use std::process::{Command, Output};

use ambit_skills::frontmatter::Frontmatter;
use ambit_skills::problem::{Severity, SkillProblem};
use ambit_skills::validate::check_skill_md;
use serde_json::Value;

#[test]
fn the_public_validator_agrees() {
    let Some(validator) = std::env::var_os("AMBIT_SKILLS_REF") else {
        println!("skipped: AMBIT_SKILLS_REF does not name the `agentskills` executable");
        return;
    };
    let root = tempfile::tempdir().unwrap();
    let ask = |command: &str, folder: &std::path::Path| -> Output {
        Command::new(&validator)
            .arg(command)
            .arg(folder)
            .env("PYTHONUTF8", "1")
            .output()
            .expect("the validator runs")
    };
    let mut disagreements = Vec::new();
    for (n, case) in cases::CASES.iter().enumerate() {
        let folder = root.path().join(n.to_string()).join(case.folder);
        fs::create_dir_all(&folder).unwrap();
        let text = case.skill_md();
        fs::write(folder.join("SKILL.md"), &text).unwrap();

        let ours = check_skill_md(text.as_bytes(), case.folder);
        let counted = ours.problems.iter().filter(|it| {
            it.severity() == Severity::Error || matches!(it, SkillProblem::UnknownKeys(_))
        });
        let theirs = ask("validate", &folder);
        let counted = counted.count();
        if counted != complaints(&theirs) {
            disagreements.push(format!(
                "{:?}\n ours {:#?}\n theirs {}",
                case.text,
                ours.problems,
                String::from_utf8_lossy(&theirs.stderr)
            ));
            continue;
        }
        if let Some(valid) = ours.valid {
            let theirs = ask("read-properties", &folder);
            let theirs: Value = serde_json::from_slice(&theirs.stdout).expect("properties");
            assert_same(&valid.frontmatter, &theirs, case.text);
        }
    }
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
}

/// One per line of its list; a crash is one.
fn complaints(output: &Output) -> usize {
    if output.status.success() {
        return 0;
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    stderr
        .lines()
        .filter(|it| it.starts_with("  - "))
        .count()
        .max(1)
}

fn assert_same(ours: &Frontmatter, theirs: &Value, case: &str) {
    let text = |key: &str| theirs[key].as_str().filter(|it| !it.is_empty());
    assert_eq!(Some(ours.name.as_str()), text("name"), "{case:?}");
    assert_eq!(
        Some(ours.description.as_str()),
        text("description"),
        "{case:?}"
    );
    assert_eq!(ours.license.as_deref(), text("license"), "{case:?}");
    assert_eq!(
        ours.compatibility.as_deref(),
        text("compatibility"),
        "{case:?}"
    );
    for (key, value) in &ours.metadata {
        assert_eq!(theirs["metadata"][key], value.as_str(), "{case:?}");
    }
    match &theirs["allowed-tools"] {
        Value::String(tools) => assert_eq!(ours.allowed_tools.join(" "), *tools, "{case:?}"),
        Value::Array(tools) => assert_eq!(
            Value::from(ours.allowed_tools.clone()),
            Value::from(tools.clone()),
            "{case:?}"
        ),
        _ => assert!(ours.allowed_tools.is_empty(), "{case:?}"),
    }
}
