#![doc = include_str!("../README.md")]

pub mod catalog;
pub mod code;
pub mod descriptor;
pub mod digest;
pub mod effects;
pub mod event;
#[cfg(test)]
mod fixture;
pub mod gate;
pub mod grant;
pub mod id;
pub mod intent;
pub mod json;
pub mod loaded;
pub mod manifest;
pub mod observation;
pub mod permission;
pub mod pipeline;
pub mod policy;
pub mod redact;
pub mod schema;
pub mod search;
pub mod suggest;
pub mod turn;
pub mod visible;
pub mod wire;
