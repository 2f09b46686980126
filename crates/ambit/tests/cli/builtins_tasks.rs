//! `tasks` through the binary: several processes at one task, and none of their changes lost.

use std::process::Stdio;

use ambit_testkit::{Home, Run};
use serde_json::{Value, json};

use crate::support::{call, configured, ended, reason};

fn home() -> Home {
    configured(json!({"mode": "auto", "agents": {"a": {"capabilities": {"tasks": {}}}}}))
}

/// Several calls at once, each in a process of its own.
pub(crate) fn at_once(home: &Home, id: &str, inputs: &[Value]) -> Vec<Run> {
    let children: Vec<_> = inputs
        .iter()
        .map(|input| {
            let input = input.to_string();
            let mut command = home.command(&["call", id, "--input", &input, "--json"]);
            command.stdin(Stdio::null());
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            Run {
                code: output.status.code().unwrap_or(255),
                stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
                stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            }
        })
        .collect()
}

fn data(run: &Run) -> Value {
    assert_eq!(ended(run), "completed", "{run:?}");
    run.json()["structuredContent"].clone()
}

#[test]
fn of_two_processes_that_change_one_task_none_loses_the_others_change() {
    let home = home();
    let task = data(&call(
        &home,
        "tasks__create_task",
        json!({"title": "t"}),
        &[],
    ));
    let id = &task["id"];

    // What only adds is added, by all of them.
    let resources: Vec<Value> = (0..4)
        .map(|n| json!({"task": id, "resource": format!("file-{n}")}))
        .collect();
    for run in at_once(&home, "tasks__add_resource", &resources) {
        data(&run);
    }
    let now = data(&call(&home, "tasks__get_task", json!({"task": id}), &[]));
    assert_eq!(now["resources"].as_array().unwrap().len(), 4);
    assert_eq!(now["version"], 5);

    // What replaces succeeds once; the other is told what is there.
    let titles = [
        json!({"task": id, "version": 5, "title": "left"}),
        json!({"task": id, "version": 5, "title": "right"}),
    ];
    let runs = at_once(&home, "tasks__update_task", &titles);
    let (done, refused): (Vec<&Run>, Vec<&Run>) =
        runs.iter().partition(|run| ended(run) == "completed");
    assert_eq!((done.len(), refused.len()), (1, 1), "{runs:?}");
    let title = data(done[0])["title"].as_str().unwrap().to_owned();
    assert_eq!(ended(refused[0]), "failed refused");
    assert!(reason(refused[0]).contains(&title), "{refused:?}");

    let history = call(&home, "tasks__list_task_history", json!({"task": id}), &[]);
    let changes = data(&history)["changes"].as_array().unwrap().len();
    assert_eq!(changes, 6, "each change has its entry");
}
