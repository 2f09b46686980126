//! Opening a session: for the first time, or again with its past.

use std::sync::Arc;

use ambit_core::event::EventBody;
use ambit_core::grant::GrantProblem;
use ambit_core::turn::Shown;
use arc_swap::ArcSwap;
use parking_lot::Mutex;

use crate::discovery::Bounds;
use crate::gates::Gates;
use crate::heard::Heard;
use crate::holdings::{Claim, Holdings};
use crate::journal::SessionId;
use crate::marketplace::CapabilityMarketplace;
use crate::past::SessionPast;
use crate::resolver::ResolverContext;

use super::{Session, SessionScope, SessionSpec, State};

/// How a session comes to be.
pub(crate) enum Opening {
    /// For the first time, somewhere.
    Anew(Option<String>),
    /// With a past.
    Again(Box<SessionPast>),
}

impl From<SessionPast> for Opening {
    fn from(past: SessionPast) -> Self {
        Opening::Again(Box::new(past))
    }
}

impl CapabilityMarketplace {
    /// Opens a session: checks and resolves the agent's capabilities, and records that it began.
    pub async fn open_session(
        self: &Arc<Self>,
        spec: SessionSpec,
    ) -> Result<Session, Vec<GrantProblem>> {
        self.make_session(spec, Opening::Anew(None)).await
    }

    /// The same for somebody who will come back for it through this front.
    pub async fn open_session_at(
        self: &Arc<Self>,
        front: &str,
        spec: SessionSpec,
    ) -> Result<Session, Vec<GrantProblem>> {
        let opening = Opening::Anew(Some(front.to_owned()));
        self.make_session(spec, opening).await
    }

    pub(crate) async fn make_session(
        self: &Arc<Self>,
        spec: SessionSpec,
        opening: Opening,
    ) -> Result<Session, Vec<GrantProblem>> {
        let id = match &opening {
            Opening::Anew(_) => SessionId::generate(),
            Opening::Again(past) => past.id.clone(),
        };
        let chain = spec.within.iter().flat_map(|it| &it.bounds);
        let asked_by = chain.map(|it| it.agent.clone()).collect();
        let claim = Claim {
            capabilities: spec.capabilities,
            unknown: spec.unknown,
            context: ResolverContext {
                agent: spec.agent.clone(),
                asked_by,
                agent_dir: spec.agent_dir,
                workspace: spec.workspace.clone(),
                thread: Some(id.to_string()),
                control_paths: spec.control_paths,
                callbacks: spec.callbacks,
            },
        };
        let catalog = self.catalog();
        let holdings = claim.settle(self, &Holdings::default()).await?;
        let mut state = State {
            standing: self.parts.approver.standing(&spec.agent),
            revision: catalog.revision(),
            ..State::default()
        };
        let mut heard = Heard::default();
        if let Opening::Again(past) = &opening {
            state.turn.number = past.turn;
            state.taint = past.taint;
            heard = past.heard.clone();
        }
        let within = spec.within.unwrap_or_default();
        state.taint = state.taint.and(within.taint);
        let channel = match &within.granted {
            Some(_) => spec
                .channel
                .intersection(&within.channel)
                .copied()
                .collect(),
            None => spec.channel,
        };
        let scope = Arc::new(SessionScope {
            market: Arc::clone(self),
            id,
            agent: spec.agent,
            bounds: ArcSwap::from_pointee(Bounds {
                granted: Arc::default(),
                mode: spec.mode,
                rules: spec.rules,
                channel,
                settings: spec.discovery,
                exposure: spec.exposure,
                within: within.bounds,
                gates: Gates::default(),
            }),
            asker: spec.asker,
            outer: within.granted,
            heard: Mutex::new(heard),
            state: Mutex::new(state),
        });
        let session = Session {
            scope: Arc::clone(&scope),
            claim,
            holdings: ArcSwap::default(),
            injections: Mutex::default(),
            renewing: tokio::sync::Mutex::new(catalog.revision()),
        };
        session.hold(holdings, &catalog);
        let mode = scope.bounds().mode;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        match opening {
            Opening::Anew(front) => drop(scope.record(EventBody::SessionStarted {
                agent: scope.agent.clone(),
                mode,
                workspace: spec.workspace.display().to_string(),
                version,
                front,
            })),
            Opening::Again(past) => {
                let turn = past.turn;
                drop(scope.record(EventBody::SessionResumed {
                    mode,
                    turn,
                    version,
                }));
                session.begin_again(*past);
            }
        }
        Ok(session)
    }
}

impl Session {
    /// Begins the last turn of a past again, in the bounds of now.
    fn begin_again(&self, past: SessionPast) {
        let Some(input) = past.input else {
            return;
        };
        let mut state = self.scope.state.lock();
        let bounds = self.scope.bounds();
        let previous = past.shown.iter().map(Shown::from).collect();
        let input = bounds.again(*input, previous);
        self.select(&mut state, &self.scope.market.catalog(), &bounds, input);
    }
}
