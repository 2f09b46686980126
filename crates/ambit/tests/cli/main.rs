//! Every command as a whole process, each test in a home of its own.
//!
//! One test binary with a module per family: the binary under test is linked once, and so are
//! its tests.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr
)]

mod approvals;
mod builtins_agents;
mod builtins_browser;
mod builtins_duty;
mod builtins_history;
mod builtins_memory;
mod builtins_notes;
mod builtins_self;
mod builtins_tasks;
mod builtins_triggers;
mod client;
mod clients;
mod config;
mod data;
mod discovery;
mod disk;
mod files;
mod hooks;
mod http_clients;
mod init;
mod input;
mod journal;
mod killed;
mod login;
mod mcp;
mod output;
mod pins;
mod protocol;
mod rules;
mod secrets;
mod secrets_used;
mod server;
mod servers;
mod shapes;
mod shell;
mod skills;
mod support;
mod terminal;
mod trust;
