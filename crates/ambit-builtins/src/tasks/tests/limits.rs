//! What is refused.

use ambit_core::permission::Mode;
use serde_json::{Value, json};

use super::super::PACK;
use super::{id, trial};

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
