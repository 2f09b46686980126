//! `ambit.json`: what it may say, how the user's and a project's are read and put together,
//! and what is wrong with them, each problem with its place.
//!
//! The way of a file: bytes → `jsonc` (a value with spans) → `shape` (does it fit the
//! schema) → `meaning` (does it make sense) → `expand` (variables and secrets, trusted
//! files only) → `file` (types) → `untrusted` (what is left of a file nobody accepted) →
//! `merged` (one [`Config`]).

mod agents;
mod change;
mod clients;
mod defaults;
mod discovery;
mod expand;
mod file;
mod jsonc;
mod load;
mod meaning;
mod merged;
mod models;
mod problem;
mod rules;
mod schema;
mod serve;
mod server;
mod shape;
mod starter;
#[cfg(test)]
mod tests;
mod untrusted;
mod widening;

pub use agents::DEFAULT_AGENT;
pub use change::{ConfigChange, compare};
pub use clients::Client;
pub use discovery::{Discovery, DiscoveryFile, WeightsFile};
pub use file::{Agent, Capabilities, ConfigFile, Hook, LimitsFile, Origin};
pub(crate) use jsonc::SYNTAX;
pub use jsonc::{Document, Spot};
pub use load::{Inputs, Loaded, ProjectFile, errors, find_project, load};
pub use merged::{Config, Limits};
pub(crate) use problem::presentable;
pub use problem::{Place, Problem, Severity, Source};
pub use rules::RuleLists;
pub use schema::json_schema;
pub use serve::{Serve, ServeFile};
pub use server::{Idle, McpServer, ServerSettings};
pub use starter::starter;
pub use widening::{Bound, Guard, Tense, Widening, WideningReason, widened_by, widening};
