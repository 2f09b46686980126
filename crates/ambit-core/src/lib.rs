#![doc = include_str!("../README.md")]

pub mod catalog;
pub mod code;
pub mod descriptor;
pub mod diff;
pub mod digest;
pub mod effects;
pub mod event;
#[cfg(test)]
mod fixture;
pub mod gate;
pub mod grant;
pub mod granted;
pub mod id;
pub mod intent;
pub mod json;
pub mod lineage;
pub mod loaded;
pub mod manifest;
pub mod observation;
pub mod permission;
pub mod pipeline;
pub mod placeholder;
pub mod policy;
pub mod printable;
pub mod projection;
pub mod quarantine;
pub mod redact;
pub mod run;
pub mod schema;
pub mod search;
pub mod suggest;
pub mod turn;
pub mod visible;
pub mod weights;
pub mod wire;
