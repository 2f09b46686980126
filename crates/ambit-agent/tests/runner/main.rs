//! The runner over a marketplace in memory.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod bounds;
mod conversation;
mod interrupted;
mod rounds;
mod support;
