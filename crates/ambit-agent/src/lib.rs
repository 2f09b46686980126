#![doc = include_str!("../README.md")]

pub mod config;
pub mod engine;
pub mod error;
pub mod key;
pub mod message;
pub mod runner;
pub mod scripted;
pub mod usage;
