//! What is left of a project's file that nobody has accepted: reading the workspace at most.
//!
//! Only what narrows is kept. It is not enough to drop what grants: a rule to `ask` can
//! outweigh a wider `deny`, and a lower mode is welcome where a higher one is not.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::agents::FILES;
use super::defaults;
use ambit_core::permission::Mode;

use super::file::{Agent, Capabilities, ConfigFile};
use super::load::ProjectFile;
use super::problem::Problem;
use crate::trust::ProjectTrust;

/// The tools of `files` that only look.
const READING: [&str; 4] = ["read_file", "list_dir", "glob", "grep"];

/// The part of an unaccepted file that counts.
pub(super) fn reduce(file: ConfigFile, user_mode: Option<Mode>) -> ConfigFile {
    let user_mode = user_mode.unwrap_or(defaults::MODE);
    ConfigFile {
        agents: file
            .agents
            .into_iter()
            .map(|(name, agent)| (name, reading(agent)))
            .collect(),
        mode: file.mode.filter(|mode| *mode < user_mode),
        permissions: file.permissions.denials(),
        ..ConfigFile::default()
    }
}

fn reading(agent: Agent) -> Agent {
    let files = agent.capabilities.0.get(FILES).map(|config| {
        let listed = config.get("tools").map(|tools| {
            let tools = tools.as_array().into_iter().flatten();
            tools.filter_map(Value::as_str).collect::<Vec<_>>()
        });
        let kept = READING
            .into_iter()
            .filter(|tool| listed.as_ref().is_none_or(|listed| listed.contains(tool)));
        // Not its other config: that is where other directories would stand.
        Map::from_iter([("tools".to_owned(), kept.collect::<Value>())])
    });
    Agent {
        description: agent.description,
        capabilities: Capabilities(
            files
                .map(|config| (FILES.to_owned(), config))
                .into_iter()
                .collect::<BTreeMap<_, _>>(),
        ),
        mode: Some(Mode::ReadOnly),
        permissions: agent.permissions.denials(),
        ..Agent::default()
    }
}

/// What to tell a person about it.
pub(super) fn warning(project: &ProjectFile, file: &ConfigFile) -> Problem {
    let why = match &project.trust {
        ProjectTrust::Changed { since } => {
            format!("has changed since it was trusted at {since:.0}")
        }
        ProjectTrust::Trusted | ProjectTrust::Unknown => "is not trusted".to_owned(),
    };
    let path = project.path.display();
    let mut message =
        format!("`{path}` {why}: it starts nothing and grants reading the workspace at most");
    let ignored = ignored(file);
    if !ignored.is_empty() {
        message.push_str(&format!(" (left out: {})", ignored.join(", ")));
    }
    Problem::warning("project_untrusted", message)
        .hint("read it, then run `ambit trust` to accept it as it is now")
}

/// What of a file counts for nothing, in words.
fn ignored(file: &ConfigFile) -> Vec<String> {
    let count = |n: usize, one: &str| match n {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {one}s")),
    };
    let rules = file.permissions.allow.len() + file.permissions.ask.len();
    [
        count(file.mcp_servers.len(), "server"),
        count(file.hooks.len(), "hook"),
        count(rules, "rule"),
    ]
    .into_iter()
    .flatten()
    .collect()
}
