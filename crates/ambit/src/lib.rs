//! The library behind the `ambit` binary: configuration, what a person has accepted, secrets,
//! and where each of them lives.

pub mod config;
pub mod places;
pub mod secrets;
pub mod trust;
