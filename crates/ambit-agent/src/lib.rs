#![doc = include_str!("../README.md")]

pub mod anthropic;
pub mod config;
pub mod engine;
pub mod error;
mod http;
pub mod key;
pub mod message;
pub mod openai;
mod piece;
pub mod runner;
mod schema;
pub mod scripted;
pub mod usage;
mod written;
