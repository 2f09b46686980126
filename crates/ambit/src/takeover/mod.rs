//! Taking over: from the servers each client has configured to one server in each, `ambit`.
//!
//! The way: `clients` (which files there are, as a table) → `scan` (read them) → `dialect` (each
//! client's words for a server) → `variables` and `secrets` (its placeholders and inline values in
//! Ambit's words) → `plan` (what would be written where; nothing is touched) → `apply` (a backup,
//! then the file, if it is still what was planned for) → `undo` (back, byte for byte).
//!
//! Everything up to the plan takes the world as arguments, so every platform can be planned for
//! on any other.

mod apply;
mod clients;
mod dialect;
mod json;
mod merge;
mod plan;
mod rewire;
mod scan;
mod secrets;
mod skills;
mod toml;
mod undo;
mod variables;
mod yaml;

#[cfg(test)]
mod tests;

pub use apply::{Applied, RefusedReason, apply, replace};
pub use clients::{ClientFile, ClientId, Platform, Scope, Surroundings, Syntax, files};
pub use dialect::{FoundServer, KeptReason, Launch};
pub use json::{edit_members, insert_members, remove_member};
pub use merge::{Fate, Planned, Use, entry};
pub use plan::{Plan, World, plan};
pub use rewire::{EditError, Rewire};
pub use scan::{FileState, Scanned, scan, scan_file};
pub use secrets::{NewSecret, keep_secrets};
pub use skills::{SkillFolder, skill_folders};
pub use undo::{Backups, Undone, UndoneHow};
pub use variables::Note;

/// What Ambit is called among a client's servers.
pub const OWN_NAME: &str = "ambit";
