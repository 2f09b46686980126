//! All triggers of a workspace, for the person: whoever's they are.

use std::sync::Arc;

use serde_json::Value;

use super::roster::Roster;
use super::{duty, show};
use crate::Clock;
use crate::store::cell::kept;
use crate::store::{Store, StoreError};

/// The triggers of a workspace and their runs.
pub struct Overview {
    store: Arc<Store>,
    clock: Clock,
}

/// A line for a person, and the same as data.
pub type Shown = (String, Value);

impl Overview {
    /// Of what is kept in this store.
    pub fn new(store: Arc<Store>, clock: Clock) -> Self {
        Overview { store, clock }
    }

    /// Every trigger, with its owner.
    pub fn triggers(&self) -> Result<Vec<Shown>, StoreError> {
        if !self.store.path().exists() {
            return Ok(Vec::new());
        }
        let now = (self.clock)();
        self.look(|roster| {
            let shown = roster.all(None)?.into_iter().map(|it| {
                let last = roster.history(Some(&it.id), 1)?.pop();
                let line = format!("{}  {}", it.owner, show::line(&it, last.as_ref(), now));
                Ok((line, show::data(&it, last.as_ref(), now)))
            });
            shown.collect()
        })
    }

    /// The last runs, of one trigger if it is named, newest first.
    pub fn history(&self, trigger: Option<&str>, limit: usize) -> Result<Vec<Shown>, StoreError> {
        self.look(|roster| {
            if let Some(id) = trigger {
                roster.find(id, None)?;
            }
            let runs = roster.history(trigger, limit)?;
            Ok(runs
                .iter()
                .map(|it| (show::run_line(it), show::run(it)))
                .collect())
        })
    }

    /// Removes a trigger.
    pub fn remove(&self, trigger: &str) -> Result<(), StoreError> {
        let now = kept((self.clock)());
        self.store.write(|transaction| {
            let roster = Roster { transaction, now };
            roster.find(trigger, None)?;
            roster.remove(trigger)
        })
    }

    /// Whether somebody starts what is due.
    pub fn is_on_duty(&self) -> bool {
        duty::is_taken(&self.store)
    }

    fn look<T>(
        &self,
        work: impl FnOnce(&Roster<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let now = kept((self.clock)());
        self.store
            .read(|transaction| work(&Roster { transaction, now }))
    }
}
