//! The runner over a marketplace in memory.

mod bounds;
mod conversation;
mod interrupted;
mod rounds;
mod support;
