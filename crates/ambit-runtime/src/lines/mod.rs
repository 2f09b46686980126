//! Messages of one line each, as clients, Ambit and servers exchange them over pipes.
//!
//! Both ends are made for many small messages: a read takes in as many lines as there are, and a
//! line goes out with one write by whoever has it, without a task in between.

mod reader;
mod writer;

pub use reader::LineReader;
pub use writer::{LineWriter, Sent};
