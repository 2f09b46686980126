//! From a draft to the end, alone and with parts.

use serde_json::json;

use super::{id, trial};

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
