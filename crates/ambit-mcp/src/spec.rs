//! What a configured server is: how it is reached, for how long it is waited for, and whose it
//! is. Plain data; values of variables and headers are in the clear and never printed.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use ambit_core::digest::Digest;
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
    /// How long a connection nobody uses is kept.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            connect: Duration::from_secs(30),
            idle: Duration::from_secs(600),
        }
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
