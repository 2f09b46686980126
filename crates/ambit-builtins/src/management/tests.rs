//! What the tools take and answer, on a configuration that remembers what it was asked.

use std::sync::Mutex;

use ambit_core::observation::Observation;
use ambit_core::permission::Mode;
use ambit_runtime::approver::SaysYes;
use ambit_testkit::Bench;

use super::*;
use crate::store::Store;

#[derive(Default)]
struct Remembering(Mutex<Vec<(String, AgentEdit)>>);

impl AgentsFile for Remembering {
    fn agents(&self) -> Result<Vec<ConfiguredAgent>, Failure> {
        let agent = |name: &str, entry| ConfiguredAgent {
            name: name.to_owned(),
            file: "user",
            mode: "ask",
            entry,
        };
        Ok(vec![
            agent("a", json!({"description": "d", "capabilities": ["files"]})),
            agent("b", json!({"capabilities": {"files": {"tools": []}}})),
        ])
    }

    fn edit(&self, callers: &[String], edit: &AgentEdit) -> Result<Edited, Failure> {
        let mut asked = self.0.lock().unwrap();
        asked.push((callers.join(" for "), edit.clone()));
        Ok(match edit.name() {
            "more" => Edited::Waits {
                because: vec!["`shell` is new".to_owned()],
                how: "ambit trust accept --edit 1".to_owned(),
            },
            _ => Edited::Written {
                file: "ambit.json".to_owned(),
            },
        })
    }
}

fn bench() -> (Arc<Remembering>, Bench) {
    let agents = Arc::new(Remembering::default());
    let builtins = Builtins {
        agents: Some(Arc::clone(&agents) as _),
        ..Builtins::new(Store::at("nowhere".as_ref()))
    };
    let bench = Bench::default().with(Arc::new(ManagementResolver(builtins)), json!({}));
    (agents, bench.asking(Arc::new(SaysYes)))
}

async fn call(bench: &Bench, name: &str, arguments: Value) -> Result<Value, String> {
    let target = format!("local__agent-management__{name}");
    match bench.call(Mode::Ask, &target, arguments).await {
        Observation::Completed(it) => Ok(it.output.structured.unwrap()),
        Observation::Denied(it) => Err(it.reason),
        Observation::Failed(it) => Err(it.message),
    }
}

#[tokio::test]
async fn agents_are_listed_and_read_as_written() {
    let (_, bench) = bench();
    let listed = call(&bench, "list_agents", json!({})).await.unwrap();
    assert_eq!(listed["you"], "tester");
    assert_eq!(listed["agents"][0]["capabilities"], json!(["files"]));
    assert_eq!(listed["agents"][1]["capabilities"], json!(["files"]));
    let read = call(&bench, "read_agent", json!({"name": "b"}))
        .await
        .unwrap();
    assert_eq!(
        read["entry"],
        json!({"capabilities": {"files": {"tools": []}}})
    );
    let error = call(&bench, "read_agent", json!({"name": "c"}))
        .await
        .unwrap_err();
    assert!(error.contains("list_agents says which"), "{error}");
}

#[tokio::test]
async fn edits_go_out_in_the_callers_name() {
    let (agents, bench) = bench();
    let entry = json!({"name": "c", "capabilities": {"files": {}}, "mode": "ask"});
    let written = call(&bench, "create_agent", entry).await.unwrap();
    assert_eq!(written["status"], "written");
    let update = json!({"name": "more", "mode": null, "permissions": {"deny": ["writes"]}});
    let waits = call(&bench, "update_agent", update).await.unwrap();
    assert_eq!(waits["status"], "waits");
    assert!(
        waits["next"]
            .as_str()
            .unwrap()
            .contains("ambit trust accept --edit 1")
    );
    call(&bench, "delete_agent", json!({"name": "c"}))
        .await
        .unwrap();
    let asked = agents.0.lock().unwrap();
    let asked: Vec<Value> = asked.iter().map(|(who, it)| json!([who, it])).collect();
    assert_eq!(
        json!(asked),
        json!([
            ["tester", {"edit": "create", "name": "c", "entry": {"capabilities": {"files": {}}, "mode": "ask"}}],
            ["tester", {"edit": "update", "name": "more", "entry": {"mode": null, "permissions": {"deny": ["writes"]}}}],
            ["tester", {"edit": "delete", "name": "c"}],
        ])
    );
}

#[tokio::test]
async fn what_does_not_fit_goes_nowhere() {
    let (agents, bench) = bench();
    let large = json!({"files": {"dirs": ["x".repeat(70_000)]}});
    for (name, arguments, said) in [
        ("create_agent", json!({"name": "c"}), "capabilities"),
        (
            "create_agent",
            json!({"name": "../c", "capabilities": {}}),
            "name",
        ),
        (
            "create_agent",
            json!({"name": "c", "capabilities": ["files"]}),
            "capabilities",
        ),
        (
            "create_agent",
            json!({"name": "c", "capabilities": {}, "mode": "free"}),
            "mode",
        ),
        (
            "create_agent",
            json!({"name": "c", "capabilities": {}, "mode": null}),
            "mode",
        ),
        (
            "create_agent",
            json!({"name": "c", "capabilities": {}, "hooks": []}),
            "hooks",
        ),
        (
            "create_agent",
            json!({"name": "c", "capabilities": large}),
            "at most 65536 bytes",
        ),
        (
            "create_agent",
            json!({"name": "c", "capabilities": {}, "description": "x".repeat(2_001)}),
            "description",
        ),
        ("update_agent", json!({"name": "c"}), "give at least one of"),
        ("delete_agent", json!({"name": ""}), "name"),
    ] {
        let error = call(&bench, name, arguments).await.unwrap_err();
        assert!(error.contains(said), "{name}: {error}");
    }
    assert!(agents.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn read_only_shows_no_change_and_without_a_file_there_is_nothing() {
    let (_, bench) = bench();
    let session = bench.session(Mode::ReadOnly).await;
    let visible = session.visible();
    let names = visible.entries().iter().filter(|it| it.id.owner() == KEY);
    let mut names: Vec<&str> = names.map(|it| it.id.name()).collect();
    names.sort_unstable();
    assert_eq!(names, ["list_agents", "read_agent"]);
    let builtins = Builtins::new(Store::at("nowhere".as_ref()));
    let bench = Bench::default().with(Arc::new(ManagementResolver(builtins)), json!({}));
    let session = bench.session(Mode::Ask).await;
    assert_eq!(session.skipped()[0].reason, NOWHERE);
}
