//! The second gate's rules: may this invocation run, must a person say so, or is it forbidden?
//!
//! A mode says how freely an agent may act (`mode`). Rules of the config refine it (`rule`): about
//! an id, a declared permission or an effect, the most specific first, `deny` winning ties. Both
//! are only ever asked about what is visible, so no rule reaches outside the granted set. What a
//! person said, and what the session has seen, come last (`decide`). An agent that was asked by
//! another is judged as each of both (`bound`).

mod bound;
mod decide;
mod mode;
mod rule;
#[cfg(test)]
mod tests;

pub use bound::Bound;
pub use decide::{
    AllowReason, Answer, AskReason, Asker, PermissionDecision, PermissionInput, PermissionTerms,
    StandingApproval, Taint, decide,
};
pub use mode::{Mode, is_external};
pub use rule::{Rule, Rules, Subject, Verdict};
