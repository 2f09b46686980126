//! What a configured server is: how it is reached, for how long it is waited for, and whose it
//! is. Plain data; values of variables and headers are in the clear and never printed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use ambit_core::digest::Digest;
use ambit_core::effects::Effects;
use ambit_core::wire::Naming;
use serde::Deserialize;
use serde_json::json;

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum Transport {
    /// A child process, spoken to over its standard streams. No shell is involved.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its variables, besides the few every child gets.
        env: Vec<(String, String)>,
        /// The folder it starts in.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// The endpoint.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, String)>,
    },
}

/// Whose configuration named the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// The user's own: what its tools are called counts for what they do.
    Own,
    /// Somebody else's, such as a project's file: only annotations count.
    Foreign,
}

/// For how long things are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From the start of the process or the first request until the tools are listed.
    pub connect: Duration,
    /// How long a call may run. The runtime's own limit holds as well: the shorter counts.
    pub call: Option<Duration>,
    /// How long a connection nobody uses is kept; for ever, if nothing is said.
    pub idle: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            connect: Duration::from_secs(30),
            call: None,
            idle: Some(Duration::from_secs(600)),
        }
    }
}

/// Who shares a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// All sessions of the process.
    #[default]
    Shared,
    /// Each session has its own: for servers that keep something of whom they talk to.
    PerSession,
}

/// What becomes of a tool that was not there when its server was first seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NewTools {
    /// It is offered like the others.
    #[default]
    Allow,
    /// It is held back until a person has accepted it.
    Ask,
}

/// What a user says a server's tools do, whatever the server says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffectOverrides {
    /// By the server's own name of a tool.
    pub by_tool: BTreeMap<String, Effects>,
    /// For all the others.
    pub others: Option<Effects>,
}

impl EffectOverrides {
    /// What the user says of a tool.
    pub fn of(&self, raw_name: &str) -> Option<Effects> {
        self.by_tool.get(raw_name).copied().or(self.others)
    }
}

/// A configured server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSpec {
    /// Its key in the configuration, and the owner in its tools' ids.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// For how long it is waited for.
    pub timeouts: Timeouts,
    /// How many calls may run at once; more wait.
    pub concurrency: usize,
    /// Whose configuration named it.
    pub provenance: Provenance,
    /// Who shares its connection.
    pub sharing: Sharing,
    /// What becomes of tools it adds later.
    pub new_tools: NewTools,
    /// How its tools are called towards a model.
    pub naming: Naming,
    /// What its tools do, as far as the user says so.
    pub effects: EffectOverrides,
}

impl ServerSpec {
    /// A server of the user's own, with the usual limits.
    pub fn new(name: impl Into<String>, transport: Transport) -> Self {
        ServerSpec {
            name: name.into(),
            transport,
            timeouts: Timeouts::default(),
            concurrency: 32,
            provenance: Provenance::Own,
            sharing: Sharing::default(),
            new_tools: NewTools::default(),
            naming: Naming::default(),
            effects: EffectOverrides::default(),
        }
    }

    /// What the server is: its program and arguments, or its url. Names of variables count,
    /// values do not, so that a new token does not forget everything.
    pub fn identity(&self) -> Digest {
        match &self.transport {
            Transport::Stdio {
                command, args, env, ..
            } => {
                let mut variables: Vec<&String> = env.iter().map(|(name, _)| name).collect();
                variables.sort_unstable();
                Digest::of_json(&json!([command, args, variables, null]))
            }
            Transport::Http { url, .. } => Digest::of_json(&json!([null, [], [], url])),
        }
    }

    /// The server in words, for a person who looks at a pin. Arguments and the rest of an address
    /// may hold secrets, so they count, and only their digest is shown.
    pub(crate) fn label(&self) -> String {
        match &self.transport {
            Transport::Stdio { command, args, .. } => {
                let digest = Digest::of_json(&json!([command, args]));
                format!("{command} ({})", digest.short())
            }
            Transport::Http { url, .. } => {
                let shown = url.split(['?', '#']).next().unwrap_or_default();
                let (scheme, rest) = shown.split_once("://").unwrap_or(("", shown));
                let host = rest.split('/').next().unwrap_or_default();
                let host = host.rsplit('@').next().unwrap_or_default();
                let digest = Digest::of_bytes(url.as_bytes());
                format!("{scheme}://{host} ({})", digest.short())
            }
        }
    }

    /// What its cached descriptors were made from: the server, and what is said of its tools here.
    pub fn cached_as(&self) -> Digest {
        let own = self.provenance == Provenance::Own;
        Digest::of(&(
            self.identity(),
            own,
            self.naming,
            &self.effects.by_tool,
            self.effects.others,
        ))
        .unwrap_or(Digest::ZERO)
    }

    /// The name its capabilities are filed under in the catalog and the cache.
    pub fn source(&self) -> String {
        format!("mcp:{}", self.name)
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |pairs: &[(String, String)]| -> Vec<String> {
            pairs.iter().map(|(name, _)| name.clone()).collect()
        };
        match self {
            Transport::Stdio {
                command,
                args,
                env,
                cwd,
            } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", args)
                .field("env", &names(env))
                .field("cwd", cwd)
                .finish(),
            Transport::Http { url, headers } => f
                .debug_struct("Http")
                .field("url", url)
                .field("headers", &names(headers))
                .finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stdio(command: &str, args: &[&str], env: &[(&str, &str)]) -> ServerSpec {
        ServerSpec::new(
            "s",
            Transport::Stdio {
                command: command.to_owned(),
                args: args.iter().map(|it| (*it).to_owned()).collect(),
                env: env
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
                cwd: None,
            },
        )
    }

    #[test]
    fn what_is_said_of_the_tools_is_not_identity_but_another_reading() {
        let plain = stdio("npx", &[], &[]);
        let foreign = ServerSpec {
            provenance: Provenance::Foreign,
            ..plain.clone()
        };
        let bare = ServerSpec {
            naming: Naming::Bare,
            ..plain.clone()
        };
        let reading = ServerSpec {
            effects: EffectOverrides {
                others: Some(Effects::READS),
                ..EffectOverrides::default()
            },
            ..plain.clone()
        };
        for other in [foreign, bare, reading] {
            assert_eq!(other.identity(), plain.identity());
            assert_ne!(other.cached_as(), plain.cached_as());
        }
    }

    #[test]
    fn a_label_tells_servers_apart_and_nothing_else() {
        let http = |url: &str| {
            let headers = Vec::new();
            let url = url.to_owned();
            ServerSpec::new("s", Transport::Http { url, headers }).label()
        };
        let label = http("https://me:secret@x.example:80/mcp/secret?token=secret");
        assert!(label.starts_with("https://x.example:80 (") && !label.contains("secret"));
        assert_ne!(http("https://x/a"), http("https://x/b"));
        let label = stdio("npx", &["--token", "secret"], &[]).label();
        assert!(label.starts_with("npx (") && !label.contains("secret"));
        assert_ne!(label, stdio("npx", &[], &[]).label());
        assert_eq!(
            label,
            stdio("npx", &["--token", "secret"], &[("A", "")]).label()
        );
    }

    #[test]
    fn values_of_variables_are_not_identity_and_not_printed() {
        let first = stdio("npx", &["x"], &[("B", "secret-1"), ("A", "1")]);
        let same = stdio("npx", &["x"], &[("A", "2"), ("B", "secret-2")]);
        assert_eq!(first.identity(), same.identity());
        assert!(!format!("{first:?}").contains("secret"));
        for other in [
            stdio("npx", &["y"], &[("A", ""), ("B", "")]),
            stdio("npm", &["x"], &[("A", ""), ("B", "")]),
            stdio("npx", &["x"], &[("A", "")]),
        ] {
            assert_ne!(first.identity(), other.identity());
        }
    }
}
