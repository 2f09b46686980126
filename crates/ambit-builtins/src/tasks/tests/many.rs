//! Many tasks and many changes, with no pipeline around them.

use std::sync::Arc;

use ambit_core::observation::{Failure, Output};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::state::State;
use super::super::task::Party;
use super::super::{PACK, Tasks};
use crate::store::Store;

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
                    if task.state == State::Done {
                        assert_eq!(task.unfinished_steps().count(), 0);
                    }
                }
                Ok(())
            }).unwrap();
        }
    }
}
