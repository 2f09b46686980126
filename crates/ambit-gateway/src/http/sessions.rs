//! Sessions of the session era: whose they are, how many there may be, and when they end.
//!
//! Each caller, an agent and a token, has a [`Sessions`] of its own, so a session id means nothing
//! to anybody else. The [`SessionTable`] counts them all. It ends what nobody uses: what has been
//! idle too long, and, where there is no room for one more, what nobody came back to after saying
//! hello, before what has been idle longest.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use futures_util::Stream;
use http::request::Parts;
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{Peer, RoleServer};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

use super::access::Caller;
use super::direct::Desk;
use super::endpoint::SESSION;
use crate::handler::Handler;

/// How long an ended stream can still be asked for again. Everything in it is kept that long, and
/// looked through at every message.
const RESUMABLE: Duration = Duration::from_secs(5);

/// All sessions there are.
pub(crate) struct SessionTable {
    most: usize,
    idle: Duration,
    open: Mutex<HashMap<SessionId, Entry>>,
}

struct Entry {
    owner: Arc<Owner>,
    /// Calls at work.
    calls: usize,
    /// Streams somebody listens to.
    streams: usize,
    /// Whether anything came after hello.
    was_used: bool,
    /// Where its calls are answered past the SDK.
    desk: Option<Arc<Desk>>,
    since: Instant,
}

/// Whose sessions they are, and where they are kept.
struct Owner {
    caller: Caller,
    generation: u64,
    kept: LocalSessionManager,
}

/// What a request does in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Call,
    Listen,
}

/// A session in use; it is not ended meanwhile.
pub(crate) struct InUse {
    table: Arc<SessionTable>,
    id: SessionId,
    by: Use,
    desk: Option<Arc<Desk>>,
}

impl InUse {
    pub(super) fn desk(&self) -> Option<Arc<Desk>> {
        self.desk.clone()
    }
}

/// Where a session is kept, for the handler that answers it.
pub(crate) struct AtHome {
    pub(crate) sessions: Weak<Sessions>,
    pub(crate) handler: Weak<Handler>,
}

impl AtHome {
    /// From now on calls of this session are answered past the SDK.
    pub(crate) fn settle(&self, parts: &Parts, client: &Peer<RoleServer>) {
        let id = parts.headers.get(SESSION).and_then(|it| it.to_str().ok());
        let home = (self.sessions.upgrade(), self.handler.upgrade());
        if let (Some(id), (Some(sessions), Some(handler))) = (id, home) {
            sessions.settle(id, Desk::of_session(handler, client.clone()));
        }
    }
}

impl SessionTable {
    pub(crate) fn new(most: usize, idle: Duration) -> Arc<Self> {
        Arc::new(SessionTable {
            most,
            idle,
            open: Mutex::default(),
        })
    }

    pub(crate) fn count(&self) -> usize {
        self.open.lock().len()
    }

    /// Whether there is a place for one more, if need be somebody's who does not use his.
    pub(crate) fn has_room(&self) -> bool {
        let open = self.open.lock();
        open.len() < self.most || open.values().any(Entry::is_idle)
    }

    /// Ends sessions that nobody uses any more, and those that may not go on.
    pub(crate) async fn sweep(&self, may_go_on: impl Fn(&Caller, u64) -> bool) {
        let ending = {
            let open = self.open.lock();
            let ends = |it: &Entry| {
                let is_over = !may_go_on(&it.owner.caller, it.owner.generation);
                let is_unused = it.is_idle() && it.since.elapsed() >= self.idle;
                (is_over && it.calls == 0) || is_unused
            };
            let ending = open.iter().filter(|(_, it)| ends(it));
            ending
                .map(|(id, it)| (id.clone(), Arc::clone(&it.owner)))
                .collect::<Vec<_>>()
        };
        for (id, owner) in ending {
            self.end(&id, &owner).await;
        }
    }

    /// Ends all of them.
    pub(crate) async fn end_all(&self) {
        let all: Vec<_> = self.open.lock().drain().collect();
        for (id, entry) in all {
            let _ = entry.owner.kept.close_session(&id).await;
        }
    }

    async fn end(&self, id: &SessionId, owner: &Owner) {
        self.open.lock().remove(id);
        // One that ended by itself is gone already.
        if let Err(error) = owner.kept.close_session(id).await {
            tracing::debug!(%error, "a session had ended");
        }
    }

    /// Frees a place if there is none.
    async fn make_room(&self) -> Result<(), SessionsError> {
        let displaced = {
            let open = self.open.lock();
            if open.len() < self.most {
                return Ok(());
            }
            let idle = open.iter().filter(|(_, it)| it.is_idle());
            idle.min_by_key(|(_, it)| (it.was_used, it.since))
                .map(|(id, it)| (id.clone(), Arc::clone(&it.owner)))
        };
        let (id, owner) = displaced.ok_or(SessionsError::NoRoom)?;
        self.end(&id, &owner).await;
        Ok(())
    }
}

impl Entry {
    fn is_idle(&self) -> bool {
        self.calls == 0 && self.streams == 0
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        if let Some(entry) = self.table.open.lock().get_mut(&self.id) {
            let count = match self.by {
                Use::Call => &mut entry.calls,
                Use::Listen => &mut entry.streams,
            };
            *count = count.saturating_sub(1);
            entry.since = Instant::now();
        }
    }
}

/// The sessions of one caller.
pub(crate) struct Sessions {
    table: Arc<SessionTable>,
    owner: Arc<Owner>,
}

impl Sessions {
    pub(crate) fn new(table: &Arc<SessionTable>, caller: Caller, generation: u64) -> Self {
        let mut kept = LocalSessionManager::default();
        // The table knows better what is idle: a call that says nothing for long is not.
        kept.session_config.keep_alive = None;
        kept.session_config.completed_cache_ttl = RESUMABLE;
        Sessions {
            table: Arc::clone(table),
            owner: Arc::new(Owner {
                caller,
                generation,
                kept,
            }),
        }
    }

    /// Uses a session of this caller. Anybody else's is unknown.
    pub(crate) fn enter(&self, id: &str, by: Use) -> Option<InUse> {
        let id = SessionId::from(id);
        let mut open = self.table.open.lock();
        let entry = open.get_mut(&id)?;
        if !Arc::ptr_eq(&entry.owner, &self.owner) {
            return None;
        }
        match by {
            Use::Call => entry.calls += 1,
            Use::Listen => entry.streams += 1,
        }
        entry.was_used = true;
        let desk = entry.desk.clone();
        drop(open);
        Some(InUse {
            table: Arc::clone(&self.table),
            id,
            by,
            desk,
        })
    }

    fn settle(&self, id: &str, desk: Desk) {
        let id = SessionId::from(id);
        let mut open = self.table.open.lock();
        let entry = open.get_mut(&id);
        if let Some(entry) = entry.filter(|it| Arc::ptr_eq(&it.owner, &self.owner)) {
            entry.desk = Some(Arc::new(desk));
        }
    }
}

/// Why a session cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionsError {
    #[error("there are as many sessions as there may be, and all are in use")]
    NoRoom,
    #[error(transparent)]
    Kept(#[from] LocalSessionManagerError),
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.table.make_room().await?;
        let (id, transport) = self.owner.kept.create_session().await?;
        let entry = Entry {
            owner: Arc::clone(&self.owner),
            calls: 0,
            streams: 0,
            was_used: false,
            desk: None,
            since: Instant::now(),
        };
        self.table.open.lock().insert(id.clone(), entry);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        Ok(self.owner.kept.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.owner.kept.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.table.open.lock().remove(id);
        Ok(self.owner.kept.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.owner.kept.create_stream(id, message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        Ok(self.owner.kept.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.owner.kept.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.owner.kept.resume(id, last_event_id).await?)
    }
}
