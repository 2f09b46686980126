//! Agents that ask agents, and skills that are followed apart.

use serde_json::json;

use crate::support::{assert_replays, events, home, play, results};

#[test]
fn an_agent_asks_another() {
    let home = home();
    home.write("a.txt", "apples");
    let files = json!({"files": {"tools": ["read_file"]}});
    home.user_config(
        &json!({"mode": "auto", "agents": {
            "lead": {"capabilities": {"files": {"tools": ["read_file"]}, "agents": {}}},
            "reader": {"description": "Reads files.", "capabilities": files},
            "writer": {"capabilities": {"files": {}}},
        }})
        .to_string(),
    );
    let turns = json!([
        {"calls": [{"tool": "agents__list_available_agents", "input": {}}]},
        {"expect": {"observed": ["- reader: Reads files."]}, "calls": [
            {"tool": "agents__ask_agent", "input": {"agent": "reader", "task": "What is in a.txt?"}},
        ]},
        // The reader.
        {"calls": [{"tool": "files__read_file", "input": {"path": "a.txt"}}]},
        {"expect": {"observed": ["apples"]}, "say": "Apples are in it."},
        // The lead again; the writer may write, but not for somebody who may not.
        {"expect": {"observed": ["Apples are in it."]}, "calls": [
            {"tool": "agents__ask_agent", "input": {"agent": "writer", "task": "Write pears to a.txt."}},
        ]},
        {"expect": {"noTools": ["files__write_file"]}, "calls": [
            {"tool": "files__write_file", "input": {"path": "a.txt", "content": "pears"}},
        ]},
        {"expect": {"observed": ["not_visible"]}, "say": "I cannot."},
        {"expect": {"observed": ["I cannot."]}, "say": "Apples, and they stay."},
    ]);
    let run = play(&home, turns, &["--agent", "lead", "what is in a.txt?"]).exits(0);
    assert_eq!(run.stdout, "Apples, and they stay.\n");
    assert!(run.stderr.contains("lead → reader"), "{}", run.stderr);
    assert_eq!(
        std::fs::read_to_string(home.work().join("a.txt")).unwrap(),
        "apples"
    );
    let started = events(&home, &["--type", "delegation.started"]);
    assert_eq!(started.len(), 2);
    assert_eq!(started[0]["chain"], json!(["lead", "reader"]));
    assert_eq!(events(&home, &["--type", "delegation.finished"]).len(), 2);
    assert_replays(&home);
}

#[test]
fn a_skill_is_followed_apart() {
    let home = home();
    home.write("a.txt", "apples");
    let skill = "---\nname: count\ndescription: Counts letters of a file.\nmetadata:\n  ambit-fork: \"true\"\n---\nRead the file, count its letters.\n";
    let folder = home.home().join(".config/ambit/skills/count");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("SKILL.md"), skill).unwrap();
    let turns = json!([
        {"expect": {"skills": ["count"]}, "calls": [{"tool": "load_skill", "input": {"name": "count"}}]},
        // Apart.
        {"calls": [{"tool": "files__read_file", "input": {"path": "a.txt"}}]},
        {"say": "Six."},
        {"expect": {"observed": ["followed apart", "Six."]}, "say": "It has six letters."},
    ]);
    let run = play(&home, turns, &["how many letters has a.txt?"]).exits(0);
    assert_eq!(run.stdout, "It has six letters.\n");
    let started = events(&home, &["--type", "delegation.started"]);
    assert_eq!(started[0]["skill"], "skill__count");
    assert_eq!(started[0]["task"], "how many letters has a.txt?");
    assert_eq!(results(&home).len(), 2);
    assert_replays(&home);
}

#[test]
fn without_a_run_there_is_nobody_to_ask() {
    let home = home();
    home.user_config(&json!({"agents": {"a": {"capabilities": {"agents": {}}}}}).to_string());
    let run = home
        .run(&["call", "agents__list_available_agents"])
        .exits(1);
    assert!(run.stderr.contains("not_visible"), "{}", run.stderr);
}
