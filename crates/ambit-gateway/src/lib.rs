#![doc = include_str!("../README.md")]

mod aside;
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
mod listing;
mod lists;
mod map;
mod news;
mod rounds;
mod running;
mod serve;
mod shared;
mod skills;
mod stdio;
pub mod style;
mod tasks;
mod watching;

pub use elicit::ElicitationApprover;
pub use serve::{GatewayError, GatewayOptions, serve_stdio};
