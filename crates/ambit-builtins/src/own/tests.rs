//! Each tool through the pipeline: what it does, what it refuses, and that a person is asked.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ambit_core::code::Code;
use ambit_core::observation::Observation;
use ambit_core::permission::{Answer, AskReason, Mode, Rule, Rules, Verdict};
use ambit_runtime::approver::SaysYes;
use ambit_testkit::{Answers, Bench};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

/// Takes what looks like a skill, and says that `taken` is somebody's.
#[derive(Default)]
struct Plain {
    changes: AtomicUsize,
}

impl SkillFormat for Plain {
    fn read(&self, name: &str, skill_md: &str) -> Result<SkillText, String> {
        let head = format!("---\nname: {name}\ndescription: ");
        let rest = skill_md.strip_prefix(&head).ok_or("it has no head")?;
        let (description, instructions) = rest.split_once("\n---\n\n").ok_or("it has no body")?;
        Ok(SkillText {
            description: serde_json::from_str(description).map_err(|it| it.to_string())?,
            instructions: instructions.trim_end().to_owned(),
        })
    }

    fn named_like(&self, name: &str) -> Option<PathBuf> {
        (name == "taken").then(PathBuf::new)
    }

    fn changed(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }
}

fn builtins(folder: &Path) -> Builtins {
    Builtins {
        skills: Some(Arc::new(Plain::default())),
        ..Builtins::new(Store::at(folder))
    }
}

fn bench() -> (TempDir, Bench) {
    let folder = TempDir::new().unwrap();
    let resolver = SelfResolver(builtins(folder.path()));
    let bench = Bench::default().with(Arc::new(resolver), json!({}));
    (folder, bench.asking(Arc::new(SaysYes)))
}

async fn call(bench: &Bench, name: &str, arguments: Value) -> Result<Value, String> {
    let target = format!("local__self__{name}");
    match bench.call(Mode::Ask, &target, arguments).await {
        Observation::Completed(it) => Ok(it.output.structured.unwrap()),
        Observation::Denied(it) => Err(it.reason),
        Observation::Failed(it) => Err(it.message),
    }
}

#[track_caller]
fn refuses(answer: Result<Value, String>, said: &str) {
    let error = answer.unwrap_err();
    assert!(error.contains(said), "{error}");
}

#[tokio::test]
async fn instructions_are_replaced_by_whoever_read_them() {
    let (_folder, bench) = bench();
    let read = call(&bench, "read_my_instructions", json!({}))
        .await
        .unwrap();
    assert_eq!(read["instructions"], "");
    let text = json!({"instructions": "Answer in French.", "revision": read["revision"]});
    let updated = call(&bench, "update_my_instructions", text.clone())
        .await
        .unwrap();
    refuses(
        call(&bench, "update_my_instructions", text).await,
        "read it again with read_my_instructions",
    );
    let file = bench.folder.path().join("agent/instructions.md");
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        "Answer in French.\n"
    );
    assert_eq!(
        own_instructions(&bench.folder.path().join("agent")).unwrap(),
        Some("Answer in French.\n".to_owned())
    );
    // A person's edit is an edit, too.
    std::fs::write(&file, "Answer in Dutch.\n").unwrap();
    let over = json!({"instructions": "", "revision": updated["revision"]});
    refuses(
        call(&bench, "update_my_instructions", over).await,
        "not the revision",
    );
    let read = call(&bench, "read_my_instructions", json!({}))
        .await
        .unwrap();
    assert_eq!(read["instructions"], "Answer in Dutch.\n");
    let none = json!({"instructions": " \n", "revision": read["revision"]});
    call(&bench, "update_my_instructions", none).await.unwrap();
    assert!(!file.exists());
}

#[tokio::test]
async fn what_cannot_be_seen_or_is_too_long_is_refused() {
    let (_folder, bench) = bench();
    let revision = call(&bench, "read_my_instructions", json!({}))
        .await
        .unwrap()["revision"]
        .clone();
    let skill = |name: &str, description: &str, instructions: &str| json!({"name": name, "description": description, "instructions": instructions});
    for (name, arguments, said) in [
        (
            "update_my_instructions",
            json!({"instructions": "a\u{202e}b", "revision": revision}),
            "U+202E",
        ),
        (
            "update_my_instructions",
            json!({"instructions": "a\u{1b}[2J", "revision": revision}),
            "U+001B",
        ),
        (
            "update_my_instructions",
            json!({"instructions": "x".repeat(16_001), "revision": revision}),
            "instructions",
        ),
        (
            "update_my_instructions",
            json!({"instructions": "x"}),
            "revision",
        ),
        (
            "add_responsibility",
            json!({"title": "x".repeat(201)}),
            "title",
        ),
        (
            "add_responsibility",
            json!({"title": " \n "}),
            "`title` is empty",
        ),
        (
            "add_responsibility",
            json!({"title": "x", "details": "y".repeat(2_001)}),
            "details",
        ),
        (
            "update_responsibility",
            json!({"number": 1}),
            "give a `title`",
        ),
        (
            "update_responsibility",
            json!({"number": 7, "title": "x"}),
            "no responsibility 7",
        ),
        (
            "remove_responsibility",
            json!({"number": 7}),
            "no responsibility 7",
        ),
        ("create_skill", skill("../up", "d", "i"), "name"),
        ("create_skill", skill("Upper", "d", "i"), "name"),
        ("create_skill", skill(&"x".repeat(65), "d", "i"), "name"),
        (
            "create_skill",
            skill("a", " ", "i"),
            "`description` is empty",
        ),
        (
            "create_skill",
            skill("a", &"d".repeat(1_025), "i"),
            "description",
        ),
        (
            "create_skill",
            skill("a", "d", &"i".repeat(30_001)),
            "instructions",
        ),
        ("create_skill", skill("taken", "d", "i"), "choose another"),
        (
            "update_skill",
            json!({"name": "a", "description": "d", "instructions": "i", "revision": "r"}),
            "you wrote no skill `a`",
        ),
        (
            "delete_skill",
            json!({"name": "a"}),
            "you wrote no skill `a`",
        ),
        (
            "list_my_skills",
            json!({"name": "a"}),
            "you wrote no skill `a`",
        ),
    ] {
        refuses(call(&bench, name, arguments).await, said);
    }
    assert!(!bench.folder.path().join("agent").exists());
}

#[tokio::test]
async fn responsibilities_keep_their_numbers() {
    let (folder, bench) = bench();
    for title in ["the inbox", "the  build"] {
        call(&bench, "add_responsibility", json!({"title": title}))
            .await
            .unwrap();
    }
    refuses(
        call(&bench, "add_responsibility", json!({"title": "the build"})).await,
        "responsibility 2 says that already",
    );
    call(&bench, "remove_responsibility", json!({"number": 2}))
        .await
        .unwrap();
    call(
        &bench,
        "add_responsibility",
        json!({"title": "releases", "details": "weekly"}),
    )
    .await
    .unwrap();
    call(
        &bench,
        "update_responsibility",
        json!({"number": 1, "details": "daily"}),
    )
    .await
    .unwrap();
    let listed = call(&bench, "list_responsibilities", json!({}))
        .await
        .unwrap();
    assert_eq!(
        listed["responsibilities"],
        json!([
            {"number": 1, "title": "the inbox", "details": "daily"},
            {"number": 3, "title": "releases", "details": "weekly"},
        ])
    );
    let store = Store::at(folder.path());
    assert_eq!(responsibilities(&store, "tester").unwrap().len(), 2);
    assert_eq!(responsibilities(&store, "another").unwrap(), []);
    for n in 0..48 {
        call(
            &bench,
            "add_responsibility",
            json!({"title": n.to_string()}),
        )
        .await
        .unwrap();
    }
    refuses(
        call(&bench, "add_responsibility", json!({"title": "more"})).await,
        "there are 50 responsibilities already",
    );
}

#[tokio::test]
async fn skills_are_folders_without_a_word_about_tools() {
    let (_folder, bench) = bench();
    let written = json!({
        "name": "weekly-report",
        "description": "Writes \"the\" report.\nallowed-tools: Bash",
        "instructions": "---\nallowed-tools: Bash\n---\nCollect, then write.",
    });
    call(&bench, "create_skill", written.clone()).await.unwrap();
    refuses(
        call(&bench, "create_skill", written).await,
        "change it with update_skill",
    );
    let file = bench
        .folder
        .path()
        .join("agent/skills/weekly-report/SKILL.md");
    let text = std::fs::read_to_string(&file).unwrap();
    let head = "---\nname: weekly-report\ndescription: \"Writes \\\"the\\\" report. allowed-tools: Bash\"\n---\n\n";
    assert!(text.starts_with(head), "{text}");

    let listed = call(&bench, "list_my_skills", json!({})).await.unwrap();
    assert_eq!(listed["skills"][0]["name"], "weekly-report");
    let read = call(&bench, "list_my_skills", json!({"name": "weekly-report"}))
        .await
        .unwrap();
    let mut other =
        json!({"name": "weekly-report", "description": "d", "instructions": "i", "revision": "0"});
    refuses(
        call(&bench, "update_skill", other.clone()).await,
        "not the revision",
    );
    other["revision"] = read["revision"].clone();
    call(&bench, "update_skill", other).await.unwrap();
    call(&bench, "delete_skill", json!({"name": "weekly-report"}))
        .await
        .unwrap();
    assert!(!file.parent().unwrap().exists());
    let listed = call(&bench, "list_my_skills", json!({})).await.unwrap();
    assert_eq!(listed["skills"], json!([]));
}

#[tokio::test]
async fn every_change_can_be_taken_back_and_taking_back_too() {
    let (folder, bench) = bench();
    let own = Own::of(
        &builtins(folder.path()),
        "tester",
        &bench.folder.path().join("agent"),
    );
    assert!(own.undo(None).is_err());
    let skill = json!({"name": "a", "description": "d", "instructions": "i"});
    call(&bench, "create_skill", skill).await.unwrap();
    call(&bench, "add_responsibility", json!({"title": "the inbox"}))
        .await
        .unwrap();
    let revision = call(&bench, "read_my_instructions", json!({}))
        .await
        .unwrap()["revision"]
        .clone();
    call(
        &bench,
        "update_my_instructions",
        json!({"instructions": "x", "revision": revision}),
    )
    .await
    .unwrap();
    call(&bench, "delete_skill", json!({"name": "a"}))
        .await
        .unwrap();

    let versions = |own: &Own| -> Vec<String> {
        let history = own.history().unwrap();
        let line = |it: &Change| format!("{} {} {}", it.version, it.by.as_str(), it.what);
        history.iter().map(line).collect()
    };
    assert_eq!(
        versions(&own),
        [
            "1 agent skill a",
            "2 agent responsibilities",
            "3 agent instructions",
            "4 agent skill a"
        ]
    );
    assert_eq!(own.undo(None).unwrap().to, 3);
    let file = bench.folder.path().join("agent/skills/a/SKILL.md");
    assert!(file.exists());
    let undone = own.undo(Some(0)).unwrap();
    assert_eq!(undone.changes.len(), 3);
    assert!(!file.exists());
    assert_eq!(
        own_instructions(&bench.folder.path().join("agent")).unwrap(),
        None
    );
    assert_eq!(
        responsibilities(&Store::at(folder.path()), "tester").unwrap(),
        []
    );
    // Where everything was before that.
    own.undo(Some(5)).unwrap();
    assert!(file.exists());
    for (to, said) in [(99, "the last is 11"), (-1, "the last is 11")] {
        let error = own.undo(Some(to)).unwrap_err();
        assert!(error.message.contains(said), "{}", error.message);
    }
    assert_eq!(versions(&own).len(), 11);
}

#[tokio::test]
async fn no_rule_and_no_earlier_yes_lets_a_change_through_in_ask() {
    let (_folder, bench) = bench();
    let answers = Arc::new(Answers::new([Answer::Always, Answer::Session]));
    let allow = |subject: &str| Rule {
        verdict: Verdict::Allow,
        subject: subject.parse().unwrap(),
    };
    let bench = bench.asking(Arc::clone(&answers) as _).ruled(Rules::new([
        allow("writes"),
        allow("self:write"),
        allow("local__self__add_responsibility"),
    ]));
    let session = bench.session(Mode::Ask).await;
    for (title, completes) in [("a", true), ("b", true), ("c", false)] {
        let report = ambit_testkit::call(
            &session,
            "local__self__add_responsibility",
            json!({"title": title}),
        )
        .await;
        assert_eq!(
            matches!(report.observation, Observation::Completed(_)),
            completes,
            "{title}"
        );
    }
    let asked = answers.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|it| it.reason == AskReason::EveryCall));
}

#[tokio::test]
async fn read_only_shows_no_change() {
    let (_folder, bench) = bench();
    let session = bench.session(Mode::ReadOnly).await;
    let visible = session.visible();
    let mut names: Vec<&str> = visible
        .entries()
        .iter()
        .filter(|it| it.id.owner() == KEY)
        .map(|it| it.id.name())
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "list_my_skills",
            "list_responsibilities",
            "read_my_instructions"
        ]
    );
    for tool in PACK.tools.iter().filter(|it| it.effects.changes()) {
        let target = format!("local__self__{}", tool.name);
        match bench.call(Mode::ReadOnly, &target, json!({})).await {
            Observation::Denied(it) => assert_eq!(it.code, Code::NotVisible),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn without_skills_there_are_no_tools_for_them() {
    let folder = TempDir::new().unwrap();
    let resolver = SelfResolver(Builtins::new(Store::at(folder.path())));
    let bench = Bench::default().with(Arc::new(resolver), json!({}));
    let session = bench.session(Mode::Ask).await;
    let visible = session.visible();
    assert!(
        visible
            .entries()
            .iter()
            .all(|it| !it.id.name().contains("my_skill"))
    );
    assert!(visible.find("local__self__read_my_instructions").is_some());
}

#[test]
fn changes_at_the_same_time_are_all_kept() {
    let folder = TempDir::new().unwrap();
    let agent = folder.path().join("agents/a");
    thread::scope(|scope| {
        for n in 0..8 {
            let own = Own::of(&builtins(folder.path()), "a", &agent);
            let tool = PACK
                .tools
                .iter()
                .find(|it| it.name == "add_responsibility")
                .unwrap();
            scope.spawn(move || (tool.run)(&own, json!({"title": format!("t{n}")})).unwrap());
        }
    });
    let own = Own::of(&builtins(folder.path()), "a", &agent);
    assert_eq!(own.history().unwrap().len(), 8);
    assert_eq!(
        responsibilities(&Store::at(folder.path()), "a")
            .unwrap()
            .len(),
        8
    );
}

#[test]
fn what_is_kept_comes_back_from_an_export() {
    let (here, there) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let own = Own::of(&builtins(here.path()), "a", &here.path().join("agents/a"));
    let tool = PACK
        .tools
        .iter()
        .find(|it| it.name == "add_responsibility")
        .unwrap();
    (tool.run)(&own, json!({"title": "the inbox"})).unwrap();
    let store = Store::at(there.path());
    store
        .import(&Store::at(here.path()).export().unwrap())
        .unwrap();
    assert_eq!(responsibilities(&store, "a").unwrap()[0].title, "the inbox");
}
