//! `self` from the command line: what an agent changes about itself, asked about every time, seen
//! by its next session, and taken back by a person.

use std::process::Stdio;

use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::support::{call, configured, ended, reason};

fn home() -> Home {
    configured(json!({"agents": {
        "a": {"capabilities": ["self", "skills"]},
        "b": {"capabilities": ["self", "skills"]},
    }}))
}

#[track_caller]
fn structured(home: &Home, name: &str, input: Value, more: &[&str]) -> Value {
    let id = format!("local__self__{name}");
    let run = call(
        home,
        &id,
        input,
        &[&["--agent", "a", "--yes"], more].concat(),
    );
    assert_eq!(ended(&run), "completed", "{run:?}");
    run.json()["structuredContent"].clone()
}

#[test]
fn a_skill_is_there_for_its_agent_and_has_to_be_accepted() {
    let home = home();
    let skill = json!({"name": "weekly-report", "description": "How to write the report.", "instructions": "Collect first."});
    structured(&home, "create_skill", skill.clone(), &[]);
    for (agent, sees) in [("a", true), ("b", false)] {
        let visible = home.run(&["visible", "--agent", agent, "--json"]).exits(0);
        let visible = visible.json()["visible"].to_string();
        assert_eq!(visible.contains("skill__weekly-report"), sees, "{agent}");
    }
    let load = json!({"name": "weekly-report"});
    let asked = call(
        &home,
        "load_skill",
        load.clone(),
        &["--agent", "a", "--mode", "auto"],
    );
    assert_eq!(ended(&asked), "denied approval_pending");
    let loaded = call(&home, "load_skill", load, &["--agent", "a", "--yes"]);
    assert!(loaded.stdout.contains("Collect first."), "{loaded:?}");
    // Nobody else can take the name.
    let taken = call(
        &home,
        "local__self__create_skill",
        skill,
        &["--agent", "b", "--yes"],
    );
    assert!(reason(&taken).contains("choose another"), "{taken:?}");
}

#[test]
fn a_yes_for_good_is_a_yes_to_one_call() {
    let home = home();
    let add = |title: &str| {
        call(
            &home,
            "local__self__add_responsibility",
            json!({"title": title}),
            &["--agent", "a"],
        )
    };
    let run = add("the inbox");
    assert_eq!(ended(&run), "denied approval_pending");
    let allowed = home
        .run(&["approvals", "allow", "1", "--for", "always", "--json"])
        .exits(0);
    assert_eq!(allowed.json()["answer"], "once");
    assert_eq!(ended(&add("the inbox")), "completed");
    assert_eq!(ended(&add("the build")), "denied approval_pending");
    // Where nobody is to be asked, nobody is; everything can be taken back.
    let run = call(
        &home,
        "local__self__add_responsibility",
        json!({"title": "x"}),
        &["--agent", "a", "--mode", "auto"],
    );
    assert_eq!(ended(&run), "completed");
}

#[test]
fn a_person_sees_what_changed_and_takes_it_back() {
    let home = home();
    let revision = structured(&home, "read_my_instructions", json!({}), &[])["revision"].clone();
    structured(
        &home,
        "update_my_instructions",
        json!({"instructions": "Be brief.", "revision": revision}),
        &[],
    );
    structured(
        &home,
        "add_responsibility",
        json!({"title": "the inbox"}),
        &[],
    );
    let history = home
        .run(&["agents", "history", "a", "--json"])
        .exits(0)
        .json();
    let what: Vec<&Value> = history["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["what"])
        .collect();
    assert_eq!(what, [&json!("instructions"), &json!("responsibilities")]);
    let one = home.run(&["agents", "history", "a", "1"]).exits(0);
    assert!(one.stdout.contains("+ Be brief."), "{one:?}");
    home.run(&["agents", "undo", "a", "--to", "0"]).exits(0);
    let read = structured(&home, "read_my_instructions", json!({}), &[]);
    assert_eq!(read["instructions"], "");
    let listed = structured(&home, "list_responsibilities", json!({}), &[]);
    assert_eq!(listed["responsibilities"], json!([]));
    home.run(&["agents", "undo", "a", "--to", "9"]).exits(1);
    home.run(&["agents", "undo", "nobody"]).exits(1);
    home.run(&["agents", "history", "a", "9"]).exits(1);
}

#[test]
fn processes_lose_none_of_each_others_changes() {
    let home = home();
    let children: Vec<_> = (0..6)
        .map(|n| {
            let input = json!({"title": format!("t{n}")}).to_string();
            let id = "local__self__add_responsibility";
            home.command(&["call", id, "--agent", "a", "--yes", "--input", &input])
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let listed = structured(&home, "list_responsibilities", json!({}), &[]);
    let mut numbers: Vec<u64> = listed["responsibilities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["number"].as_u64().unwrap())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn read_only_shows_no_change() {
    let home = home();
    let visible = home
        .run(&["visible", "--agent", "a", "--mode", "read-only", "--json"])
        .exits(0)
        .json();
    let mut names: Vec<&str> = visible["visible"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["id"].as_str()?.strip_prefix("local__self__"))
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
    let run = call(
        &home,
        "local__self__create_skill",
        json!({"name": "a", "description": "d", "instructions": "i"}),
        &["--agent", "a", "--mode", "read-only", "--yes"],
    );
    assert_eq!(ended(&run), "denied not_visible");
}
