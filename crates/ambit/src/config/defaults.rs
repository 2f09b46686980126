//! What holds where a file says nothing. Nowhere else.

use ambit_core::permission::Mode;

/// How calls that change something are treated.
pub(super) const MODE: Mode = Mode::Ask;
/// Most bytes of one result handed to a model.
pub(super) const RESULT_BYTES: u64 = 100_000;
/// Most bytes of one call's arguments.
pub(super) const INPUT_BYTES: u64 = 10 * 1024 * 1024;
/// Seconds a call may run.
pub(super) const CALL_SECONDS: u64 = 120;
/// Seconds a person has to answer.
pub(super) const APPROVAL_SECONDS: u64 = 300;
/// Turns of the model a run may have.
pub(super) const RUN_TURNS: u32 = ambit_agent::runner::TURNS;
/// Seconds a hook may run.
pub(super) const HOOK_SECONDS: u64 = 10;

pub(super) fn hook_seconds() -> u64 {
    HOOK_SECONDS
}

/// Where the HTTP front listens: for this machine alone.
pub(super) const LISTEN: &str = "127.0.0.1:7777";
/// Seconds until a server must have connected.
pub(super) const CONNECT_SECONDS: u64 = 30;
/// Seconds without a call after which a server is let go.
pub(super) const IDLE_SECONDS: u64 = 600;
/// How many calls of a server may run at once.
pub(super) const CONCURRENCY: u16 = 32;

/// Enough for two dozen tools in full, a few percent of a large context.
pub(super) const DISCOVERY_BUDGET: u32 = 8_000;
/// Below the ceilings clients have, with room for their own tools.
pub(super) const DISCOVERY_LIMIT: u32 = 60;
