#![doc = include_str!("../README.md")]

pub mod catalog;
pub mod code;
pub mod descriptor;
pub mod digest;
pub mod effects;
#[cfg(test)]
mod fixture;
pub mod grant;
pub mod id;
pub mod manifest;
pub mod observation;
pub mod schema;
pub mod suggest;
