//! Sessions of the turn API: kept while they are used, and found again in the journal.
//!
//! There is no end by idleness: a session that nobody used for a while, or that had to make room,
//! is only let go. The next request for it goes on with it, in the bounds of that moment.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_core::permission::Mode;
use ambit_runtime::journal::SessionId;
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::past::SessionPast;
use ambit_runtime::resume::ResumeError;
use ambit_runtime::session::{Session, SessionSpec};
use parking_lot::Mutex;

use super::FRONT;
use super::keyed::Keyed;
use super::problem::Problem;
use crate::http::served::Generation;

/// A session in memory.
pub(crate) struct TurnSession {
    pub(super) session: Session,
    pub(super) market: Arc<CapabilityMarketplace>,
    pub(super) keyed: Arc<Keyed>,
    generation: u64,
    used: Mutex<Instant>,
}

/// All of them.
pub(crate) struct TurnSessions {
    most: usize,
    idle: Duration,
    kept: Mutex<HashMap<SessionId, Arc<TurnSession>>>,
    /// One is looked for at a time, so that nobody goes on with one twice.
    looking: tokio::sync::Mutex<()>,
}

impl TurnSessions {
    pub(crate) fn new(most: usize, idle: Duration) -> Self {
        TurnSessions {
            most,
            idle,
            kept: Mutex::default(),
            looking: tokio::sync::Mutex::default(),
        }
    }

    /// How many are in memory.
    pub(crate) fn count(&self) -> usize {
        self.kept.lock().len()
    }

    /// Lets go of those nobody used for long.
    pub(crate) fn sweep(&self) {
        self.kept
            .lock()
            .retain(|_, it| is_used(it) || it.used.lock().elapsed() < self.idle);
    }

    /// Begins one.
    pub(super) async fn open(
        &self,
        generation: &Arc<Generation>,
        agent: &str,
        mode: Option<Mode>,
    ) -> Result<Arc<TurnSession>, Problem> {
        let mut spec = spec(generation, agent)?;
        let own = spec.mode;
        spec.mode = match mode {
            Some(looser) if looser > own => {
                return Err(Problem::looser("the agent's", looser, own));
            }
            Some(mode) => mode,
            None => own,
        };
        let market = generation.market();
        let session = market.open_session_at(FRONT, spec).await;
        let session = session.map_err(ResumeError::Grants)?;
        self.keep(session, generation, Arc::default())
    }

    /// One that is there, or was.
    pub(super) async fn find(
        &self,
        generation: &Arc<Generation>,
        id: &str,
        may_use: impl Fn(&str) -> bool,
    ) -> Result<Arc<TurnSession>, Problem> {
        let id: SessionId = id.parse().map_err(|_| Problem::no_session())?;
        if let Some(found) = self.current(&id, generation) {
            return match may_use(found.session.agent()) {
                true => Ok(found),
                false => Err(Problem::no_session()),
            };
        }
        let _looking = self.looking.lock().await;
        // Somebody else may have found it meanwhile.
        if let Some(found) = self
            .current(&id, generation)
            .filter(|it| may_use(it.session.agent()))
        {
            return Ok(found);
        }
        let market = generation.market();
        let past = market.past(&id).await?;
        // One that came in elsewhere is not for whoever comes in here.
        if past.front.as_deref() != Some(FRONT) || !may_use(&past.agent) {
            return Err(Problem::no_session());
        }
        let mut spec = spec(generation, &past.agent)?;
        spec.mode = spec.mode.min(past.mode);
        let keyed = self.keyed(&past);
        let session = market.go_on(spec, past).await?;
        self.keep(session, generation, keyed)
    }

    /// Its calls by key: those of the one before, where it is still there, since some of its calls
    /// may be at work.
    fn keyed(&self, past: &SessionPast) -> Arc<Keyed> {
        let before = self
            .kept
            .lock()
            .get(&past.id)
            .map(|it| Arc::clone(&it.keyed));
        before.unwrap_or_else(|| Arc::new(Keyed::of(past)))
    }

    fn current(&self, id: &SessionId, generation: &Generation) -> Option<Arc<TurnSession>> {
        let kept = self.kept.lock();
        let found = kept
            .get(id)
            .filter(|it| it.generation == generation.number())?;
        *found.used.lock() = Instant::now();
        Some(Arc::clone(found))
    }

    fn keep(
        &self,
        session: Session,
        generation: &Arc<Generation>,
        keyed: Arc<Keyed>,
    ) -> Result<Arc<TurnSession>, Problem> {
        let id = session.id().clone();
        let made = Arc::new(TurnSession {
            session,
            market: Arc::clone(generation.market()),
            keyed,
            generation: generation.number(),
            used: Mutex::new(Instant::now()),
        });
        let mut kept = self.kept.lock();
        if kept.len() >= self.most && !kept.contains_key(&id) {
            let unused = kept.iter().filter(|(_, it)| !is_used(it));
            let longest = unused.min_by_key(|(_, it)| *it.used.lock());
            let longest = longest.map(|(id, _)| id.clone());
            let longest =
                longest.ok_or_else(|| Problem::busy("as many sessions are in use as may be"))?;
            kept.remove(&longest);
        }
        kept.insert(id, Arc::clone(&made));
        Ok(made)
    }

    /// It has ended.
    pub(super) fn forget(&self, id: &str) {
        self.kept.lock().retain(|it, _| it.as_str() != id);
    }
}

/// Whether anybody but the table has it.
fn is_used(it: &Arc<TurnSession>) -> bool {
    Arc::strong_count(it) > 1
}

fn spec(generation: &Generation, agent: &str) -> Result<SessionSpec, Problem> {
    generation.spec(agent).ok_or_else(Problem::no_session)
}
