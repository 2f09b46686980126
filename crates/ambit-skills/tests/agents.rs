//! Skills an agent wrote: for that agent alone, there from the next turn on, loaded once a person
//! has accepted them, and silent about tools.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::path::Path;
use std::sync::Arc;

use ambit_core::observation::Observation;
use ambit_core::permission::{Answer, AskReason, Mode};
use ambit_runtime::discovery::TurnRequest;
use ambit_runtime::session::{Session, SessionSpec};
use ambit_skills::load::load;
use ambit_skills::resolver::SkillsResolver;
use ambit_skills::root::{SkillRoot, agent_roots};
use ambit_skills::scan::scan;
use ambit_testkit::{Answers, Bench, call};
use serde_json::json;
use tempfile::TempDir;

fn write(root: &Path, name: &str, more: &str) {
    let folder = root.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let text =
        format!("---\nname: {name}\ndescription: The {name} skill.\n{more}---\nDo {name}.\n");
    std::fs::write(folder.join("SKILL.md"), text).unwrap();
}

fn visible(session: &Session) -> Vec<String> {
    let visible = session.visible();
    let skills = visible
        .entries()
        .iter()
        .filter(|it| it.id.as_str().starts_with("skill__"));
    let mut names: Vec<String> = skills.map(|it| it.id.name().to_owned()).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn each_agent_has_its_own() {
    let folder = TempDir::new().unwrap();
    let agents = folder.path().join("agents");
    let user = folder.path().join("user");
    write(&user, "shared", "");
    write(&agents.join("tester/skills"), "mine", "");
    write(&agents.join("other/skills"), "theirs", "");
    // What a person has comes first, and nothing may look like it.
    write(&agents.join("tester/skills"), "shared", "");
    write(&agents.join("tester/skills"), "shareb", "");
    let resolver = SkillsResolver::with_agents(scan(&[SkillRoot::user(&user)]), agents.clone());
    let answers = Arc::new(Answers::new([Answer::Deny, Answer::Always]));
    let bench = Bench::default()
        .with(Arc::new(resolver), json!({}))
        .asking(Arc::clone(&answers) as _);
    let market = bench.market();
    let session = bench.session_on(&market, Mode::Ask).await;
    assert_eq!(visible(&session), ["mine", "shareb", "shared"]);
    let other = SessionSpec {
        agent: "other".to_owned(),
        ..bench.spec(Mode::Ask)
    };
    let other = market.open_session(other).await.unwrap();
    other.begin_turn(&TurnRequest::default());
    assert_eq!(visible(&other), ["shared", "theirs"]);

    // Written and deleted meanwhile.
    write(&agents.join("other/skills"), "later", "");
    std::fs::remove_dir_all(agents.join("other/skills/theirs")).unwrap();
    market.refresh();
    for it in [&session, &other] {
        it.renew().await;
        it.begin_turn(&TurnRequest::default());
    }
    assert_eq!(visible(&session), ["mine", "shareb", "shared"]);
    assert_eq!(visible(&other), ["later", "shared"]);

    // In every mode, once per content.
    let load = json!({"name": "mine"});
    for completes in [false, true, true] {
        let report = call(&session, "load_skill", load.clone()).await;
        let completed = matches!(report.observation, Observation::Completed(_));
        assert_eq!(completed, completes, "{:?}", report.observation);
    }
    assert!(
        answers
            .asked()
            .iter()
            .all(|it| it.reason == AskReason::NotAccepted)
    );
    assert_eq!(answers.asked().len(), 2);
}

#[tokio::test]
async fn the_last_one_to_go_is_gone() {
    let folder = TempDir::new().unwrap();
    let agents = folder.path().to_owned();
    write(&agents.join("tester/skills"), "mine", "");
    let resolver = SkillsResolver::with_agents(scan(&[]), agents.clone());
    let bench = Bench::default().with(Arc::new(resolver), json!({}));
    let market = bench.market();
    assert!(
        market
            .catalog()
            .get(&"skill__mine".parse().unwrap())
            .is_some()
    );
    std::fs::remove_dir_all(agents.join("tester/skills/mine")).unwrap();
    market.refresh();
    assert!(
        market
            .catalog()
            .get(&"skill__mine".parse().unwrap())
            .is_none()
    );
}

#[tokio::test]
async fn what_is_narrowed_stays_narrowed_when_the_catalog_moves() {
    let folder = TempDir::new().unwrap();
    let user = folder.path().join("user");
    write(&user, "a", "");
    write(&user, "b", "");
    let agents = folder.path().join("agents");
    let resolver = SkillsResolver::with_agents(scan(&[SkillRoot::user(&user)]), agents.clone());
    let bench = Bench::default().with(Arc::new(resolver), json!({"include": ["a"]}));
    let market = bench.market();
    let session = bench.session_on(&market, Mode::Ask).await;
    for name in ["one", "two"] {
        write(&agents.join("someone/skills"), name, "");
        market.refresh();
        session.renew().await;
        session.begin_turn(&TurnRequest::default());
        assert_eq!(visible(&session), ["a"]);
    }
}

#[test]
fn it_says_nothing_about_tools() {
    let folder = TempDir::new().unwrap();
    let tools = "allowed-tools: Bash Write\n";
    write(&folder.path().join("a/skills"), "mine", tools);
    let found = scan(&agent_roots(folder.path()));
    let skill = found.get("mine").unwrap();
    assert_eq!(skill.only_for(), Some("a"));
    assert!(skill.frontmatter.allowed_tools.is_empty());
    assert!(load(skill).unwrap().frontmatter.allowed_tools.is_empty());
    let same = scan(&[SkillRoot::user(folder.path().join("a/skills"))]);
    assert_eq!(same.get("mine").unwrap().frontmatter.allowed_tools.len(), 2);
}
