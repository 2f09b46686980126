//! Real children behind the real pipeline, well-behaved and not.

// Checks and fixtures outside `#[test]` functions are test code, too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod calls;
mod faults;
mod http;
mod real;
mod supervision;
mod support;
