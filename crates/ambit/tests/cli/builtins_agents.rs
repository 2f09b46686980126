//! `agent-management` from the command line: agents are edited with their comments, what an agent
//! may hand on is written, and the rest waits for a person.

use std::process::Stdio;

use ambit_testkit::{Home, Run};
use serde_json::{Value, json};

use crate::support::{call, ended, home, reason};

const FILE: &str = r#"// mine
{
  "agents": {
    // runs the others
    "lead": { "capabilities": { "agent-management": {}, "files": {}, "memory": {} } },
    "strong": { "capabilities": ["shell"], /* careful */ "mode": "auto" },
  },
}
"#;

fn configured() -> Home {
    let home = home();
    home.user_config(FILE);
    home
}

fn edit(home: &Home, tool: &str, input: Value) -> Run {
    let id = format!("local__agent-management__{tool}");
    call(home, &id, input, &["--agent", "lead", "--yes"])
}

#[track_caller]
fn done(run: &Run) -> Value {
    assert_eq!(ended(run), "completed", "{run:?}");
    run.json()["structuredContent"].clone()
}

fn file(home: &Home) -> String {
    std::fs::read_to_string(home.home().join(".config/ambit/ambit.json")).unwrap()
}

#[test]
fn what_the_caller_has_is_handed_on_and_comments_stay() {
    let home = configured();
    let helper = json!({"name": "helper", "description": "helps", "instructions": "Be brief.", "capabilities": {"files": {"tools": ["grep"]}}});
    assert_eq!(
        done(&edit(&home, "create_agent", helper.clone()))["status"],
        "written"
    );
    let again = edit(&home, "create_agent", helper);
    assert!(
        reason(&again).contains("change it with update_agent"),
        "{again:?}"
    );
    let update = json!({"name": "helper", "capabilities": {"files": {}}, "mode": "read-only", "description": null});
    assert_eq!(
        done(&edit(&home, "update_agent", update))["status"],
        "written"
    );
    let read = done(&edit(&home, "read_agent", json!({"name": "helper"})));
    assert_eq!(
        read["entry"],
        json!({"capabilities": {"files": {}}, "instructions": "Be brief.", "mode": "read-only"})
    );
    let text = file(&home);
    for kept in ["// mine", "// runs the others", "/* careful */"] {
        assert!(text.contains(kept), "{text}");
    }
    home.run(&["check"]).exits(0);
    assert_eq!(
        done(&edit(&home, "delete_agent", json!({"name": "helper"})))["status"],
        "written"
    );
    let listed = done(&edit(&home, "list_agents", json!({})));
    let names: Vec<&Value> = listed["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["lead", "strong"]);
}

#[test]
fn what_is_more_waits_for_a_person() {
    let home = configured();
    for (tool, input) in [
        (
            "create_agent",
            json!({"name": "runner", "capabilities": {"shell": {"allow": ["ls"]}}}),
        ),
        ("update_agent", json!({"name": "lead", "mode": "auto"})),
        ("update_agent", json!({"name": "strong", "mode": "ask"})),
        ("delete_agent", json!({"name": "strong"})),
        (
            "create_agent",
            json!({"name": "teller", "capabilities": {}, "description": "${HOME}"}),
        ),
    ] {
        let waits = done(&edit(&home, tool, input));
        assert_eq!(waits["status"], "waits", "{waits}");
    }
    assert_eq!(file(&home), FILE);
    let listed = home.run(&["trust", "ls"]).exits(0).stdout;
    for said in [
        "`shell` is a capability the caller has not",
        "agent `strong` as it is",
        "mode `auto` is freer",
        "+ ",
        "edit 5",
    ] {
        assert!(listed.contains(said), "{said}: {listed}");
    }
    home.run(&["trust", "accept", "--edit", "1"]).exits(0);
    assert!(file(&home).contains("\"runner\"") && file(&home).contains("// runs the others"));
    home.run(&["trust", "accept", "--edit", "1"]).exits(1);
    home.run(&["trust", "drop", "2"]).exits(0);
    home.run(&["trust", "drop", "2"]).exits(1);
    // Edited since: nobody has seen what this would come to.
    home.user_config(&file(&home).replace("\"shell\"]", "\"files\"]"));
    let stale = home.run(&["trust", "accept", "--edit", "3"]).exits(1);
    assert!(stale.stderr.contains("not what it was"), "{stale:?}");
    let left = home.run(&["trust", "ls", "--json"]).exits(0).json();
    assert_eq!(left["proposed"].as_array().unwrap().len(), 3);
}

#[test]
fn what_could_not_be_used_is_not_written() {
    let home = configured();
    for (tool, input, said) in [
        (
            "create_agent",
            json!({"name": "x", "capabilities": {"fils": {}}}),
            "did you mean `files`",
        ),
        (
            "create_agent",
            json!({"name": "x", "capabilities": {"files": {"dir": "."}}}),
            "dir",
        ),
        (
            "create_agent",
            json!({"name": "x", "capabilities": {"files": {"tools": ["raed_file"]}}}),
            "read_file",
        ),
        (
            "create_agent",
            json!({"name": "x", "capabilities": {}, "permissions": {"deny": ["nonsense"]}}),
            "nonsense",
        ),
        (
            "create_agent",
            json!({"name": "Lead", "capabilities": {}}),
            "looks like",
        ),
        (
            "create_agent",
            json!({"name": "x__y", "capabilities": {}}),
            "cannot be a name",
        ),
        (
            "create_agent",
            json!({"name": "x", "capabilities": {}, "description": "${NOT_SET}"}),
            "NOT_SET",
        ),
        (
            "update_agent",
            json!({"name": "leed", "mode": "ask"}),
            "did you mean `lead`",
        ),
        (
            "delete_agent",
            json!({"name": "nobody"}),
            "there is no agent `nobody`",
        ),
    ] {
        let run = edit(&home, tool, input);
        assert_eq!(ended(&run), "failed refused", "{run:?}");
        assert!(reason(&run).contains(said), "{said}: {run:?}");
    }
    assert_eq!(file(&home), FILE);
}

#[test]
fn a_projects_agents_stand_in_the_projects_file_which_stays_accepted() {
    let home = home();
    let lead = json!({"lead": {"capabilities": {"agent-management": {}, "files": {}}}});
    home.write("ambit.json", json!({"agents": lead}).to_string());
    // Nobody has accepted it, so nothing in it can edit anything.
    let run = edit(&home, "list_agents", json!({}));
    assert_eq!(ended(&run), "denied not_visible");
    home.run(&["trust"]).exits(0);
    let helper = json!({"name": "helper", "capabilities": {"files": {}}});
    assert_eq!(
        done(&edit(&home, "create_agent", helper))["status"],
        "written"
    );
    let text = std::fs::read_to_string(home.work().join("ambit.json")).unwrap();
    assert!(text.contains("helper"), "{text}");
    let trust = home.run(&["trust", "ls", "--json"]).exits(0).json();
    assert_eq!(trust["waiting"], json!([]));
}

#[test]
fn processes_lose_none_of_each_others_edits() {
    let home = configured();
    let children: Vec<_> = (0..5)
        .map(|n| {
            let input = json!({"name": format!("h{n}"), "capabilities": {"files": {}}}).to_string();
            let id = "local__agent-management__create_agent";
            home.command(&["call", id, "--agent", "lead", "--yes", "--input", &input])
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
    let agents = home.run(&["agents", "--json"]).exits(0).json();
    assert_eq!(agents["agents"].as_array().unwrap().len(), 7);
    assert!(file(&home).contains("/* careful */"));
}

#[test]
fn read_only_shows_no_change() {
    let home = configured();
    let visible = home.run(&[
        "visible",
        "--agent",
        "lead",
        "--mode",
        "read-only",
        "--json",
    ]);
    let visible = visible.exits(0).json()["visible"].to_string();
    for (tool, sees) in [
        ("list_agents", true),
        ("read_agent", true),
        ("create_agent", false),
        ("update_agent", false),
        ("delete_agent", false),
    ] {
        assert_eq!(visible.contains(tool), sees, "{tool}");
    }
}
