//! `triggers` and `notices` through the binary.

use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::builtins_tasks::at_once;
use crate::support::{call, configured, ended, reason};

fn home() -> Home {
    configured(json!({"mode": "auto", "agents": {
        "a": {"capabilities": {"triggers": {"timezone": "Europe/Berlin"}}},
        "b": {"capabilities": {"triggers": {}}},
    }}))
}

fn create(home: &Home, agent: &str, input: Value) -> String {
    let run = call(home, "triggers__create_trigger", input, &["--agent", agent]);
    assert_eq!(ended(&run), "completed", "{run:?}");
    let id = &run.json()["structuredContent"]["id"];
    id.as_str().unwrap().to_owned()
}

#[test]
fn the_person_sees_and_removes_what_every_agent_made() {
    let home = home();
    let none = home.run(&["triggers", "--json"]).exits(0).json();
    assert_eq!(none["triggers"], json!([]));
    let of_a = create(
        &home,
        "a",
        json!({"cron": "0 9 * * *", "prompt": "morning"}),
    );
    let of_b = create(&home, "b", json!({"every": "1h", "prompt": "hourly"}));
    let listed = home.run(&["triggers", "ls", "--json"]).exits(0).json();
    let owners: Vec<_> = listed["triggers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["owner"])
        .collect();
    assert_eq!(owners, ["a", "b"]);
    assert_eq!(listed["triggers"][0]["timezone"], "Europe/Berlin");
    assert_eq!(listed["onDuty"], false);

    let other = json!({"trigger": of_a, "paused": true});
    let run = call(&home, "triggers__update_trigger", other, &["--agent", "b"]);
    assert_eq!(ended(&run), "failed refused");
    assert!(
        reason(&run).contains("only its owner can change one"),
        "{run:?}"
    );

    home.run(&["triggers", "rm", &of_a]).exits(0);
    home.run(&["triggers", "rm", &of_a]).exits(1);
    home.run(&["triggers", "history", &of_a]).exits(1);
    let text = home.run(&["triggers"]).exits(0);
    assert!(
        text.stdout.contains(&of_b) && !text.stdout.contains(&of_a),
        "{text:?}"
    );
    assert!(text.stderr.contains("`ambit serve` does"), "{text:?}");
}

#[test]
fn requests_of_several_processes_are_all_kept() {
    let home =
        configured(json!({"mode": "auto", "agents": {"a": {"capabilities": {"triggers": {}}}}}));
    let trigger = create(&home, "a", json!({"every": "1h", "prompt": "x"}));
    let inputs = vec![json!({"trigger": trigger}); 4];
    for run in at_once(&home, "triggers__run_trigger_now", &inputs) {
        assert_eq!(ended(&run), "completed", "{run:?}");
    }
    let history = home.run(&["triggers", "history", "--json"]).exits(0).json();
    let runs = history["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4);
    assert!(runs.iter().all(|it| it["state"] == "requested"), "{runs:?}");
}

#[test]
fn notices_are_read_once() {
    let home = home();
    assert_eq!(
        home.run(&["notices", "--json"]).exits(0).json()["notices"],
        json!([])
    );
    let row = |id: &str, message: &str| {
        json!({
            "id": id, "agent": "a", "session": "s", "message": message,
            "urgency": "high", "at": 1_700_000_000_000_i64, "read": 0,
        })
    };
    let rows = json!([row("m-1", "the build broke"), row("m-2", "a\u{1b}[31mb")]);
    let mut export = home.run(&["data", "export", "--json"]).exits(0).json();
    export["data"]["notices"]["tables"]["notices"] = rows;
    home.write("export.json", export.to_string());
    home.run(&["data", "import", "export.json"]).exits(0);
    let peeked = home.run(&["notices", "--peek"]).exits(0);
    assert!(
        peeked.stdout.contains("urgent") && peeked.stdout.contains("  the build broke"),
        "{peeked:?}"
    );
    assert!(
        !peeked.stdout.contains("a\u{1b}[31mb"),
        "nothing steers the terminal"
    );
    let read = home.run(&["notices", "--json"]).exits(0).json();
    assert_eq!(read["notices"].as_array().unwrap().len(), 2);
    assert_eq!(
        home.run(&["notices", "--json"]).exits(0).json()["notices"],
        json!([])
    );
    let all = home.run(&["notices", "--all", "--json"]).exits(0).json();
    assert_eq!(all["notices"][0]["read"], true);
}
