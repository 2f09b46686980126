//! Ambit inside another program: the agents, servers, rules and trust of `ambit.json`, as the
//! command line has them, without the command line.

use std::fmt;
use std::sync::Arc;

use ambit_core::permission::Mode;
use ambit_runtime::approver::Approver;
use ambit_runtime::journal::{Journal, SessionId};
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::resume::ResumeError;
use ambit_runtime::session::{Session, SessionSpec};
use thiserror::Error;
use tokio::runtime::Handle;

use crate::cli::args::AgentArgs;
use crate::cli::ask::{AskAround, Person};
use crate::cli::check::grant_problem;
use crate::cli::fail::Fail;
use crate::cli::setup::Setup;
use crate::config::Problem;

/// What kept Ambit from its work, worst first.
#[derive(Debug, Error)]
pub struct EmbedError {
    problems: Vec<Problem>,
}

impl EmbedError {
    /// Each with a code, a place where there is one, and hints.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for EmbedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("; "))
    }
}

impl From<Fail> for EmbedError {
    fn from(fail: Fail) -> Self {
        EmbedError {
            problems: fail.problems,
        }
    }
}

impl From<ResumeError> for EmbedError {
    fn from(error: ResumeError) -> Self {
        EmbedError {
            problems: vec![Problem::error("session", error.to_string())],
        }
    }
}

/// A configured Ambit. Sessions of all its agents share one marketplace and one journal.
pub struct Ambit {
    setup: Setup,
    market: Arc<CapabilityMarketplace>,
}

impl Ambit {
    /// Reads the configuration from where the command line would. What needs a person waits for
    /// `ambit approvals`.
    pub async fn open() -> Result<Self, EmbedError> {
        Self::read(None).await
    }

    /// The same with somebody to ask.
    pub async fn open_asking(approver: Arc<dyn Approver>) -> Result<Self, EmbedError> {
        Self::read(Some(approver)).await
    }

    async fn read(approver: Option<Arc<dyn Approver>>) -> Result<Self, EmbedError> {
        let runtime = Handle::current();
        // It reads files, and waits for servers that are looked at for the first time.
        let reading = tokio::task::spawn_blocking(move || -> Result<Self, Fail> {
            let setup = Setup::read(false)?;
            setup.adopt(runtime);
            let (journal, _) = Journal::open(&setup.places.journal())?;
            let approver = approver.unwrap_or_else(|| {
                Arc::new(AskAround {
                    person: Person::AtClient,
                    trust: Arc::clone(&setup.trust),
                })
            });
            let (market, _) = setup.serving_market(journal, approver)?;
            Ok(Ambit { setup, market })
        });
        match reading.await {
            Ok(read) => Ok(read?),
            Err(error) => Err(Fail::usage(Problem::error("internal", error.to_string())).into()),
        }
    }

    /// Everything it knows and can do.
    pub fn market(&self) -> &Arc<CapabilityMarketplace> {
        &self.market
    }

    /// How sessions of an agent are opened, to be changed where something should be otherwise.
    /// Without a name it is the only agent there is.
    pub fn spec(&self, agent: Option<&str>, mode: Option<Mode>) -> Result<SessionSpec, EmbedError> {
        let chosen = AgentArgs {
            agent: agent.map(str::to_owned),
            mode,
        };
        let mut spec = self.setup.session(&chosen, Default::default())?;
        spec.discovery = self.setup.discovery();
        Ok(spec)
    }

    /// Begins a session of an agent, in the agent's own mode.
    pub async fn session(&self, agent: Option<&str>) -> Result<Session, EmbedError> {
        let spec = self.spec(agent, None)?;
        let agent = spec.agent.clone();
        let opened = self.market.open_session(spec).await;
        opened.map_err(|problems| EmbedError {
            problems: problems
                .iter()
                .map(|it| grant_problem(&self.setup, &agent, it))
                .collect(),
        })
    }

    /// Goes on with a session that was.
    pub async fn resume(&self, id: &SessionId) -> Result<Session, EmbedError> {
        let past = self.market.past(id).await?;
        let spec = self.spec(Some(&past.agent), None)?;
        Ok(self.market.go_on(spec, past).await?)
    }

    /// Waits until everything that happened is on record. A program that ends without it may lose
    /// the last few milliseconds of reads, and never an effect.
    pub async fn close(self) -> Result<(), EmbedError> {
        let flushed = self.market.journal().flush().await;
        flushed.map_err(|error| Fail::from(error).into())
    }
}
