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
mod hooks;
mod http;
mod operations;
mod reload;
mod sdk;
mod server;
mod tls;
