//! `ambit serve` as a whole process, spoken to through real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr
)]

mod abuse;
mod access;
mod eras;
mod harness;
mod hooks;
mod http;
mod operations;
mod reload;
mod sdk;
mod server;
mod tls;
mod turn_access;
mod turn_approvals;
mod turn_events;
mod turn_keys;
mod turn_openapi;
mod turns;
