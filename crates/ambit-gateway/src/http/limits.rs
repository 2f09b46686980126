//! How much of everything. The defaults are for a server that anybody on the machine may knock at:
//! whatever is asked of it, memory stays bounded and the next client finds a place.

use std::time::Duration;

/// Bounds of the HTTP front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// Most connections at once. One more closes the one that has been idle longest.
    pub connections: usize,
    /// Most sessions at once, over all agents. One more ends the one that has been idle longest.
    pub sessions: usize,
    /// Most requests of clients at work at once.
    pub calls: usize,
    /// How long a session may be unused.
    pub session_idle: Duration,
    /// Most bytes of one request's body.
    pub body_bytes: usize,
    /// Most bytes of all bodies that are being read.
    pub bodies_bytes: usize,
    /// How long a body may take.
    pub body_time: Duration,
    /// Most headers of one request.
    pub headers: usize,
    /// Most bytes of a request's head.
    pub head_bytes: usize,
    /// How long a connection may be without a whole request head, its first or its next.
    pub head_time: Duration,
    /// How long a client may take nothing of what is sent to it.
    pub write_time: Duration,
    /// Most clients without a session that are kept apart, per agent.
    pub stateless_clients: usize,
    /// How long what runs may go on once the server has been told to stop.
    pub drain: Duration,
}

impl HttpLimits {
    /// Most streams somebody listens to at once. With calls they leave some connections over, so
    /// that there is always one that can make room for whoever comes next.
    pub(crate) fn streams(&self) -> usize {
        let others = self.calls + self.connections / 8;
        self.connections.saturating_sub(others).max(1)
    }
}

impl Default for HttpLimits {
    fn default() -> Self {
        HttpLimits {
            connections: 4096,
            sessions: 1024,
            calls: 512,
            session_idle: Duration::from_secs(30 * 60),
            body_bytes: 4 << 20,
            bodies_bytes: 64 << 20,
            body_time: Duration::from_secs(30),
            headers: 64,
            head_bytes: 64 << 10,
            head_time: Duration::from_secs(60),
            write_time: Duration::from_secs(60),
            stateless_clients: 64,
            drain: Duration::from_secs(10),
        }
    }
}
