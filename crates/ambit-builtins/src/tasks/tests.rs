use ambit_core::permission::Mode;
use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::trial::{Said, Trial};

fn trial() -> Trial {
    Trial::new(
        |it| Arc::new(TasksResolver::new(&it.store, &it.clock)),
        json!({}),
    )
}

fn id(said: &Said) -> String {
    let id = said.data["id"].as_str();
    id.unwrap_or_else(|| panic!("{}", said.text)).to_owned()
}

#[tokio::test]
async fn a_task_from_its_draft_to_its_end() {
    let trial = trial();
    let made = trial
        .call(
            "a",
            "create_task",
            json!({
                "title": " Write the guide ", "description": "For beginners.",
                "steps": ["outline", "text"], "draft": true, "owner": "user",
            }),
        )
        .await;
    let task = id(&made);
    assert_eq!(
        made.text,
        format!("created {task} [draft] Write the guide (user, 0 of 2 steps), now at version 1")
    );
    trial.pass(60);
    for (tool, arguments, said) in [
        (
            "complete_task",
            json!({}),
            "refused: `ID` stays as it is: it is a draft; open it first, with update_task and `state` `open`, or cancel it",
        ),
        (
            "update_task",
            json!({"version": 1, "state": "open", "owner": "me"}),
            "updated ID [open] Write the guide (agent:a, 0 of 2 steps), now at version 2",
        ),
        (
            "complete_task",
            json!({}),
            "refused: `ID` stays as it is: not everything in it is finished\n- step `outline`\n- step `text`\nfinish them, or mark steps `skipped` with update_steps and cancel subtasks",
        ),
        (
            "update_steps",
            json!({"version": 2, "steps": [{"text": "outline", "state": "done"}, {"text": "text", "state": "skipped"}]}),
            "updated ID [open] Write the guide (agent:a, 2 of 2 steps), now at version 3",
        ),
        (
            "add_resource",
            json!({"resource": "docs/guide.md", "note": "the page"}),
            "noted for ID [open] Write the guide (agent:a, 2 of 2 steps), now at version 4",
        ),
        (
            "complete_task",
            json!({"outcome": "in docs/"}),
            "completed ID [done] Write the guide (agent:a, 2 of 2 steps), now at version 5",
        ),
        (
            "complete_task",
            json!({"outcome": "again"}),
            "completed ID [done] Write the guide (agent:a, 2 of 2 steps), now at version 5",
        ),
        (
            "cancel_task",
            json!({}),
            "refused: `ID` stays as it is: it is done; take it up again first, with update_task and `state` `open`",
        ),
        (
            "remove_resource",
            json!({"resource": "docs/guide.md"}),
            "refused: `ID` cannot be changed: it is done; take it up again first, with update_task and `state` `open`",
        ),
        (
            "get_task",
            json!({}),
            "ID [done] Write the guide\nversion 5, owner agent:a, made by agent:a on 2023-11-14, changed 2023-11-14 22:14:20 UTC\noutcome: in docs/\n\nFor beginners.\n\nsteps:\n1. [done] outline\n2. [skipped] text\n\nresources:\n- docs/guide.md: the page",
        ),
        (
            "list_task_history",
            json!({"limit": 2}),
            "5  2023-11-14 22:14:20 UTC  agent:a  state was `open`, now `done`; outcome: `in docs/`\n4  2023-11-14 22:14:20 UTC  agent:a  resource `docs/guide.md`: `the page`\nthere is more; go on with `before` 4",
        ),
        (
            "list_task_history",
            json!({"before": 3}),
            "2  2023-11-14 22:14:20 UTC  agent:a  owner was `user`, now `agent:a`; state was `draft`, now `open`\n1  2023-11-14 22:13:20 UTC  agent:a  created: `Write the guide`",
        ),
        (
            "update_task",
            json!({"version": 5, "state": "open"}),
            "updated ID [open] Write the guide (agent:a, 2 of 2 steps), now at version 6",
        ),
        (
            "remove_resource",
            json!({"resource": "docs/guide.md"}),
            "taken off ID [open] Write the guide (agent:a, 2 of 2 steps), now at version 7",
        ),
    ] {
        let mut arguments = arguments;
        arguments["task"] = json!(task);
        let answer = trial.call("a", tool, arguments).await;
        assert_eq!(answer.text.replace(&task, "ID"), said, "{tool}");
    }
}

#[tokio::test]
async fn a_stale_change_is_refused_with_what_is_there() {
    let trial = trial();
    let task = id(&trial.call("a", "create_task", json!({"title": "t"})).await);
    let change = |title: &str| json!({"task": task, "version": 1, "title": title});
    trial.call("a", "update_task", change("first")).await;
    let stale = trial.call("a", "update_task", change("second")).await.text;
    assert!(
        stale.starts_with(&format!(
            "refused: not changed: `{task}` is at version 2, not 1."
        )) && stale.contains("[open] first"),
        "{stale}"
    );
    let steps = json!({"task": task, "version": 1, "steps": []});
    let stale = trial.call("a", "update_steps", steps).await.text;
    assert!(stale.contains("is at version 2, not 1"), "{stale}");
}

#[tokio::test]
async fn parts_stand_in_the_way_and_go_with_the_whole() {
    let trial = trial();
    let task = id(&trial
        .call("a", "create_task", json!({"title": "whole"}))
        .await);
    let part = |parent: &str| json!({"parent": parent, "title": "part", "owner": "agent:b"});
    let first = id(&trial.call("a", "create_subtask", part(&task)).await);
    let below = id(&trial.call("b", "create_subtask", part(&first)).await);
    let done = id(&trial.call("b", "create_subtask", part(&first)).await);
    trial
        .call("b", "complete_task", json!({"task": done}))
        .await;

    let refused = trial
        .call("a", "complete_task", json!({"task": task}))
        .await
        .text;
    assert!(
        refused.contains(&format!("- subtask {first} [open] part (agent:b)")),
        "{refused}"
    );
    let cancelled = trial
        .call("a", "cancel_task", json!({"task": task, "outcome": "no"}))
        .await;
    assert!(
        cancelled
            .text
            .ends_with(&format!("cancelled with it:\n- {first}\n- {below}")),
        "{}",
        cancelled.text
    );
    for (id, state, outcome) in [
        (&first, "cancelled", json!(format!("cancelled with {task}"))),
        (&below, "cancelled", json!(format!("cancelled with {task}"))),
        (&done, "done", json!(null)),
    ] {
        let is = trial.call("b", "get_task", json!({"task": id})).await.data;
        assert_eq!((&is["state"], &is["outcome"]), (&json!(state), &outcome));
    }
    let history = trial
        .call("b", "list_task_history", json!({"task": first}))
        .await;
    assert_eq!(history.data["changes"][0]["who"], "agent:a");
    for (tool, arguments, said) in [
        (
            "update_task",
            json!({"task": first, "version": 2, "state": "open"}),
            "the task it is a part of is cancelled; take that up again first",
        ),
        (
            "create_subtask",
            json!({"parent": task, "title": "x"}),
            "cannot be divided: it is cancelled",
        ),
    ] {
        let answer = trial.call("a", tool, arguments).await.text;
        assert!(answer.contains(said), "{answer}");
    }
}

#[tokio::test]
async fn who_sees_what() {
    let trial = trial();
    let new = |title: &str, owner: &str| json!({"title": title, "owner": owner});
    let own = id(&trial.call("a", "create_task", new("own", "me")).await);
    trial
        .call("a", "create_task", new("the user's", "user"))
        .await;
    trial
        .call("a", "create_task", new("given", "agent:b"))
        .await;
    let part = json!({"parent": own, "title": "part", "owner": "agent:b"});
    trial.call("a", "create_subtask", part).await;
    for (agent, filter, titles) in [
        ("a", json!({}), "part, given, the user's, own"),
        ("b", json!({}), "part, given, the user's"),
        ("c", json!({}), "the user's"),
        ("b", json!({"owner": "me"}), "part, given"),
        ("a", json!({"owner": "agent:b"}), "part, given"),
        ("a", json!({"parent": own}), "part"),
        ("a", json!({"query": "OW"}), "own"),
        ("a", json!({"query": "%"}), ""),
        ("a", json!({"state": "done"}), ""),
        ("a", json!({"limit": 1, "offset": 1}), "given"),
    ] {
        let listed = trial.call(agent, "list_tasks", filter.clone()).await;
        let listed = listed.data["tasks"].as_array().unwrap().iter();
        let listed: Vec<_> = listed.map(|it| it["title"].as_str().unwrap()).collect();
        assert_eq!(listed.join(", "), titles, "{agent} {filter}");
    }
    for tool in [
        "get_task",
        "complete_task",
        "cancel_task",
        "list_task_history",
    ] {
        let answer = trial.call("b", tool, json!({"task": own})).await.text;
        let missing = format!("no task `{own}` is known here; list_tasks shows those there are");
        assert_eq!(answer, format!("refused: {missing}"), "{tool}");
    }
    let page = trial.call("a", "list_tasks", json!({"limit": 3})).await;
    assert_eq!(
        (&page.data["total"], &page.data["nextOffset"]),
        (&json!(4), &json!(3))
    );
    assert!(
        page.text.ends_with("4 in all; go on with `offset` 3"),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn limits_and_what_makes_no_sense() {
    let trial = trial();
    let task = id(&trial.call("a", "create_task", json!({"title": "t"})).await);
    let steps =
        |count: usize| -> Value { (0..count).map(|n| json!({"text": n.to_string()})).collect() };
    for (tool, arguments, said) in [
        ("create_task", json!({}), "input_invalid"),
        ("create_task", json!({"title": ""}), "input_invalid"),
        (
            "create_task",
            json!({"title": " \t"}),
            "a title is one line",
        ),
        (
            "create_task",
            json!({"title": "a\nb"}),
            "a title is one line",
        ),
        (
            "create_task",
            json!({"title": "x".repeat(201)}),
            "input_invalid",
        ),
        (
            "create_task",
            json!({"title": "x", "description": "x".repeat(20_001)}),
            "input_invalid",
        ),
        (
            "create_task",
            json!({"title": "x", "owner": "somebody"}),
            "input_invalid",
        ),
        (
            "create_task",
            json!({"title": "x", "owner": "agent:"}),
            "input_invalid",
        ),
        (
            "create_task",
            json!({"title": "x", "steps": ["a", " a "]}),
            "two steps say `a`",
        ),
        (
            "create_subtask",
            json!({"parent": "t-none", "title": "x"}),
            "no task `t-none`",
        ),
        ("get_task", json!({"task": "x".repeat(65)}), "input_invalid"),
        (
            "update_task",
            json!({"task": task, "version": 1}),
            "nothing to change",
        ),
        (
            "update_task",
            json!({"task": task, "title": "x"}),
            "input_invalid",
        ),
        (
            "update_task",
            json!({"task": task, "version": 1, "state": "done"}),
            "input_invalid",
        ),
        (
            "update_steps",
            json!({"task": task, "version": 1, "steps": steps(101)}),
            "input_invalid",
        ),
        (
            "update_steps",
            json!({"task": task, "version": 1, "steps": [{"text": "x", "state": "?"}]}),
            "input_invalid",
        ),
        (
            "update_steps",
            json!({"task": task, "version": 1, "steps": steps(100)}),
            "updated",
        ),
        (
            "add_resource",
            json!({"task": task, "resource": "x".repeat(2001)}),
            "input_invalid",
        ),
        (
            "remove_resource",
            json!({"task": task, "resource": "x"}),
            "has no resource `x`",
        ),
        ("list_tasks", json!({"limit": 201}), "input_invalid"),
        ("list_tasks", json!({"state": "lost"}), "input_invalid"),
        (
            "complete_task",
            json!({"task": task, "outcome": "x".repeat(2001)}),
            "input_invalid",
        ),
    ] {
        let answer = trial.call("a", tool, arguments).await.text;
        assert!(answer.contains(said), "{tool}: {answer}");
    }
    let mut deepest = task.clone();
    for _ in 0..3 {
        let part = json!({"parent": deepest, "title": "deeper"});
        deepest = id(&trial.call("a", "create_subtask", part).await);
    }
    let part = json!({"parent": deepest, "title": "too deep"});
    let answer = trial.call("a", "create_subtask", part).await.text;
    assert!(
        answer.contains("is 4 tasks deep, the deepest there is"),
        "{answer}"
    );
}

#[tokio::test]
async fn nothing_that_changes_is_there_in_read_only() {
    let trial = trial();
    assert_eq!(
        trial.visible(Mode::ReadOnly).await,
        ["get_task", "list_task_history", "list_tasks"]
    );
    assert_eq!(trial.visible(Mode::Auto).await.len(), PACK.tools.len());
    for tool in PACK.tools.iter().filter(|it| it.effects.changes()) {
        assert_eq!(
            trial.read_only(tool.name).await,
            "not_visible",
            "{}",
            tool.name
        );
    }
}

/// Tasks without a pipeline around them.
fn plain(folder: &TempDir) -> Tasks {
    Tasks {
        store: Store::at(folder.path()),
        clock: Arc::new(|| Timestamp::UNIX_EPOCH),
        me: Party::User,
    }
}

fn run(tasks: &Tasks, tool: &str, arguments: Value) -> Result<Output, Failure> {
    let tool = PACK.tools.iter().find(|it| it.name == tool).unwrap();
    (tool.run)(tasks, arguments)
}

fn made(tasks: &Tasks, tool: &str, arguments: Value) -> Option<String> {
    let output = run(tasks, tool, arguments).ok()?.structured?;
    Some(output["id"].as_str()?.to_owned())
}

#[test]
fn there_is_a_most_of_everything() {
    let folder = TempDir::new().unwrap();
    let tasks = plain(&folder);
    let task = made(&tasks, "create_task", json!({"title": "t"})).unwrap();
    let said = |tool: &str, arguments: Value| run(&tasks, tool, arguments).unwrap_err().message;
    let resource = |n: usize| json!({"task": task, "resource": n.to_string()});
    (0..50).for_each(|n| drop(run(&tasks, "add_resource", resource(n)).unwrap()));
    assert!(said("add_resource", resource(50)).contains("at most 50 resources"));
    run(&tasks, "add_resource", resource(0)).unwrap();
    let part = || json!({"parent": task, "title": "p"});
    (0..100).for_each(|_| drop(run(&tasks, "create_subtask", part()).unwrap()));
    assert!(said("create_subtask", part()).contains("100 subtasks, the most"));
    tasks
        .store
        .write(|it| {
            Ok(it.execute(
                "INSERT INTO tasks WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \
                 WHERE i < 899) SELECT 'n' || i, NULL, '', '', 'user', 'open', '[]', '[]', NULL, \
                 'user', 0, 0, 1 FROM n",
                [],
            )?)
        })
        .unwrap();
    assert!(said("create_task", json!({"title": "t"})).contains("1000 unfinished tasks"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_is_done_nothing_unfinished_is_in_what_has_ended(
        acts in proptest::collection::vec((0..6usize, 0..8usize), 1..24)
    ) {
        let folder = TempDir::new().unwrap();
        let tasks = plain(&folder);
        let mut ids = vec![made(&tasks, "create_task", json!({"title": "t"})).unwrap()];
        for (act, of) in acts {
            let id = ids[of % ids.len()].clone();
            let version = tasks.read(|it| Ok(it.find(&id)?.version)).unwrap();
            let new = match act {
                0 => made(&tasks, "create_subtask", json!({"parent": id, "title": "p", "steps": ["s"]})),
                1 => made(&tasks, "create_subtask", json!({"parent": id, "title": "p", "draft": true})),
                2 => run(&tasks, "complete_task", json!({"task": id})).ok().and(None),
                3 => run(&tasks, "cancel_task", json!({"task": id})).ok().and(None),
                4 => run(&tasks, "update_task", json!({"task": id, "version": version, "state": "open"})).ok().and(None),
                _ => run(&tasks, "update_steps", json!({"task": id, "version": version, "steps": [{"text": "s", "state": "done"}]})).ok().and(None),
            };
            ids.extend(new);
            tasks.read(|it| {
                for id in &ids {
                    let task = it.find(id)?;
                    let changes = it.history(&task, None, 1_000)?;
                    assert_eq!(changes.len() as i64, task.version);
                    if task.state.has_ended() {
                        assert!(it.unended_below(id)?.is_empty());
                    }
                    if task.state == state::State::Done {
                        assert_eq!(task.unfinished_steps().count(), 0);
                    }
                }
                Ok(())
            }).unwrap();
        }
    }
}
