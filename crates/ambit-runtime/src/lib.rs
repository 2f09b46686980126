#![doc = include_str!("../README.md")]

pub mod approver;
pub mod cache;
pub mod catalog;
pub mod conversation;
pub mod discovery;
mod dispatch;
mod driver;
pub mod executor;
mod gates;
pub mod heard;
mod holdings;
pub mod hook;
mod indexed;
pub mod injection;
pub mod journal;
pub mod lines;
mod listed;
pub mod marketplace;
mod patience;
pub mod process;
pub mod provider;
pub mod random;
mod recorder;
pub mod registry;
pub mod replay;
pub mod resolver;
mod resources;
pub mod results;
pub mod session;
pub mod skill;
mod start;
pub mod tokens;
pub mod watchdog;

pub use driver::{CallReport, CallRequest};
pub use tokio_util::sync::CancellationToken;
