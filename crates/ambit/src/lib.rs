#![doc = include_str!("../README.md")]

pub mod browser;
pub mod cli;
pub mod config;
pub mod embed;
pub mod follow;
mod keys;
pub mod places;
pub mod project;
pub mod secrets;
pub mod servers;
pub mod takeover;
pub mod trust;
pub mod written;

pub use ambit_builtins as builtins;
pub use ambit_core as core;
pub use ambit_runtime as runtime;
pub use ambit_skills as skills;
