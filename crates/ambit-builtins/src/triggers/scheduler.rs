//! Starts what is due, once, for as long as it is let. It sleeps until the next due time, but
//! never long: other processes make triggers and ask for runs, files change, and a machine that
//! slept wakes up later than it thinks.
//!
//! A trigger never runs twice at the same time. What comes due meanwhile is looked at when the
//! run has ended, as missed if it was long.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ambit_runtime::CancellationToken;
use async_trait::async_trait;
use jiff::Timestamp;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::sleep;

use super::plan::{Missed, plan};
use super::roster::Roster;
use super::schedule::Schedule;
use super::trigger::{DueRun, RunEnd, Trigger};
use super::{duty, watch};
use crate::Clock;
use crate::store::cell::kept;
use crate::store::{Store, StoreError};

/// How long it sleeps at most.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// How soon it tries again where another process is on duty.
const TRY_AGAIN: Duration = Duration::from_secs(10);
/// Most runs at the same time; the rest waits.
const MOST_AT_ONCE: usize = 4;

/// Runs an agent.
#[async_trait]
pub trait Starter: Send + Sync {
    /// Runs an agent to its end, with its own capabilities and mode and nobody there to ask.
    /// Dropping the future ends the run.
    async fn start(&self, run: DueRun) -> RunEnd;
}

/// Starts what is due in a workspace.
pub struct Scheduler {
    /// Where triggers are kept.
    pub store: Arc<Store>,
    /// What time it is.
    pub clock: Clock,
    /// Where files are watched.
    pub workspace: PathBuf,
    /// Runs agents.
    pub starter: Arc<dyn Starter>,
}

/// What was seen of watched files.
#[derive(Clone, Default)]
struct Watched {
    /// A look that is not the one before, and may still change.
    unsettled: HashMap<String, String>,
    /// Whose first look is behind us: what changes from now on was not missed.
    known: BTreeSet<String>,
}

/// What one look brought.
#[derive(Default)]
struct Round {
    start: Vec<DueRun>,
    next: Option<Timestamp>,
}

impl Scheduler {
    /// Goes on duty as soon as nobody else is, and starts what is due until it is stopped. What
    /// runs then is ended, and counts as interrupted.
    pub async fn run(self, stop: CancellationToken) {
        let this = Arc::new(self);
        while !stop.is_cancelled() {
            let wait = match duty::take(&this.store) {
                Ok(Some(_on_duty)) => {
                    this.serve(&stop).await;
                    return;
                }
                Ok(None) => TRY_AGAIN,
                Err(error) => {
                    tracing::warn!(%error, "triggers cannot be started");
                    TRY_AGAIN
                }
            };
            stop.run_until_cancelled(sleep(wait)).await;
        }
    }

    async fn serve(self: &Arc<Self>, stop: &CancellationToken) {
        self.interrupt().await;
        let mut running: JoinSet<RunEnd> = JoinSet::new();
        let mut runs: HashMap<Id, DueRun> = HashMap::new();
        let mut watched = Watched::default();
        loop {
            let busy: Vec<String> = runs.values().map(|it| it.trigger.clone()).collect();
            let seen = watched.clone();
            let wait = match self.blocking(move |this| this.look(&busy, seen)).await {
                Ok((round, seen)) => {
                    watched = seen;
                    for run in round.start {
                        let starter = Arc::clone(&self.starter);
                        let started = run.clone();
                        let task = running.spawn(async move { starter.start(started).await });
                        runs.insert(task.id(), run);
                    }
                    self.until(round.next)
                }
                Err(error) => {
                    tracing::warn!(%error, "triggers cannot be looked at");
                    LOOK_AGAIN
                }
            };
            tokio::select! {
                () = stop.cancelled() => break,
                Some(ended) = running.join_next_with_id() => {
                    let (id, end) = ending(ended);
                    if let Some(run) = runs.remove(&id) {
                        self.finish(run, end).await;
                    }
                }
                () = sleep(wait) => {}
            }
        }
        running.shutdown().await;
        self.interrupt().await;
    }

    fn until(&self, next: Option<Timestamp>) -> Duration {
        let left = next.map(|it| it.duration_since((self.clock)()));
        let left = left.map_or(LOOK_AGAIN, |it| Duration::try_from(it).unwrap_or_default());
        left.min(LOOK_AGAIN)
    }

    /// Finds what is due, and claims it.
    fn look(&self, busy: &[String], mut watched: Watched) -> Result<(Round, Watched), StoreError> {
        let mut round = Round::default();
        let has_room = |round: &Round| busy.len() + round.start.len() < MOST_AT_ONCE;
        let (triggers, requested) =
            self.read(|roster| Ok((roster.all(None)?, roster.requested(busy)?)))?;
        for run in requested {
            if has_room(&round) {
                round.start.extend(self.write(|it| it.take(&run))?);
            }
        }
        for trigger in triggers {
            let starts = round.start.iter().map(|it| &it.trigger);
            let is_busy = busy.iter().chain(starts).any(|it| *it == trigger.id);
            if trigger.paused || is_busy {
                continue;
            }
            if matches!(trigger.schedule, Schedule::Watch { .. }) {
                if has_room(&round) {
                    round.start.extend(self.watch(&trigger, &mut watched)?);
                }
                continue;
            }
            let plan = plan(
                &trigger.schedule,
                trigger.anchor,
                trigger.missed,
                trigger.last,
                (self.clock)(),
            );
            round.next = round.next.into_iter().chain(plan.next).min();
            let Some(passed) = plan.passed else {
                continue;
            };
            let missed = plan.start.map(|it| it.missed);
            if missed.is_none() || has_room(&round) {
                let claimed = self.write(|it| it.claim(&trigger, passed, missed))?;
                round.start.extend(claimed);
            }
        }
        Ok((round, watched))
    }

    /// Looks at the files of a trigger. A change counts when two looks in a row are the same.
    fn watch(
        &self,
        trigger: &Trigger,
        watched: &mut Watched,
    ) -> Result<Option<DueRun>, StoreError> {
        let Schedule::Watch { glob, .. } = &trigger.schedule else {
            return Ok(None);
        };
        let now = watch::look(&self.workspace, glob);
        if trigger.seen.as_ref() == Some(&now) {
            watched.known.insert(trigger.id.clone());
            watched.unsettled.remove(&trigger.id);
            return Ok(None);
        }
        if watched.unsettled.get(&trigger.id) != Some(&now) {
            watched.unsettled.insert(trigger.id.clone(), now);
            return Ok(None);
        }
        watched.unsettled.remove(&trigger.id);
        let was_missed = watched.known.insert(trigger.id.clone());
        match trigger.missed {
            Missed::Skip if was_missed => {
                self.write(|it| it.look_past(trigger, &now)).map(|_| None)
            }
            _ => self.write(|it| it.claim_change(trigger, &now)),
        }
    }

    /// Notes how a run ended. What it changed itself of the files it was started by is no reason
    /// to start it again.
    async fn finish(self: &Arc<Self>, run: DueRun, end: RunEnd) {
        let done = self.blocking(move |this| {
            this.write(|it| it.finish(&run, &end))?;
            let Ok(trigger) = this.read(|it| it.find(&run.trigger, None)) else {
                // It was removed meanwhile.
                return Ok(());
            };
            if let Schedule::Watch { glob, .. } = &trigger.schedule {
                let now = watch::look(&this.workspace, glob);
                this.write(|it| it.look_past(&trigger, &now))?;
            }
            Ok(())
        });
        if let Err(error) = done.await {
            tracing::warn!(%error, "the end of a run cannot be kept; it will count as interrupted");
        }
    }

    async fn interrupt(self: &Arc<Self>) {
        match self.blocking(|this| this.write(|it| it.interrupt())).await {
            Ok(0) => {}
            Ok(runs) => tracing::warn!(runs, "runs of triggers were interrupted"),
            Err(error) => tracing::warn!(%error, "triggers cannot be looked at"),
        }
    }

    fn read<T>(
        &self,
        work: impl FnOnce(&Roster<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let now = kept((self.clock)());
        self.store
            .read(|transaction| work(&Roster { transaction, now }))
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&Roster<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let now = kept((self.clock)());
        self.store
            .write(|transaction| work(&Roster { transaction, now }))
    }

    /// Work that waits for a disk.
    async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Scheduler) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let this = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&this));
        done.await.unwrap_or_else(|error| {
            Err(StoreError::Unusable {
                path: self.store.path(),
                message: error.to_string(),
            })
        })
    }
}

fn ending(ended: Result<(Id, RunEnd), JoinError>) -> (Id, RunEnd) {
    match ended {
        Ok(ended) => ended,
        Err(error) => {
            let message = format!("the run ended abnormally: {error}");
            (error.id(), RunEnd::Failed(message))
        }
    }
}
