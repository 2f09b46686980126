//! A child process and everything it starts, as one thing that ends together.
//!
//! The command leads a process group, and the group is killed when the command ends, when its
//! time is up, or when nobody waits for it any more. A group is known by its leader's process
//! id, which the system may give to someone else once the leader is reaped. So the leader's
//! end is awaited without reaping it, then the group is killed, then the leader is reaped.

use std::io;
use std::process::ExitStatus;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::signal::unix::{SignalKind, signal};

use crate::watchdog;

/// A running process group. Dropping it kills all of it.
pub struct Group {
    leader: Child,
    /// `None` once the leader is reaped and the id is no longer ours.
    id: Option<Pid>,
}

impl Group {
    /// Starts a command as the leader of a group.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        watchdog::wake();
        let leader = command.process_group(0).kill_on_drop(true).spawn()?;
        let id = leader.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        id.into_iter().for_each(watchdog::born);
        Ok(Group { leader, id })
    }

    /// The stream to write to.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.leader.stdin.take()
    }

    /// The streams to read from.
    pub fn streams(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.leader.stdout.take(), self.leader.stderr.take())
    }

    /// Kills whatever still runs.
    pub fn kill(&self) {
        if let Some(id) = self.id {
            // It may have ended by itself just now.
            let _ = kill_process_group(id, Signal::KILL);
        }
    }

    /// Waits until the leader ends, then ends the rest.
    pub async fn ended(&mut self) -> io::Result<ExitStatus> {
        // Listening begins before the first look, so no end is missed between the two.
        let mut children = signal(SignalKind::child())?;
        while !self.leader_has_ended()? {
            children.recv().await;
        }
        self.kill();
        // Told first: once the leader is reaped its number may be somebody else's.
        self.id.take().into_iter().for_each(watchdog::gone);
        self.leader.wait().await
    }

    fn leader_has_ended(&self) -> io::Result<bool> {
        let Some(id) = self.id else {
            return Ok(true);
        };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        match waitid(WaitId::Pid(id), look) {
            Ok(status) => Ok(status.is_some()),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        self.id.take().into_iter().for_each(watchdog::gone);
    }
}

/// Kills a child's whole process group when dropped: the child, and whatever it started. The
/// child must have been spawned with `process_group(0)`.
#[derive(Debug)]
pub struct GroupGuard(Option<Pid>);

impl GroupGuard {
    /// Guards the group a child leads.
    pub fn of(child: &Child) -> Self {
        let group = child.id().and_then(|id| i32::try_from(id).ok());
        let group = group.and_then(Pid::from_raw);
        group.into_iter().for_each(watchdog::born);
        GroupGuard(group)
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // Already gone is what we want.
            let _ = kill_process_group(group, Signal::KILL);
            watchdog::gone(group);
        }
    }
}
