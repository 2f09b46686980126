//! Child processes end with whoever started them.

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

/// Kills a child's whole process group when dropped: the child, and whatever it started. The
/// child must have been spawned with `process_group(0)`.
#[derive(Debug)]
pub struct GroupGuard(Option<Pid>);

impl GroupGuard {
    /// Guards the group a child leads.
    pub fn of(child: &Child) -> Self {
        GroupGuard(
            child
                .id()
                .and_then(|id| i32::try_from(id).ok())
                .and_then(Pid::from_raw),
        )
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // Already gone is what we want.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
