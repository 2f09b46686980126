//! The rules of the format, case by case.

// Helpers are test code too.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::indexing_slicing)]

mod cases;

use ambit_skills::problem::Severity;
use ambit_skills::validate::{MAX_FRONTMATTER, ValidSkillMd, check_skill_md};
use proptest::prelude::*;

#[test]
fn each_case_has_exactly_its_problems() {
    let mut surprises = Vec::new();
    for case in cases::CASES {
        let text = case.skill_md();
        let checked = check_skill_md(text.as_bytes(), case.folder);
        let found: Vec<String> = checked
            .problems
            .iter()
            .map(|it| match it.severity() {
                Severity::Error => format!("E {it}"),
                Severity::Warning => format!("W {it}"),
            })
            .collect();
        let as_expected = found.len() == case.problems.len()
            && found
                .iter()
                .zip(case.problems)
                .all(|(it, start)| it.starts_with(start));
        if !as_expected {
            surprises.push(format!("{:?} has {found:#?}", case.text));
        }
        let is_broken = found.iter().any(|it| it.starts_with('E'));
        assert_eq!(checked.valid.is_none(), is_broken, "{:?}", case.text);
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

fn valid(text: &str) -> ValidSkillMd {
    check_skill_md(text.as_bytes(), "ok")
        .valid
        .expect("a valid skill")
}

#[test]
fn values_are_texts_and_tools_a_list() {
    let skill = valid(
        "---\nname: ok\ndescription: >\n  two\n  lines\nmetadata:\n  on: yes\n  n: 0x10\n\
         allowed-tools: Bash(git add:*), Read Grep\n---\n\n# Title\n\nText.\n\n",
    );
    assert_eq!(skill.frontmatter.description, "two lines");
    assert_eq!(skill.frontmatter.metadata["on"], "yes");
    assert_eq!(skill.frontmatter.metadata["n"], "0x10");
    assert_eq!(
        skill.frontmatter.allowed_tools,
        ["Bash(git add:*)", "Read", "Grep"]
    );
    assert_eq!(skill.body, "# Title\n\nText.");
}

#[test]
fn bombs_are_refused_without_expanding() {
    let mut laughs = "---\nname: ok\ndescription: x\na: &a x\n".to_owned();
    for (one, next) in ('a'..='y').zip('b'..='z') {
        laughs += &format!("{next}: &{next} [*{one},*{one},*{one},*{one},*{one},*{one}]\n");
    }
    let deep_block: String = (0..2_000)
        .map(|n| format!("{}a:\n", " ".repeat(n)))
        .collect();
    for bomb in [
        laughs + "---\n",
        format!("---\nname: ok\ndescription: {}\n---\n", "[".repeat(60_000)),
        format!("---\nname: ok\ndescription: {}\n---\n", "- ".repeat(30_000)),
        format!("---\n{}---\n", "a:\n ".repeat(15_000)),
        format!(
            "---\n{}---\n",
            deep_block.get(..60_000).unwrap_or(&deep_block)
        ),
        format!("---\n{}---\n", "? ".repeat(30_000)),
        format!(
            "---\nname: ok\ndescription: \"{}\n---\n",
            "\\x41".repeat(15_000)
        ),
    ] {
        let checked = check_skill_md(bomb.as_bytes(), "ok");
        assert!(checked.valid.is_none(), "{}", &bomb[..60]);
    }
    let long = format!("---\nname: ok\n# {}\n---\n", "x".repeat(MAX_FRONTMATTER));
    let problems = check_skill_md(long.as_bytes(), "ok").problems;
    assert!(
        problems[0].to_string().contains("the frontmatter has"),
        "{problems:?}"
    );
    let keys: String = (0..5_000).map(|n| format!("k{n}: x\n")).collect();
    let many = format!("---\nname: ok\ndescription: x\n{keys}---\n");
    let problems = check_skill_md(many.as_bytes(), "ok").problems;
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].to_string().ends_with("and 4992 more"),
        "{}",
        problems[0]
    );
}

#[test]
fn bytes_that_are_not_text_are_refused() {
    let checked = check_skill_md(b"---\nname: ok\ndescription: \xff\n---\n", "ok");
    assert_eq!(
        checked.problems[0].to_string(),
        "`SKILL.md` is not UTF-8 text"
    );
}

proptest! {
    #[test]
    fn no_input_panics(text in "(---\n)?([a-z\\-:#&*!\\[\\]{}|>'\"%@`?, \n\t]|name: |description: |\\PC){0,200}(---)?") {
        check_skill_md(text.as_bytes(), "ok");
    }

    #[test]
    fn a_plain_skill_is_read_back(name in "[a-z0-9]{1,10}(-[a-z0-9]{1,10}){0,3}", description in "[A-Za-z0-9][A-Za-z0-9 .,]{0,200}[a-z]", body in "[ -~\n]{0,200}") {
        let text = format!("---\nname: \"{name}\"\ndescription: \"{description}\"\n---\n{body}");
        let checked = check_skill_md(text.as_bytes(), &name);
        prop_assert_eq!(&checked.problems, &[]);
        let valid = checked.valid.unwrap();
        prop_assert_eq!(valid.frontmatter.name, name);
        prop_assert_eq!(valid.frontmatter.description, description);
        prop_assert_eq!(valid.body, body.trim());
    }
}
