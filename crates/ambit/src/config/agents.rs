//! Which agent is meant, and the one there is when none was configured.

use std::collections::BTreeMap;

use ambit_core::suggest::{did_you_mean, suggest};
use serde_json::Map;

use super::file::{Agent, Capabilities, Origin};
use super::merged::Config;
use super::problem::Problem;
use super::server::McpServer;

/// The name of the agent there is when none was configured.
pub const DEFAULT_AGENT: &str = "default";

/// The capability key of the workspace's files.
pub(super) const FILES: &str = "files";

/// The capability key of skills.
const SKILLS: &str = "skills";

/// The agent there is when none was configured: the workspace's files, skills, and the user's own
/// servers. A project's servers are somebody else's and have to be granted by name.
pub(super) fn implied(servers: &BTreeMap<String, McpServer>) -> Agent {
    let own = servers
        .iter()
        .filter(|(_, server)| server.origin == Origin::User && !server.disabled)
        .map(|(name, _)| name.as_str());
    let keys = [FILES, SKILLS].into_iter().chain(own);
    Agent {
        capabilities: Capabilities(keys.map(|key| (key.to_owned(), Map::new())).collect()),
        origin: Origin::Implied,
        ..Agent::default()
    }
}

impl Config {
    /// The agent of this name; without a name the only one there is.
    pub fn agent(&self, name: Option<&str>) -> Result<(&str, &Agent), Problem> {
        let names = || self.agents.keys().map(String::as_str);
        let listed = || {
            names()
                .map(|it| format!("`{it}`"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let Some(name) = name else {
            let mut all = self.agents.iter();
            return match (all.next(), all.next()) {
                (Some((name, agent)), None) => Ok((name, agent)),
                _ => Err(Problem::error(
                    "agent_not_chosen",
                    format!("there are {} agents, and none was named", self.agents.len()),
                )
                .hint(format!("name one with `--agent`: {}", listed()))),
            };
        };
        self.agents
            .get_key_value(name)
            .map(|(name, agent)| (name.as_str(), agent))
            .ok_or_else(|| {
                let hint = did_you_mean(&suggest(name, names()))
                    .unwrap_or_else(|| format!("configured: {}", listed()));
                Problem::error("unknown_agent", format!("there is no agent `{name}`")).hint(hint)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(agents: &[&str]) -> Config {
        let agents = agents.iter().map(|it| (it.to_string(), Agent::default()));
        Config {
            agents: agents.collect(),
            ..Config::default()
        }
    }

    #[track_caller]
    fn check(agents: &[&str], name: Option<&str>, expected: Result<&str, &str>) {
        let config = config(agents);
        let found = config.agent(name).map(|(name, _)| name);
        let found = found.map_err(|it| format!("{it} ({})", it.hint.as_deref().unwrap_or("")));
        assert_eq!(found, expected.map_err(str::to_owned));
    }

    #[test]
    fn the_only_agent_needs_no_name() {
        check(&["coder"], None, Ok("coder"));
        check(&["coder", "reviewer"], Some("coder"), Ok("coder"));
        check(
            &["coder", "reviewer"],
            None,
            Err(
                "there are 2 agents, and none was named (name one with `--agent`: `coder`, `reviewer`)",
            ),
        );
        check(
            &["coder", "reviewer"],
            Some("codr"),
            Err("there is no agent `codr` (did you mean `coder`?)"),
        );
        check(
            &["coder", "reviewer"],
            Some("x"),
            Err("there is no agent `x` (configured: `coder`, `reviewer`)"),
        );
    }

    #[test]
    fn without_agents_there_is_one_with_the_files() {
        let config = Config::default();
        let (name, agent) = config.agent(None).unwrap();
        assert_eq!((name, agent.origin), (DEFAULT_AGENT, Origin::Implied));
        assert_eq!(
            agent.capabilities.to_value(),
            serde_json::json!({"files": {}, "skills": {}})
        );
    }
}
