#![doc = include_str!("../README.md")]

mod breaker;
mod connection;
mod effects;
mod error;
mod handshake;
mod link;
mod map;
mod news;
mod pace;
mod process;
mod resolver;
mod server;
mod spec;
mod status;

pub use error::McpError;
pub use map::{RefusedReason, RefusedTool};
pub use resolver::{McpResolver, refresh_missing};
pub use server::McpServer;
pub use spec::{Provenance, ServerSpec, Timeouts, Transport};
pub use status::{ServerState, ServerStatus};
