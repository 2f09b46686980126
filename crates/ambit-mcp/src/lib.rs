#![doc = include_str!("../README.md")]

mod breaker;
mod connection;
mod effects;
mod error;
mod handshake;
mod link;
mod map;
mod news;
mod pin;
mod process;
mod resolver;
mod server;
mod spec;
mod status;

pub use error::McpError;
pub use map::{RefusedReason, RefusedTool};
pub use pin::{Accepted, Definition, Held, Judged, MemoryPins, PinError, PinStore};
pub use resolver::{McpResolver, refresh_missing};
pub use server::McpServer;
pub use spec::{EffectOverrides, NewTools, Provenance, ServerSpec, Sharing, Timeouts, Transport};
pub use status::{ServerState, ServerStatus};
