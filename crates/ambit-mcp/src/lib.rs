#![doc = include_str!("../README.md")]

mod breaker;
mod calls;
mod connection;
mod direct;
mod effects;
mod egress;
mod error;
mod exchange;
mod flights;
mod handshake;
mod link;
mod listener;
mod listing;
mod map;
mod oauth;
mod offers;
mod pace;
mod pin;
mod process;
mod resolver;
mod results;
mod server;
mod shipped;
mod side;
mod skills;
mod spec;
mod status;
mod stdio;
mod tasks;
mod watchers;
mod watching;

pub use error::McpError;
pub use map::{RefusedReason, RefusedTool};
pub use oauth::{
    ClientAuth, ClientChoice, Login, LoginError, LoginReason, LoginRequest, MemoryTokens,
    OauthClient, PendingLogin, TokenStore, TokenStoreError,
};
pub use pin::{Accepted, Definition, Held, Judged, MemoryPins, PinError, PinStore};
pub use resolver::{McpResolver, refresh_missing};
pub use server::McpServer;
pub use shipped::Shipped;
pub use spec::{EffectOverrides, NewTools, Provenance, ServerSpec, Sharing, Timeouts, Transport};
pub use status::{ServerState, ServerStatus};
