//! Several who work on the same tasks.

use serde_json::json;

use super::{id, trial};

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
