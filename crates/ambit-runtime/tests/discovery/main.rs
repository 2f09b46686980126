//! What a session shows turn by turn: what is hidden stays hidden however it is asked for, what
//! is shown fits its budget and keeps its place, and all of it can be recomputed.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod budget;
mod found;
mod hidden;
mod recorded;
mod stable;
mod support;
