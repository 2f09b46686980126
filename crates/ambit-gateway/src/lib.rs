#![doc = include_str!("../README.md")]

pub mod client;
mod elicit;
mod front;
mod handler;
mod input;
mod instructions;
mod map;
mod serve;
pub mod style;

pub use elicit::ElicitationApprover;
pub use serve::{GatewayError, GatewayOptions, serve_stdio};
