#![doc = include_str!("../README.md")]

pub mod executor;
pub mod journal;
pub mod resolver;
mod start;
