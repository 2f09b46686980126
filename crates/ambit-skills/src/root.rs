//! Where skills are looked for, and how far what is found there is trusted.

use std::io;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde::Serialize;

/// Who vouches for the skills of a root. The greater one has precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RootTrust {
    /// An agent, which wrote it itself.
    Agent,
    /// An MCP server.
    Mcp,
    /// A plugin.
    Plugin,
    /// Whoever can write to the workspace's repository.
    Project,
    /// The user.
    User,
    /// The machine's administrator.
    Managed,
}

impl RootTrust {
    /// Whether a person must accept a skill's content digest before it is loaded.
    pub fn needs_approval(self) -> bool {
        match self {
            RootTrust::Managed | RootTrust::User => false,
            RootTrust::Project | RootTrust::Plugin | RootTrust::Mcp | RootTrust::Agent => true,
        }
    }

    /// Whether a skill's `allowed-tools` means anything. What an agent wrote says nothing about
    /// what the agent may do.
    pub fn speaks_of_tools(self) -> bool {
        self != RootTrust::Agent
    }

    /// The word used in JSON and on the terminal.
    pub fn as_str(self) -> &'static str {
        match self {
            RootTrust::Agent => "agent",
            RootTrust::Mcp => "mcp",
            RootTrust::Plugin => "plugin",
            RootTrust::Project => "project",
            RootTrust::User => "user",
            RootTrust::Managed => "managed",
        }
    }
}

/// A folder of skill folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillRoot {
    path: PathBuf,
    trust: RootTrust,
    /// What links on the way to a skill may not leave. `None`: links lead anywhere, as the
    /// owner of the root is the owner of the machine or of the account.
    within: Option<PathBuf>,
    /// The one agent its skills are for. `None`: for all.
    agent: Option<String>,
}

impl SkillRoot {
    /// A root of the administrator.
    pub fn managed(path: impl Into<PathBuf>) -> Self {
        SkillRoot {
            path: path.into(),
            trust: RootTrust::Managed,
            within: None,
            agent: None,
        }
    }

    /// A root of the user.
    pub fn user(path: impl Into<PathBuf>) -> Self {
        SkillRoot {
            path: path.into(),
            trust: RootTrust::User,
            within: None,
            agent: None,
        }
    }

    /// A root in a workspace. Links may lead around in the workspace, not out of it.
    pub fn project(workspace: &Path, relative: impl AsRef<Path>) -> Self {
        SkillRoot {
            path: workspace.join(relative),
            trust: RootTrust::Project,
            within: Some(workspace.to_owned()),
            agent: None,
        }
    }

    /// A root that a plugin brings.
    pub fn plugin(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        SkillRoot {
            within: Some(path.clone()),
            path,
            trust: RootTrust::Plugin,
            agent: None,
        }
    }

    /// A root that holds what an MCP server offers.
    pub fn mcp(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        SkillRoot {
            within: Some(path.clone()),
            path,
            trust: RootTrust::Mcp,
            agent: None,
        }
    }

    /// A root an agent writes, and that is for this agent alone.
    pub fn agent(path: impl Into<PathBuf>, agent: impl Into<String>) -> Self {
        let path = path.into();
        SkillRoot {
            within: Some(path.clone()),
            path,
            trust: RootTrust::Agent,
            agent: Some(agent.into()),
        }
    }

    /// The one agent its skills are for, if they are not for all.
    pub fn only_for(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Who vouches for it.
    pub fn trust(&self) -> RootTrust {
        self.trust
    }

    /// Opens the root, or a folder below it.
    pub(crate) fn open(&self, below: &Path) -> io::Result<Dir> {
        let path = self.path.join(below);
        let Some(within) = &self.within else {
            return Dir::open_ambient_dir(path, ambient_authority());
        };
        let relative = path.strip_prefix(within).map_err(io::Error::other)?;
        let base = Dir::open_ambient_dir(within, ambient_authority())?;
        if relative.as_os_str().is_empty() {
            Ok(base)
        } else {
            base.open_dir(relative)
        }
    }
}

/// The roots agents write: of each agent below `agents`, its folder `skills`.
pub fn agent_roots(agents: &Path) -> Vec<SkillRoot> {
    let Ok(entries) = std::fs::read_dir(agents) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|it| it.file_name().into_string().ok())
        .filter(|it| !it.starts_with('.'))
        .collect();
    names.sort();
    let root = |name: String| SkillRoot::agent(agents.join(&name).join("skills"), name);
    names.into_iter().map(root).collect()
}

/// The roots every Ambit looks at, by precedence: the machine's, the user's, the workspace's.
///
/// `config_home` is what `$XDG_CONFIG_HOME` stands for.
pub fn standard_roots(home: &Path, config_home: &Path, workspace: &Path) -> Vec<SkillRoot> {
    vec![
        SkillRoot::managed("/etc/ambit/skills"),
        SkillRoot::user(config_home.join("ambit/skills")),
        SkillRoot::user(home.join(".agents/skills")),
        SkillRoot::user(home.join(".claude/skills")),
        SkillRoot::project(workspace, ".agent/skills"),
        SkillRoot::project(workspace, ".agents/skills"),
        SkillRoot::project(workspace, ".claude/skills"),
    ]
}
