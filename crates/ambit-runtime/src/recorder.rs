//! Gathers a call's events and hands them to the journal in at most two batches: all up to the
//! start, and the end.

use ambit_core::event::EventBody;
use ambit_core::intent::CallId;

use crate::driver::abandoned;
use crate::journal::{Cause, Durability, NewEvent, Receipt};
use crate::session::Session;

pub(crate) struct Recorder<'a> {
    session: &'a Session,
    call: CallId,
    gathered: Vec<NewEvent>,
    first: Option<Receipt>,
    effectful: bool,
    finished: bool,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(session: &'a Session, call: CallId) -> Self {
        Recorder {
            session,
            call,
            gathered: Vec::new(),
            first: None,
            effectful: false,
            finished: false,
        }
    }

    pub(crate) fn call(&self) -> &CallId {
        &self.call
    }

    /// Each event is caused by the one before it.
    pub(crate) fn add(&mut self, bodies: Vec<EventBody>) {
        for body in bodies {
            let cause = match self.gathered.len().checked_sub(1) {
                Some(before) => Some(Cause::InBatch(before)),
                None => self.first.clone().map(Cause::Earlier),
            };
            self.gathered.push(NewEvent { body, cause });
        }
    }

    /// What was gathered so far, to be recorded with the start.
    pub(crate) fn take(&mut self) -> Vec<NewEvent> {
        std::mem::take(&mut self.gathered)
    }

    /// The start is recorded, or on its way.
    pub(crate) fn started(&mut self, receipt: Receipt, effectful: bool) {
        self.first = Some(receipt);
        self.effectful = effectful;
    }

    /// Records the rest. The end of a call with effects is written before anyone is told.
    pub(crate) async fn finish(mut self) -> (Receipt, Receipt) {
        self.finished = true;
        let durability = if self.effectful {
            Durability::Written
        } else {
            Durability::Behind
        };
        let last = self.append(durability);
        if self.effectful {
            // The effect itself is on record; losing its end must not hide the result from the caller.
            if let Err(error) = last.written().await {
                tracing::error!(call = %self.call.0, %error, "the end of a call could not be recorded");
            }
        }
        (self.first.clone().unwrap_or_else(|| last.clone()), last)
    }

    fn append(&mut self, durability: Durability) -> Receipt {
        let events = self.take();
        self.session.scope.market.journal().append(
            &self.session.scope.id,
            events,
            Vec::new(),
            durability,
        )
    }
}

impl Drop for Recorder<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.add(vec![abandoned(self.call.clone())]);
            self.append(Durability::Behind);
        }
    }
}
