#![doc = include_str!("../README.md")]

mod elicit;
mod front;
mod handler;
pub mod http;
mod input;
mod instructions;
mod map;
mod serve;
mod shared;
pub mod style;

pub use elicit::ElicitationApprover;
pub use serve::{GatewayError, GatewayOptions, serve_stdio};
