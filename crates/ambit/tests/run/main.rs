//! Agents at work, with real processes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod assistant;
mod chain;
mod colleagues;
mod due;
mod interrupt;
mod models;
mod output;
mod support;
