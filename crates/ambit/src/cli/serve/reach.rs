//! From how far away the server can be asked, and what has to be in place for that.

use std::net::SocketAddr;

use ambit_gateway::http::{Door, Lock};

use crate::cli::args::ServeArgs;
use crate::cli::fail::Fail;
use crate::config::Problem;
use crate::trust::IssuedToken;

/// Who can send it a request at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Programs of this machine.
    Machine,
    /// Others, too: it listens elsewhere, or something in front of it does.
    Beyond,
}

/// What keeps a server from being reached from beyond this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotReady {
    /// Agents that everybody could use.
    Unlocked(Vec<String>),
    /// What is said would be read on the way.
    InClear,
}

impl Reach {
    pub(crate) fn of(listen: SocketAddr, args: &ServeArgs) -> Self {
        match listen.ip().is_loopback() && !args.behind_proxy {
            true => Reach::Machine,
            false => Reach::Beyond,
        }
    }

    /// What it takes to use an agent.
    pub(crate) fn lock(self, agent: &str, tokens: &[IssuedToken]) -> Lock {
        let mut issued = tokens.iter().filter(|it| it.agent == agent).peekable();
        match (issued.peek(), self) {
            (None, Reach::Machine) => Lock::Open,
            _ => {
                let live = issued.filter(|it| it.revoked.is_none());
                Lock::Tokens(live.map(|it| it.digest).collect())
            }
        }
    }

    /// Whether it may listen.
    pub(crate) fn check(self, door: &Door, args: &ServeArgs) -> Result<(), NotReady> {
        if self == Reach::Machine {
            return Ok(());
        }
        let locked = |lock: &Lock| matches!(lock, Lock::Tokens(live) if !live.is_empty());
        let unlocked = door.agents.iter().filter(|(_, lock)| !locked(lock));
        let unlocked: Vec<String> = unlocked.map(|(name, _)| name.clone()).collect();
        if !unlocked.is_empty() {
            return Err(NotReady::Unlocked(unlocked));
        }
        match args.tls_cert.is_some() || args.behind_proxy {
            true => Ok(()),
            false => Err(NotReady::InClear),
        }
    }
}

impl NotReady {
    pub(crate) fn fail(&self, listen: SocketAddr) -> Fail {
        let problem = match self {
            NotReady::Unlocked(agents) => {
                let names: Vec<String> = agents.iter().map(|it| format!("`{it}`")).collect();
                let issue: Vec<String> = agents
                    .iter()
                    .map(|it| format!("`ambit agents token {it}`"))
                    .collect();
                let message = format!(
                    "`{listen}` can be reached from elsewhere, and no token is needed for {}",
                    names.join(", ")
                );
                Problem::error("token_missing", message).hint(format!(
                    "issue one with {}, or serve fewer with `--agent`",
                    issue.join(", ")
                ))
            }
            NotReady::InClear => {
                let message = format!(
                    "`{listen}` can be reached from elsewhere, and tokens would go there in clear"
                );
                Problem::error("tls_missing", message).hint(
                    "give `--tls-cert` and `--tls-key`, or say `--behind-proxy` where a proxy does TLS",
                )
            }
        };
        Fail::usage(problem)
    }
}
