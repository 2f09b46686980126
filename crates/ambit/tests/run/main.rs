//! Agents at work, with real processes.

mod assistant;
mod chain;
mod colleagues;
mod due;
mod interrupt;
mod models;
mod output;
mod support;
