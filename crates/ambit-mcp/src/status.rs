//! How a server is doing, for whoever looks after it.

use std::time::Duration;

use crate::map::RefusedTool;

/// Where a server stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// Nobody needed it yet, or nobody needs it now.
    NotConnected,
    /// It is being connected.
    Connecting,
    /// It can be called.
    Connected,
    /// It failed too often; calls are turned away for a while.
    LeftAlone {
        /// When it is tried again.
        again_in: Duration,
    },
}

/// How a server is doing.
#[derive(Clone, Debug)]
pub struct ServerStatus {
    /// Where it stands.
    pub state: ServerState,
    /// What went wrong last.
    pub last_error: Option<String>,
    /// What it wrote to stderr last.
    pub stderr: String,
    /// How long connecting took, the last time it worked.
    pub connected_in: Option<Duration>,
    /// How many tools it offers, while it is connected.
    pub tools: usize,
    /// Listed tools that are not offered.
    pub refused: Vec<RefusedTool>,
    /// The server's version, while it is connected.
    pub version: Option<String>,
    /// The protocol version spoken, while it is connected.
    pub protocol: Option<String>,
    /// The number of its process, while there is one.
    pub process: Option<u32>,
}
