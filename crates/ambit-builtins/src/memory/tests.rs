use std::sync::Arc;
use std::time::Duration;

use ambit_core::observation::Failure;
use ambit_core::permission::Mode;
use ambit_testkit::Bench;
use expect_test::{Expect, expect};
use jiff::Timestamp;
use parking_lot::Mutex;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::memories::{Limits, Memories, Saved};
use super::{MemoryResolver, tools};
use crate::Builtins;
use crate::asked::Asked;
use crate::store::Store;

/// A workspace's store, and a clock that goes on by a day with every look.
struct Workspace {
    folder: TempDir,
    now: Arc<Mutex<Timestamp>>,
}

impl Workspace {
    fn new() -> Self {
        Workspace {
            folder: TempDir::new().unwrap(),
            now: Arc::new(Mutex::new("2026-01-01T12:00:00Z".parse().unwrap())),
        }
    }

    fn builtins(&self) -> Builtins {
        let now = Arc::clone(&self.now);
        Builtins {
            clock: Arc::new(move || {
                let mut now = now.lock();
                *now += Duration::from_secs(24 * 60 * 60);
                *now
            }),
            ..Builtins::new(Store::at(self.folder.path()))
        }
    }

    fn of(&self, agent: &str, pool: Option<&str>) -> Memories {
        let Builtins { store, clock, .. } = self.builtins();
        Memories {
            store,
            clock,
            agent: agent.to_owned(),
            pool: pool.map(str::to_owned),
            limits: Limits {
                entries: 5,
                characters: 80,
            },
        }
    }
}

/// What a tool says, or the refusal with its code before it.
fn text(memories: &Memories, name: &str, arguments: Value) -> String {
    let tool = tools::TOOLS.iter().find(|it| it.name == name).unwrap();
    match (tool.run)(memories, arguments) {
        Ok(output) => output.content[0].as_text().unwrap().to_owned(),
        Err(Failure { code, message, .. }) => format!("{}: {message}", code.as_str()),
    }
}

#[track_caller]
fn check(memories: &Memories, name: &str, arguments: Value, said: Expect) {
    said.assert_eq(&text(memories, name, arguments));
}

fn filled(workspace: &Workspace) -> Memories {
    let memories = workspace.of("coder", Some("coder"));
    for text in [
        "The user prefers tabs over spaces",
        "Deploys run from the main branch",
        "The staging database listens on port 5433",
    ] {
        memories.save(text).unwrap();
    }
    memories
}

#[test]
fn memories_are_saved_found_changed_and_deleted() {
    let workspace = Workspace::new();
    let memories = filled(&workspace);
    check(
        &memories,
        "save_memory",
        json!({"text": " Releases are tagged by the bot "}),
        expect!["saved as `m4`"],
    );
    check(
        &memories,
        "search_memories",
        json!({"query": "what does the user prefer: tab or space?"}),
        expect!["m1: The user prefers tabs over spaces (saved by coder on 2026-01-02)"],
    );
    check(
        &memories,
        "update_memory",
        json!({"id": "m1", "text": "The user prefers four spaces"}),
        expect!["updated `m1`. Before: The user prefers tabs over spaces"],
    );
    check(
        &memories,
        "list_memories",
        json!({"limit": 2}),
        expect![[r#"
            m4: Releases are tagged by the bot (saved by coder on 2026-01-05)
            m3: The staging database listens on port 5433 (saved by coder on 2026-01-04)
            2 of 4 shown; the rest with {"before":"m3"}"#]],
    );
    check(
        &memories,
        "list_memories",
        json!({"before": "m3"}),
        expect![[r#"
            m2: Deploys run from the main branch (saved by coder on 2026-01-03)
            m1: The user prefers four spaces (saved by coder on 2026-01-02, changed by coder on 2026-01-06)"#]],
    );
    check(
        &memories,
        "delete_memory",
        json!({"id": "m1"}),
        expect!["deleted `m1`, which said: The user prefers four spaces"],
    );
    for query in ["tabs", "four spaces"] {
        assert_eq!(memories.search(&Asked::of(query), 9).unwrap(), []);
    }
}

#[test]
fn nearly_the_same_is_kept_once() {
    let memories = filled(&Workspace::new());
    check(
        &memories,
        "save_memory",
        json!({"text": "user prefers tabs over spaces!"}),
        expect![[r#"
            not saved again: `m1` says it already: The user prefers tabs over spaces
            If something has changed, use update_memory."#]],
    );
    check(
        &memories,
        "save_memory",
        json!({"text": "Deploys always run from the main branch"}),
        expect![
            "`m2` said nearly the same and now says this. Before: Deploys run from the main branch"
        ],
    );
    check(
        &memories,
        "save_memory",
        json!({"text": "The staging database listens on port 5434"}),
        expect!["saved as `m4`"],
    );
    check(
        &memories,
        "update_memory",
        json!({"id": "m4", "text": "The staging database listens on port 5433."}),
        expect![[r#"
            updated `m4`. Before: The staging database listens on port 5434
            `m3` says nearly the same: The staging database listens on port 5433
            If one of them is enough, delete the other."#]],
    );
}

#[test]
fn what_cannot_be_done_says_what_can() {
    let memories = filled(&Workspace::new());
    let long = "x".repeat(81);
    for (name, arguments, said) in [
        (
            "save_memory",
            json!({"text": " \n"}),
            "refused: `text` is empty: say what to remember",
        ),
        (
            "save_memory",
            json!({"text": long}),
            "refused: `text` has 81 characters and a memory at most 80: shorten it, or save one fact per memory",
        ),
        (
            "update_memory",
            json!({"id": "m9", "text": "x"}),
            "refused: there is no memory `m9`: list_memories shows those there are",
        ),
        (
            "delete_memory",
            json!({"id": "9; DROP"}),
            "refused: `9; DROP` is not a memory's id, which is `m` and a number: list_memories shows them",
        ),
        (
            "search_memories",
            json!({"query": "?! *"}),
            "refused: `query` has no words to look for: list_memories shows everything",
        ),
        (
            "search_memories",
            json!({"query": "elephants"}),
            "nothing that is remembered has any of these words; try others, or list_memories",
        ),
        ("list_memories", json!({"before": "m1"}), ""),
    ] {
        assert_eq!(text(&memories, name, arguments), said);
    }
    for n in 0..2 {
        assert_eq!(
            text(
                &memories,
                "save_memory",
                json!({"text": format!("fact {n}")})
            ),
            format!("saved as `m{}`", n + 4)
        );
    }
    check(
        &memories,
        "save_memory",
        json!({"text": "one more"}),
        expect![
            "refused: all 5 memories are in use: delete or merge some with delete_memory and update_memory, then save again"
        ],
    );
    // What is there already is still found to be.
    assert!(
        text(&memories, "save_memory", json!({"text": "FACT 1"})).starts_with("not saved again")
    );
}

#[test]
fn words_are_found_by_stem_beginning_and_part() {
    let memories = filled(&Workspace::new());
    memories.save("東京の事務所は月曜日に閉まる").unwrap();
    for (query, found) in [
        ("deployed branches", "m2"),
        ("databases", "m3"),
        ("port", "m3"),
        ("dat", "m3"),
        ("taging", "m3"),
        ("事務所", "m4"),
        ("main OR (NEAR \"", "m2"),
        // All of the words before some of them.
        ("main port of the staging database", "m3 m2"),
    ] {
        let hits = memories.search(&Asked::of(query), 9).unwrap();
        let ids: Vec<_> = hits.iter().map(|it| format!("m{}", it.number)).collect();
        assert_eq!(ids.join(" "), found, "{query}");
    }
}

#[test]
fn a_pool_is_closed_to_others() {
    let workspace = Workspace::new();
    let own = filled(&workspace);
    let other = workspace.of("reviewer", Some("reviewer"));
    let shared = workspace.of("reviewer", None);
    for pool in [&other, &shared] {
        assert_eq!(pool.list(None, 9).unwrap().1, 0);
        assert_eq!(pool.search(&Asked::of("tabs"), 9).unwrap(), []);
        assert!(pool.update(1, "mine").is_err() && pool.delete(1).is_err());
    }
    let Saved::New(memory) = shared.save("The user prefers tabs over spaces").unwrap() else {
        panic!("another pool's memory was taken for one of this");
    };
    let changed = workspace
        .of("coder", None)
        .update(memory.number, "Tabs")
        .unwrap();
    assert_eq!(changed.memory.saved.by, "reviewer");
    assert_eq!(changed.memory.changed.unwrap().by, "coder");
    assert_eq!(own.list(None, 9).unwrap().1, 3);
}

#[test]
fn an_export_comes_back_and_can_be_searched() {
    let (here, there) = (Workspace::new(), Workspace::new());
    let from = filled(&here);
    let to = there.of("coder", Some("coder"));
    to.save("Something else under the first number").unwrap();
    to.store.import(&from.store.export().unwrap()).unwrap();
    assert_eq!(to.list(None, 9).unwrap(), from.list(None, 9).unwrap());
    assert_eq!(to.search(&Asked::of("tabs"), 9).unwrap().len(), 1);
    assert_eq!(to.search(&Asked::of("else"), 9).unwrap(), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_is_saved_is_found(texts in prop::collection::vec("[a-z]{3,8}( [a-z0-9]{3,8}){1,4}", 1..5)) {
        let workspace = Workspace::new();
        let memories = workspace.of("a", None);
        for text in &texts {
            let number = match memories.save(text).unwrap() {
                Saved::New(it) | Saved::Known(it) | Saved::Extended { memory: it, .. } => it.number,
            };
            let found = memories.search(&Asked::of(text), 9).unwrap();
            prop_assert!(found.iter().any(|it| it.number == number), "{}", text);
        }
    }
}

#[tokio::test]
async fn nothing_that_changes_is_visible_in_read_only() {
    let workspace = Workspace::new();
    filled(&workspace);
    let resolver = Arc::new(MemoryResolver(workspace.builtins()));
    let bench = Bench::default().with(resolver, json!({"scope": "shared", "maxEntries": 1}));
    let end = async |mode, tool: &str, arguments: Value| {
        let ended = bench
            .call(mode, &format!("memory__{tool}"), arguments)
            .await;
        match ended.code() {
            Some(code) => code.as_str(),
            None => ended.status(),
        }
    };
    let text = json!({"text": "x"});
    let change = json!({"id": "m4", "text": "y"});
    for (mode, tool, arguments, expected) in [
        (Mode::ReadOnly, "save_memory", &text, "not_visible"),
        (Mode::ReadOnly, "update_memory", &change, "not_visible"),
        (
            Mode::ReadOnly,
            "delete_memory",
            &json!({"id": "m4"}),
            "not_visible",
        ),
        (Mode::ReadOnly, "list_memories", &json!({}), "completed"),
        (
            Mode::ReadOnly,
            "search_memories",
            &json!({"query": "tabs"}),
            "completed",
        ),
        (Mode::Auto, "save_memory", &text, "completed"),
        (Mode::Auto, "save_memory", &json!({"text": "z"}), "refused"),
        (
            Mode::Auto,
            "save_memory",
            &json!({"text": "x".repeat(4001)}),
            "input_invalid",
        ),
        (Mode::Auto, "save_memory", &json!({}), "input_invalid"),
        (
            Mode::Auto,
            "search_memories",
            &json!({"query": ""}),
            "input_invalid",
        ),
        (
            Mode::Auto,
            "list_memories",
            &json!({"limit": 0}),
            "input_invalid",
        ),
        (Mode::Auto, "update_memory", &change, "completed"),
        (
            Mode::Auto,
            "delete_memory",
            &json!({"id": "m4"}),
            "completed",
        ),
        (Mode::Auto, "delete_memory", &json!({"id": "m4"}), "refused"),
        (
            Mode::Auto,
            "delete_memory",
            &json!({"id": "4"}),
            "input_invalid",
        ),
    ] {
        assert_eq!(
            end(mode, tool, arguments.clone()).await,
            expected,
            "{tool} {arguments}"
        );
    }
}
