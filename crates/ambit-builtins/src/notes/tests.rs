use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ambit_core::observation::Failure;
use ambit_core::permission::Mode;
use ambit_runtime::resolver::{CapabilityResolver as _, Resolution, ResolverContext};
use ambit_testkit::Bench;
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::document::Mark;
use super::shelves::{Limits, Notes, Root};
use super::{NotesResolver, tools};
use crate::Builtins;
use crate::store::Store;

struct Fixture {
    folder: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        Fixture { folder }
    }

    fn store(&self) -> Arc<Store> {
        Store::at(&self.folder.path().join("data"))
    }

    fn of(&self, agent: &str) -> Notes {
        Notes {
            store: self.store(),
            clock: Arc::new(|| "2026-11-15T12:00:00Z".parse().unwrap()),
            agent: agent.to_owned(),
            root: Root::Store,
            control: Vec::new(),
            limits: Limits {
                notes: 4,
                characters: 200,
            },
        }
    }

    fn within(&self, agent: &str, dir: &str) -> Notes {
        Notes {
            root: Root::Workspace {
                workspace: self.folder.path().join("work"),
                dir: PathBuf::from(dir),
            },
            control: vec![self.folder.path().join("work/guarded")],
            ..self.of(agent)
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn content(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }
}

/// What a tool says, or the refusal with its code before it, without where the test runs and when.
fn text(fixture: &Fixture, notes: &Notes, name: &str, arguments: Value) -> String {
    let tool = tools::TOOLS.iter().find(|it| it.name == name).unwrap();
    let said = match (tool.run)(notes, arguments) {
        Ok(output) => {
            let texts = output.content.iter().filter_map(|it| it.as_text());
            texts.collect::<Vec<_>>().join("\n")
        }
        Err(Failure { code, message, .. }) => format!("{}: {message}", code.as_str()),
    };
    let root = fixture.folder.path().canonicalize().unwrap();
    let said = said.replace(root.to_str().unwrap(), "…");
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    said.replace(&today, "today")
}

#[track_caller]
fn check(fixture: &Fixture, notes: &Notes, name: &str, arguments: Value, said: Expect) {
    said.assert_eq(&text(fixture, notes, name, arguments));
}

fn version(notes: &Notes, name: &str) -> String {
    notes.find(name).unwrap().file.version
}

#[test]
fn notes_are_files_a_person_can_open() {
    let fixture = Fixture::new();
    let notes = fixture.of("coder");
    check(
        &fixture,
        &notes,
        "save_note",
        json!({"title": "Release plan", "content": "Cut the branch.\n\nTag it."}),
        expect!["saved `release-plan`, version f5aeaaf9, `…/data/notes/coder/release-plan.md`"],
    );
    let file = "data/notes/coder/release-plan.md";
    expect![[r#"
        ---
        title: Release plan
        ---

        Cut the branch.

        Tag it.
    "#]]
    .assert_eq(&fixture.content(file));
    check(
        &fixture,
        &notes,
        "read_note",
        json!({"note": "release plan"}),
        expect![[r#"
            release-plan: Release plan (changed today)
            version for update_note: f5aeaaf9
            Cut the branch.

            Tag it.
        "#]],
    );
    check(
        &fixture,
        &notes,
        "update_note",
        json!({"note": "release-plan", "version": version(&notes, "release-plan"), "content": "Cut it.", "title": "The plan"}),
        expect!["updated `release-plan`, version f1c3b5d7, `…/data/notes/coder/release-plan.md`"],
    );
    check(
        &fixture,
        &notes,
        "pin_note",
        json!({"note": "The plan"}),
        expect!["pinned `release-plan`, version cd13ef8a, `…/data/notes/coder/release-plan.md`"],
    );
    fs::write(
        fixture.path("data/notes/coder/by hand.md"),
        "# From a person\n\nThe deployment window is on Tuesdays.\n",
    )
    .unwrap();
    fs::write(fixture.path("data/notes/coder/picture.md"), b"\xff\xfe").unwrap();
    fs::write(fixture.path("data/notes/coder/other.txt"), "no note").unwrap();
    check(
        &fixture,
        &notes,
        "list_notes",
        json!({}),
        expect![[r#"
            release-plan: The plan (pinned, changed today)
            by hand: From a person (changed today)
            picture cannot be read: not UTF-8 text"#]],
    );
    check(
        &fixture,
        &notes,
        "search_notes",
        json!({"query": "when can we deploy (on tuesday)?"}),
        expect![[r#"
            by hand: From a person (changed today)
              # From a person The deployment window is on Tuesdays."#]],
    );
    check(
        &fixture,
        &notes,
        "unpin_note",
        json!({"note": "release-plan"}),
        expect!["unpinned `release-plan`, version f1c3b5d7, `…/data/notes/coder/release-plan.md`"],
    );
    check(
        &fixture,
        &notes,
        "delete_note",
        json!({"note": "release-plan"}),
        expect![
            "deleted `release-plan`: it is in the trash, `…/data/notes/coder/.trash/release-plan-20261115T120000.md`"
        ],
    );
    assert!(!fixture.path(file).exists());
    let trash = "data/notes/coder/.trash/release-plan-20261115T120000.md";
    assert!(fixture.content(trash).ends_with("Cut it.\n"));
}

#[test]
fn what_somebody_changed_meanwhile_is_not_lost() {
    let fixture = Fixture::new();
    let notes = fixture.of("coder");
    notes.save("Plan", "one\ntwo\nthree").unwrap();
    let read = version(&notes, "plan");
    let file = fixture.path("data/notes/coder/plan.md");
    fs::write(&file, "---\ntitle: Plan\ntags: [x]\n---\n\none\n2\nthree\n").unwrap();
    let update =
        |version: &str| json!({"note": "plan", "version": version, "content": "one\ntwo!\nthree"});
    check(
        &fixture,
        &notes,
        "update_note",
        update(&read),
        expect![[r#"
            refused: `plan` was changed since version `7e03a517` was read; it is at version `e2addf22`. What it says now (-) and what was to be written (+):
            @@ line 2 @@
            -2
            +two!
            Put both together and update again with the version it is at."#]],
    );
    assert!(fs::read_to_string(&file).unwrap().contains("\n2\n"));
    text(
        &fixture,
        &notes,
        "update_note",
        update(&version(&notes, "plan")),
    );
    // What a person added to the head stays.
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "---\ntitle: Plan\ntags: [x]\n---\n\none\ntwo!\nthree\n"
    );
}

#[test]
fn shared_notes_can_be_read_and_not_changed() {
    let fixture = Fixture::new();
    let (coder, reviewer) = (
        fixture.of("coder"),
        fixture.within("reviewer", "docs/notes"),
    );
    coder.save("Checklist", "Run the tests.").unwrap();
    reviewer.save("Mine", "Something private.").unwrap();
    let seen = |notes: &Notes| text(&fixture, notes, "list_notes", json!({}));
    assert_eq!(seen(&reviewer), "mine: Mine (changed today)");
    text(&fixture, &coder, "share_note", json!({"note": "checklist"}));
    text(&fixture, &reviewer, "share_note", json!({"note": "mine"}));
    let mut lines: Vec<String> = seen(&reviewer).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(
        lines,
        [
            "coder/checklist: Checklist (shared by coder, changed today)",
            "mine: Mine (shared, changed today)"
        ]
    );
    assert!(seen(&coder).contains("reviewer/mine: Mine (shared by reviewer"));
    assert!(fixture.path("work/docs/notes/reviewer/mine.md").exists());
    check(
        &fixture,
        &reviewer,
        "read_note",
        json!({"note": "Checklist"}),
        expect![[r#"
            coder/checklist: Checklist (shared by coder, changed today)
            Run the tests.
        "#]],
    );
    let before = fixture.content("data/notes/coder/checklist.md");
    for name in [
        "update_note",
        "delete_note",
        "pin_note",
        "unpin_note",
        "share_note",
    ] {
        let mut arguments = json!({"note": "coder/checklist"});
        if name == "update_note" {
            arguments["version"] = "x".into();
            arguments["content"] = "x".into();
        }
        assert_eq!(
            text(&fixture, &reviewer, name, arguments),
            "refused: `coder/checklist` is a note of `coder`, which alone may change it: save a note of your own with what is to be different"
        );
    }
    assert_eq!(fixture.content("data/notes/coder/checklist.md"), before);
}

#[test]
fn an_export_has_the_files() {
    let (here, there) = (Fixture::new(), Fixture::new());
    here.of("coder").save("Plan", "x").unwrap();
    let shared = here
        .of("coder")
        .change_head("plan", |it| it.mark(Mark::Shared));
    shared.unwrap();
    let dump = here.store().export().unwrap();
    assert_eq!(there.store().import(&dump).unwrap(), 1);
    let moved = there.of("coder");
    let read =
        |fixture: &Fixture, notes| text(fixture, notes, "read_note", json!({"note": "plan"}));
    assert_eq!(read(&there, &moved), read(&here, &here.of("coder")));
    let other = text(&there, &there.of("other"), "list_notes", json!({}));
    assert!(
        other.starts_with("coder/plan: Plan (shared by coder"),
        "{other}"
    );
}

#[test]
fn what_cannot_be_done_says_what_can() {
    let fixture = Fixture::new();
    let notes = fixture.of("coder");
    notes.save("Plan", "x").unwrap();
    let (long, dots) = ("x".repeat(201), "../../work/plan");
    for (name, arguments, said) in [
        (
            "save_note",
            json!({"title": "PLAN", "content": "y"}),
            "refused: there is a note of this title, `plan`: read_note and update_note change it, or choose another title",
        ),
        (
            "save_note",
            json!({"title": " ", "content": "y"}),
            "refused: `title` is empty: name the note",
        ),
        (
            "save_note",
            json!({"title": "a\nb", "content": "y"}),
            "refused: `title` has to be one line without control characters",
        ),
        (
            "save_note",
            json!({"title": "t", "content": "\n"}),
            "refused: `content` is empty: a note has to say something",
        ),
        (
            "save_note",
            json!({"title": "t", "content": long}),
            "refused: `content` has 201 characters and a note at most 200: shorten it, or make several notes of it",
        ),
        (
            "read_note",
            json!({"note": "plam"}),
            "refused: there is no note `plam`; did you mean `plan`?",
        ),
        (
            "read_note",
            json!({"note": dots}),
            "refused: there is no note `../../work/plan`; did you mean `plan`?",
        ),
        (
            "delete_note",
            json!({"note": "/etc/passwd\0"}),
            "refused: there is no note `/etc/passwd\\0`; list_notes and search_notes show those there are",
        ),
        (
            "search_notes",
            json!({"query": "\"*\""}),
            "refused: `query` has no words to look for: list_notes shows all notes",
        ),
        (
            "search_notes",
            json!({"query": "elephants"}),
            "no note has any of these words; try others, or list_notes",
        ),
    ] {
        assert_eq!(text(&fixture, &notes, name, arguments), said);
    }
    for (title, name) in [
        ("../plan", "plan-2"),
        ("Plan!", "plan-3"),
        ("nul", "nul-note"),
    ] {
        assert_eq!(notes.save(title, "x").unwrap().name, name);
    }
    check(
        &fixture,
        &notes,
        "save_note",
        json!({"title": "one more", "content": "y"}),
        expect![
            "refused: all 4 notes are in use: delete_note those that are no longer needed, or add to one with update_note"
        ],
    );
    check(
        &fixture,
        &notes,
        "list_notes",
        json!({"limit": 1, "offset": 3}),
        expect!["plan: Plan (changed today)"],
    );
}

#[test]
fn links_do_not_lead_out() {
    let fixture = Fixture::new();
    let notes = fixture.within("coder", "notes");
    notes.save("Plan", "x").unwrap();
    fs::write(fixture.path("secret.md"), "CANARY").unwrap();
    symlink(
        fixture.path("secret.md"),
        fixture.path("work/notes/coder/link.md"),
    )
    .unwrap();
    let listed = text(&fixture, &notes, "list_notes", json!({}));
    assert!(listed.contains("link cannot be read"), "{listed}");
    for (name, arguments) in [
        ("read_note", json!({"note": "link"})),
        ("search_notes", json!({"query": "canary"})),
        (
            "update_note",
            json!({"note": "link", "version": "x", "content": "x"}),
        ),
        ("delete_note", json!({"note": "link"})),
    ] {
        let said = text(&fixture, &notes, name, arguments);
        assert!(!said.contains("CANARY"), "{said}");
    }
    assert_eq!(fixture.content("secret.md"), "CANARY");
    // Nor does a folder that is one.
    fs::create_dir(fixture.path("outside")).unwrap();
    symlink(fixture.path("outside"), fixture.path("work/linked")).unwrap();
    let said = text(
        &fixture,
        &fixture.within("coder", "linked"),
        "save_note",
        json!({"title": "x", "content": "x"}),
    );
    assert!(said.starts_with("refused: "), "{said}");
    assert_eq!(fs::read_dir(fixture.path("outside")).unwrap().count(), 0);
}

fn context(fixture: &Fixture) -> ResolverContext {
    ResolverContext {
        agent: "coder".to_owned(),
        asked_by: Vec::new(),
        agent_dir: fixture.path("agent"),
        workspace: fixture.path("work"),
        thread: None,
        control_paths: vec![fixture.path("work/.claude/skills")],
        callbacks: Default::default(),
    }
}

#[tokio::test]
async fn what_a_config_resolves_to() {
    let fixture = Fixture::new();
    let resolver = NotesResolver(Builtins::new(fixture.store()));
    for (config, expected) in [
        (json!({}), "ready"),
        (json!({"dir": "docs"}), "ready"),
        (json!({"dir": "../data"}), "is outside the allowed folders"),
        (json!({"dir": "/etc"}), "is outside the allowed folders"),
        (
            json!({"dir": ".claude/skills"}),
            "belongs to what controls this agent",
        ),
        (json!({"folder": "x"}), "unknown field `folder`"),
    ] {
        let said = match resolver.resolve(&config, &context(&fixture)).await {
            Ok(Resolution::Ready(_) | Resolution::Only { .. }) => "ready".to_owned(),
            Ok(Resolution::Nothing { reason }) => reason,
            Err(error) => error.message,
        };
        assert!(said.contains(expected), "{config}: {said}");
    }
    assert!(
        !Path::new(&fixture.path("data")).exists(),
        "nothing is made by asking"
    );
}

#[tokio::test]
async fn nothing_that_changes_is_visible_in_read_only() {
    let fixture = Fixture::new();
    let tester = fixture.of("tester");
    tester.save("Plan", "x").unwrap();
    let resolver = Arc::new(NotesResolver(Builtins::new(fixture.store())));
    let bench = Bench::default().with(resolver, json!({}));
    let end = async |mode, tool: &str, arguments: &Value| {
        let ended = bench
            .call(mode, &format!("notes__{tool}"), arguments.clone())
            .await;
        ended.code().map_or(ended.status(), |it| it.as_str())
    };
    let plan = json!({"note": "plan"});
    let saving = json!({"title": "t", "content": "c"});
    let update = json!({"note": "plan", "version": version(&tester, "plan"), "content": "c"});
    for (tool, arguments, read_only, auto) in [
        ("save_note", &saving, "not_visible", "completed"),
        ("read_note", &plan, "completed", "completed"),
        ("list_notes", &json!({}), "completed", "completed"),
        (
            "search_notes",
            &json!({"query": "x"}),
            "completed",
            "completed",
        ),
        ("update_note", &update, "not_visible", "completed"),
        ("update_note", &update, "not_visible", "refused"),
        ("share_note", &plan, "not_visible", "completed"),
        ("pin_note", &plan, "not_visible", "completed"),
        ("unpin_note", &plan, "not_visible", "completed"),
        ("delete_note", &plan, "not_visible", "completed"),
        ("delete_note", &plan, "not_visible", "refused"),
        (
            "save_note",
            &json!({"title": "x".repeat(121), "content": "c"}),
            "not_visible",
            "input_invalid",
        ),
        (
            "save_note",
            &json!({"title": "x", "content": "c".repeat(100_001)}),
            "not_visible",
            "input_invalid",
        ),
        (
            "update_note",
            &json!({"note": "plan", "content": "c"}),
            "not_visible",
            "input_invalid",
        ),
        (
            "list_notes",
            &json!({"limit": 0}),
            "input_invalid",
            "input_invalid",
        ),
        (
            "read_note",
            &json!({"note": ""}),
            "input_invalid",
            "input_invalid",
        ),
    ] {
        assert_eq!(
            end(Mode::ReadOnly, tool, arguments).await,
            read_only,
            "{tool} {arguments}"
        );
        assert_eq!(
            end(Mode::Auto, tool, arguments).await,
            auto,
            "{tool} {arguments}"
        );
    }
}
