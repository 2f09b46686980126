//! Agents that ask agents: never more than whoever asked, never too deep, and on record.

use std::sync::Arc;

use ambit_core::event::EventBody;
use ambit_core::permission::{Answer, Mode, Rules};
use ambit_core::run::RunEnd;
use ambit_testkit::{Answers, Behaviour, Bench, FixtureResolver, rules};
use serde_json::{Value, json};

use crate::support::{Asks, Heard, Stage, Team, begin, call};

const KIT: &str = "
    local__kit__look reads
    local__kit__change writes
    local__kit__wipe writes destructive";

/// What an agent is: its mode, its rules and what it is granted of the kit.
struct Agent {
    name: &'static str,
    mode: Mode,
    rules: &'static str,
    tools: &'static [&'static str],
}

const fn agent(name: &'static str, mode: Mode, rules: &'static str) -> Agent {
    Agent {
        name,
        mode,
        rules,
        tools: &["look", "change", "wipe"],
    }
}

fn stage(answers: Vec<Answer>, agents: &[Agent], engine: &Arc<Heard>) -> (Stage, Arc<Answers>) {
    let person = Arc::new(Answers::new(answers));
    let kit = FixtureResolver::lines("kit", KIT, &Behaviour::says("done so"));
    let bench = Bench::default()
        .with(Arc::new(kit), json!({}))
        .with(Arc::new(Asks), json!({}))
        .asking(Arc::clone(&person) as _);
    let mut stage = Stage::new(bench);
    let mut team = Team::default();
    for agent in agents {
        let mut spec = stage.spec(agent.name, agent.mode);
        spec.rules = match agent.rules {
            "" => Rules::default(),
            text => rules(text),
        };
        spec.capabilities = json!({"kit": {"tools": agent.tools}, "asks": {}});
        let profile = stage.profile(spec, engine);
        team.0.insert(agent.name.to_owned(), profile);
    }
    stage.team = Arc::new(team);
    (stage, person)
}

fn ask(agent: &str) -> Value {
    call("asks__ask", json!({"agent": agent, "task": "do it"}))
}

/// The parent asks the child, which calls one tool. How that ended for the child.
async fn check(parent: Agent, child: Agent, tool: &str, answers: Vec<Answer>, told: &str) {
    let engine = Heard::new(json!([
        {"calls": [ask(child.name)]},
        {"calls": [call(tool, json!({}))]},
        {"say": "tried"},
        {"say": "thanks"},
    ]));
    let names = [parent.name, child.name];
    let (stage, person) = stage(answers, &[parent, child], &engine);
    let profile = stage.team.0[names[0]].clone();
    let ran = stage.run_as(profile, begin("go"));
    let report = ran.await.unwrap();
    assert_eq!(report.ended, RunEnd::Answered);
    let requests = engine.requests.lock().clone();
    let ambit_agent::message::Message::Results { results } = requests[2].last().unwrap() else {
        panic!();
    };
    assert_eq!(results[0].content[0].as_text().unwrap(), told);
    for asked in person.asked() {
        assert_eq!(asked.asked_by, [names[0]]);
        assert_eq!(asked.agent, names[1]);
    }
    stage.assert_replays(&report.session).await;
    let child = stage.child_of(&report.session).await;
    stage.assert_replays(&child).await;
}

#[tokio::test]
async fn the_strictest_of_both_counts() {
    use Mode::{Ask, Auto, ReadOnly};
    const HIDDEN: &str =
        "denied (not_visible): there is no capability `kit__change` to use in this turn";
    let parent = |mode, rules| agent("parent", mode, rules);
    let child = |mode, rules| agent("child", mode, rules);
    check(
        parent(Auto, ""),
        child(Auto, ""),
        "kit__change",
        vec![],
        "done so",
    )
    .await;
    check(
        parent(ReadOnly, ""),
        child(Auto, ""),
        "kit__change",
        vec![],
        HIDDEN,
    )
    .await;
    check(
        parent(Auto, ""),
        child(ReadOnly, ""),
        "kit__change",
        vec![],
        HIDDEN,
    )
    .await;
    check(
        parent(Auto, "deny writes"),
        child(Auto, "allow local__kit__change"),
        "kit__change",
        vec![],
        HIDDEN,
    )
    .await;
    // The parent would have to ask, so a person is asked, whatever the child's rules say.
    check(
        parent(Ask, ""),
        child(Auto, "allow local__kit__change"),
        "kit__change",
        vec![Answer::Once],
        "done so",
    )
    .await;
    check(
        parent(Ask, ""),
        child(Auto, ""),
        "kit__change",
        vec![Answer::Deny],
        "denied (approval_denied): a person said no to this call",
    )
    .await;
    let few = Agent {
        tools: &["look"],
        ..parent(Auto, "")
    };
    check(few, child(Auto, ""), "kit__change", vec![], HIDDEN).await;
}

#[tokio::test]
async fn chains_end_and_are_on_record() {
    let engine = Heard::new(json!([
        {"calls": [ask("b")]},
        {"calls": [ask("a"), ask("b"), ask("nobody")]},
        {"say": "b is done"},
        {"say": "a is done"},
    ]));
    let agents = [agent("a", Mode::Auto, ""), agent("b", Mode::Auto, "")];
    let (stage, _) = stage(vec![], &agents, &engine);
    let profile = stage.team.0["a"].clone();
    let ran = stage.run_as(profile, begin("go"));
    let report = ran.await.unwrap();
    assert_eq!(engine.last_results(), ["b is done [done; saw besides ]"]);
    let requests = engine.requests.lock().clone();
    let ambit_agent::message::Message::Results { results } = requests[2].last().unwrap() else {
        panic!();
    };
    let texts: Vec<&str> = results
        .iter()
        .filter_map(|it| it.content[0].as_text())
        .collect();
    assert_eq!(
        texts,
        [
            "failed (refused): `a` cannot be asked: it waits for an answer already (a → b); ask another",
            "failed (refused): `b` cannot be asked: an agent cannot ask itself; do it yourself",
            "failed (refused): there is no agent `nobody`",
        ]
    );
    let events = stage.events(&report.session).await;
    let chain = events.iter().find_map(|it| match &it.body {
        EventBody::DelegationStarted { chain, .. } => Some(chain.clone()),
        _ => None,
    });
    assert_eq!(chain.unwrap(), ["a", "b"]);
    let types = stage.types(&report.session).await;
    assert!(types.contains(&"delegation.finished".to_owned()));
    // What a sub-agent costs counts for whoever asked.
    assert_eq!(report.usage.output, 40);
}

#[tokio::test]
async fn no_deeper_than_three() {
    let names = ["a", "b", "c", "d", "e"];
    let mut turns: Vec<Value> = names[1..]
        .iter()
        .map(|it| json!({"calls": [ask(it)]}))
        .collect();
    turns.extend((0..4).map(|_| json!({"say": "so it is"})));
    let engine = Heard::new(Value::from(turns));
    let agents = names.map(|name| agent(name, Mode::Auto, ""));
    let (stage, _) = stage(vec![], &agents, &engine);
    let profile = stage.team.0["a"].clone();
    let ran = stage.run_as(profile, begin("go"));
    ran.await.unwrap();
    let requests = engine.requests.lock().clone();
    let ambit_agent::message::Message::Results { results } = requests[4].last().unwrap() else {
        panic!();
    };
    assert_eq!(
        results[0].content[0].as_text().unwrap(),
        "failed (refused): `e` cannot be asked: no more than 3 agents may stand behind the first (a → b → c → d); do it yourself"
    );
}
