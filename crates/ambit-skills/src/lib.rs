#![doc = include_str!("../README.md")]

mod entry;
pub mod error;
pub mod folder;
pub mod frontmatter;
pub mod hints;
mod list;
pub mod load;
pub mod problem;
pub mod resolver;
pub mod root;
pub mod scan;
mod shelf;
mod snapshot;
pub mod validate;
mod yaml;
