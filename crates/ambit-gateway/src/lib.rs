#![doc = include_str!("../README.md")]

mod caller;
pub mod client;
mod completion;
mod elicit;
mod exchange;
mod front;
mod handler;
mod held;
pub mod http;
mod input;
mod instructions;
mod lists;
mod map;
mod news;
mod rounds;
mod serve;
mod shared;
mod skills;
pub mod style;
mod tasks;
mod watching;

pub use elicit::ElicitationApprover;
pub use serve::{GatewayError, GatewayOptions, serve_stdio};
