//! Where triggers and their runs are kept. A run is claimed before it is started: its due time is
//! the key of its row, so whoever comes second finds it taken, in whatever process, before or
//! after a restart.

use ambit_core::observation::Failure;
use jiff::{SignedDuration, Timestamp};
use rusqlite::types::Type;
use rusqlite::{OptionalExtension as _, Params, Row, Transaction, params};

use super::schedule::Schedule;
use super::trigger::{DueRun, Run, RunEnd, RunReason, RunState, Trigger};
use crate::store::cell::{maybe_time, time, unreadable, word};
use crate::store::{Part, StoreError};

pub(crate) const PART: Part = Part {
    name: super::KEY,
    versions: &["
CREATE TABLE triggers (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    written TEXT NOT NULL,
    timezone TEXT,
    prompt TEXT NOT NULL,
    missed TEXT NOT NULL,
    paused INTEGER NOT NULL,
    anchor INTEGER NOT NULL,
    last INTEGER NOT NULL,
    seen TEXT,
    secret TEXT,
    created INTEGER NOT NULL
) STRICT;
CREATE TABLE trigger_runs (
    trigger TEXT NOT NULL,
    due INTEGER NOT NULL,
    reason TEXT NOT NULL,
    state TEXT NOT NULL,
    missed INTEGER NOT NULL,
    payload TEXT,
    begun INTEGER,
    ended INTEGER,
    said TEXT,
    PRIMARY KEY (trigger, due)
) STRICT;
CREATE INDEX trigger_runs_by_state ON trigger_runs (state)"],
    tables: &["triggers", "trigger_runs"],
};

const MOST_TRIGGERS: usize = 50;
/// Most requests that wait for one trigger.
const MOST_WAITING: i64 = 10;
/// How many runs of a trigger are remembered.
const MOST_RUNS: i64 = 200;
/// How much of what a run said is kept.
const LONGEST_SAID: usize = 2_000;

/// Triggers and runs within one transaction.
pub(super) struct Roster<'t> {
    pub(super) transaction: &'t Transaction<'t>,
    pub(super) now: Timestamp,
}

impl Roster<'_> {
    /// A trigger, of this agent if one is named. Somebody else's is not there.
    pub(super) fn find(&self, id: &str, owner: Option<&str>) -> Result<Trigger, StoreError> {
        let sql = "SELECT * FROM triggers WHERE id = ?1 AND (?2 IS NULL OR owner = ?2)";
        let found = self.transaction.query_row(sql, (id, owner), read);
        found.optional()?.ok_or_else(|| {
            let message = match owner {
                Some(_) => format!(
                    "you have no trigger `{id}`; list_triggers shows yours, and only its owner can change one"
                ),
                None => format!("there is no trigger `{id}`; `ambit triggers` lists those there are"),
            };
            Failure::refused(message).into()
        })
    }

    /// All triggers, of one agent if it is named, oldest first.
    pub(super) fn all(&self, owner: Option<&str>) -> Result<Vec<Trigger>, StoreError> {
        let sql = "SELECT * FROM triggers WHERE ?1 IS NULL OR owner = ?1 ORDER BY created, id";
        let mut rows = self.transaction.prepare(sql)?;
        let rows = rows.query_map([owner], read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Adds a trigger, if there is room for one more.
    pub(super) fn add(&self, trigger: &Trigger) -> Result<(), StoreError> {
        if self.all(Some(&trigger.owner))?.len() >= MOST_TRIGGERS {
            return Err(Failure::refused(format!(
                "you have {MOST_TRIGGERS} triggers, the most an agent can have; remove one with remove_trigger, or change one with update_trigger"
            ))
            .into());
        }
        self.put(trigger)
    }

    /// Saves a trigger as it is now.
    pub(super) fn put(&self, trigger: &Trigger) -> Result<(), StoreError> {
        let (kind, written, timezone) = trigger.schedule.kept();
        self.transaction.execute(
            "INSERT OR REPLACE INTO triggers
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            params![
                trigger.id,
                trigger.owner,
                kind,
                written,
                timezone,
                trigger.prompt,
                trigger.missed.to_string(),
                trigger.paused,
                trigger.anchor.as_millisecond(),
                trigger.last.as_millisecond(),
                trigger.seen,
                trigger.secret,
                trigger.created.as_millisecond(),
            ],
        )?;
        Ok(())
    }

    /// Removes a trigger with its runs. One that has begun goes on.
    pub(super) fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.transaction
            .execute("DELETE FROM trigger_runs WHERE trigger = ?1", [id])?;
        self.transaction
            .execute("DELETE FROM triggers WHERE id = ?1", [id])?;
        Ok(())
    }

    /// Claims a due time, and with it all before; the run to start, unless it is taken. Without
    /// a count of missed ones it is only dealt with.
    pub(super) fn claim(
        &self,
        trigger: &Trigger,
        due: Timestamp,
        missed: Option<u32>,
    ) -> Result<Option<DueRun>, StoreError> {
        let moved = self.transaction.execute(
            "UPDATE triggers SET last = ?2 WHERE id = ?1 AND last < ?2 AND NOT paused",
            (&trigger.id, due.as_millisecond()),
        )?;
        match missed.filter(|_| moved > 0) {
            Some(missed) => self.begin(trigger, due, RunReason::Due, missed),
            None => Ok(None),
        }
    }

    /// Claims a change of watched files: that they looked like this before is true for one only.
    pub(super) fn claim_change(
        &self,
        trigger: &Trigger,
        seen: &str,
    ) -> Result<Option<DueRun>, StoreError> {
        match self.look_past(trigger, seen)? {
            0 => Ok(None),
            _ => self.begin(trigger, self.free(&trigger.id)?, RunReason::Change, 0),
        }
    }

    /// Takes what watched files look like now for how they have always looked.
    pub(super) fn look_past(&self, trigger: &Trigger, seen: &str) -> Result<usize, StoreError> {
        Ok(self.transaction.execute(
            "UPDATE triggers SET seen = ?3 WHERE id = ?1 AND seen IS ?2 AND NOT paused",
            (&trigger.id, &trigger.seen, seen),
        )?)
    }

    fn begin(
        &self,
        trigger: &Trigger,
        due: Timestamp,
        reason: RunReason,
        missed: u32,
    ) -> Result<Option<DueRun>, StoreError> {
        let begun = self.transaction.execute(
            "INSERT INTO trigger_runs (trigger, due, reason, state, missed, begun)
             VALUES (?1, ?2, ?3, 'running', ?4, ?5) ON CONFLICT DO NOTHING",
            params![
                trigger.id,
                due.as_millisecond(),
                reason.as_str(),
                missed,
                self.now.as_millisecond(),
            ],
        )?;
        self.forget(&trigger.id)?;
        Ok((begun > 0).then(|| DueRun {
            trigger: trigger.id.clone(),
            due,
            reason,
            missed,
            agent: trigger.owner.clone(),
            prompt: trigger.prompt.clone(),
            payload: None,
        }))
    }

    /// Asks for a run as soon as possible.
    pub(super) fn request(
        &self,
        trigger: &Trigger,
        reason: RunReason,
        payload: Option<&str>,
    ) -> Result<Timestamp, StoreError> {
        let sql = "SELECT count(*) FROM trigger_runs WHERE trigger = ?1 AND state = 'requested'";
        let waiting: i64 = self
            .transaction
            .query_row(sql, [&trigger.id], |row| row.get(0))?;
        if waiting >= MOST_WAITING {
            return Err(Failure::refused(format!(
                "{waiting} runs of `{}` wait already; they start when `ambit serve` runs here",
                trigger.id
            ))
            .into());
        }
        let due = self.free(&trigger.id)?;
        self.transaction.execute(
            "INSERT INTO trigger_runs (trigger, due, reason, state, missed, payload)
             VALUES (?1, ?2, ?3, 'requested', 0, ?4)",
            (&trigger.id, due.as_millisecond(), reason.as_str(), payload),
        )?;
        Ok(due)
    }

    /// Now, or the first moment after it that no run of this trigger is for.
    fn free(&self, trigger: &str) -> Result<Timestamp, StoreError> {
        let sql = "SELECT 1 FROM trigger_runs WHERE trigger = ?1 AND due = ?2";
        let mut due = self.now;
        while self
            .transaction
            .query_row(sql, (trigger, due.as_millisecond()), |_| Ok(()))
            .optional()?
            .is_some()
        {
            due += SignedDuration::from_millis(1);
        }
        Ok(due)
    }

    /// The oldest request of each trigger that none of these is.
    pub(super) fn requested(&self, running: &[String]) -> Result<Vec<Run>, StoreError> {
        let mut waiting =
            self.runs("WHERE state = 'requested' ORDER BY due, trigger", params![])?;
        let mut busy = running.to_vec();
        waiting.retain(|it| {
            let is_free = !busy.contains(&it.trigger);
            busy.push(it.trigger.clone());
            is_free
        });
        Ok(waiting)
    }

    /// Begins a run that was asked for; nothing if somebody else has, or its trigger is gone.
    pub(super) fn take(&self, run: &Run) -> Result<Option<DueRun>, StoreError> {
        let key = (&run.trigger, run.due.as_millisecond());
        let taken = self.transaction.execute(
            "UPDATE trigger_runs SET state = 'running', begun = ?3
             WHERE trigger = ?1 AND due = ?2 AND state = 'requested'",
            (key.0, key.1, self.now.as_millisecond()),
        )?;
        if taken == 0 {
            return Ok(None);
        }
        let trigger = self.find(&run.trigger, None)?;
        let payload = self.transaction.query_row(
            "SELECT payload FROM trigger_runs WHERE trigger = ?1 AND due = ?2",
            key,
            |row| row.get(0),
        )?;
        Ok(Some(DueRun {
            trigger: trigger.id,
            due: run.due,
            reason: run.reason,
            missed: 0,
            agent: trigger.owner,
            prompt: trigger.prompt,
            payload,
        }))
    }

    /// Notes how a run ended.
    pub(super) fn finish(&self, run: &DueRun, end: &RunEnd) -> Result<(), StoreError> {
        let (state, said) = match end {
            RunEnd::Done(said) => (RunState::Done, said),
            RunEnd::Failed(said) => (RunState::Failed, said),
        };
        let said: String = said.chars().take(LONGEST_SAID).collect();
        self.transaction.execute(
            "UPDATE trigger_runs SET state = ?3, ended = ?4, said = ?5
             WHERE trigger = ?1 AND due = ?2",
            params![
                run.trigger,
                run.due.as_millisecond(),
                state.as_str(),
                self.now.as_millisecond(),
                said,
            ],
        )?;
        Ok(())
    }

    /// Whatever had begun did not come to its end: nobody is there to end it.
    pub(super) fn interrupt(&self) -> Result<usize, StoreError> {
        Ok(self.transaction.execute(
            "UPDATE trigger_runs SET state = 'interrupted', ended = ?1 WHERE state = 'running'",
            [self.now.as_millisecond()],
        )?)
    }

    /// The last runs, of one trigger if it is named, newest first.
    pub(super) fn history(
        &self,
        trigger: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Run>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.runs(
            "WHERE ?1 IS NULL OR trigger = ?1 ORDER BY due DESC, trigger LIMIT ?2",
            (trigger, limit),
        )
    }

    fn runs(&self, which: &str, asked: impl Params) -> Result<Vec<Run>, StoreError> {
        let sql = format!("SELECT * FROM trigger_runs {which}");
        let mut rows = self.transaction.prepare(&sql)?;
        let rows = rows.query_map(asked, |row| {
            Ok(Run {
                trigger: row.get("trigger")?,
                due: time(row, "due")?,
                reason: word(row, "reason")?,
                state: word(row, "state")?,
                missed: row.get("missed")?,
                begun: maybe_time(row, "begun")?,
                ended: maybe_time(row, "ended")?,
                said: row.get("said")?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Old runs are forgotten. That they were is no reason to start them again: `last` remembers.
    fn forget(&self, trigger: &str) -> Result<(), StoreError> {
        self.transaction.execute(
            "DELETE FROM trigger_runs WHERE trigger = ?1 AND state NOT IN ('requested', 'running')
             AND due <= (SELECT due FROM trigger_runs WHERE trigger = ?1
                         ORDER BY due DESC LIMIT 1 OFFSET ?2)",
            (trigger, MOST_RUNS),
        )?;
        Ok(())
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Trigger> {
    let (kind, written): (String, String) = (row.get("kind")?, row.get("written")?);
    let timezone: Option<String> = row.get("timezone")?;
    let schedule = Schedule::read(&kind, &written, timezone.as_deref())
        .map_err(|failure| unreadable(Type::Text, failure.message))?;
    Ok(Trigger {
        id: row.get("id")?,
        owner: row.get("owner")?,
        schedule,
        prompt: row.get("prompt")?,
        missed: word(row, "missed")?,
        paused: row.get("paused")?,
        anchor: time(row, "anchor")?,
        last: time(row, "last")?,
        seen: row.get("seen")?,
        secret: row.get("secret")?,
        created: time(row, "created")?,
    })
}
