#![doc = include_str!("../README.md")]

pub mod digest;
pub mod id;
pub mod search;
