//! The official MCP conformance suite, against the fixture server alone and behind Ambit.
//!
//! The fixture (`ambit-testkit`, example `conformance_server`) is the reference: all that passes
//! there has to pass through Ambit, whichever way the server is reached. The other way round,
//! Ambit's upstream half is a client of the suite's own servers. Failures that are known stand in
//! `expected.txt`, each with its reason; one that no longer fails is an error.

// Checks and fixtures outside `#[test]` functions are test code, too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod client;
mod expected;
mod gateway;
mod server;
mod suite;
