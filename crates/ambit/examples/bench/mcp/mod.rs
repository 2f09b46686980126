//! What Ambit costs between an MCP client and an MCP server, on standard input and output.

pub(crate) mod cached;
mod client;
pub(crate) mod contenders;
mod cost;
pub(crate) mod echo;
mod http;
pub(crate) mod neighbours;
