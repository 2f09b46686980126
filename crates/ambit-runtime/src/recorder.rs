//! Gathers a call's events and hands them to the journal in few batches: all up to a question,
//! all up to the start, and the end.

use ambit_core::digest::Digest;
use ambit_core::event::EventBody;
use ambit_core::intent::CallId;
use ambit_core::loaded::LoadedCapability;

use crate::driver::abandoned;
use crate::journal::{Cause, Durability, NewEvent, Receipt};
use crate::session::Session;

pub(crate) struct Recorder<'a> {
    session: &'a Session,
    call: CallId,
    gathered: Vec<NewEvent>,
    first: Option<Receipt>,
    latest: Option<Receipt>,
    effectful: bool,
    started: bool,
    finished: bool,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(session: &'a Session, call: CallId) -> Self {
        Recorder {
            session,
            call,
            gathered: Vec::new(),
            first: None,
            latest: None,
            effectful: false,
            started: false,
            finished: false,
        }
    }

    pub(crate) fn call(&self) -> &CallId {
        &self.call
    }

    /// Each event is caused by the one before it.
    pub(crate) fn add(&mut self, bodies: Vec<EventBody>) {
        for body in bodies {
            let cause = self.cause();
            self.gathered.push(NewEvent { body, cause });
        }
    }

    /// What causes the next event.
    pub(crate) fn cause(&self) -> Option<Cause> {
        match self.gathered.len().checked_sub(1) {
            Some(before) => Some(Cause::InBatch(before)),
            None => self.latest.clone().map(Cause::Earlier),
        }
    }

    /// Hands over what was gathered, before a wait that may take long: what led to a question is
    /// on record while it is open.
    pub(crate) fn hand_over(&mut self) {
        if !self.gathered.is_empty() {
            let receipt = self.append(Vec::new(), Durability::Behind);
            self.handed(receipt);
        }
    }

    fn handed(&mut self, receipt: Receipt) {
        self.first.get_or_insert_with(|| receipt.clone());
        self.latest = Some(receipt);
    }

    /// What was gathered so far, to be recorded with the start.
    pub(crate) fn take(&mut self) -> Vec<NewEvent> {
        std::mem::take(&mut self.gathered)
    }

    /// The start is recorded, or on its way.
    pub(crate) fn started(&mut self, receipt: Receipt, effectful: bool) {
        self.handed(receipt);
        self.effectful = effectful;
        self.started = true;
    }

    pub(crate) fn is_started(&self) -> bool {
        self.started
    }

    /// Records the rest. The end of a call with effects is written before anyone is told. The
    /// definition goes with it unless it is on record: a refusal must be recomputable, too.
    pub(crate) async fn finish(
        mut self,
        capability: Option<&LoadedCapability>,
    ) -> (Receipt, Receipt) {
        self.finished = true;
        let durability = if self.effectful {
            Durability::Written
        } else {
            Durability::Behind
        };
        let market = &self.session.scope.market;
        let object = capability.and_then(|it| market.definition_object(it));
        let stores = object.as_ref().map(|(digest, _)| *digest);
        let last = self.append(object.into_iter().collect(), durability);
        if let Some(digest) = stores {
            market.handed_over(digest, &last);
        }
        if self.effectful {
            // The effect itself is on record; losing its end must not hide the result from the caller.
            if let Err(error) = last.written().await {
                tracing::error!(call = %self.call.0, %error, "the end of a call could not be recorded");
            }
        }
        (self.first.clone().unwrap_or_else(|| last.clone()), last)
    }

    fn append(&mut self, objects: Vec<(Digest, String)>, durability: Durability) -> Receipt {
        let events = self.take();
        let scope = &self.session.scope;
        scope
            .market
            .journal()
            .append(&scope.id, events, objects, durability)
    }
}

impl Drop for Recorder<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.add(vec![abandoned(self.call.clone())]);
            self.append(Vec::new(), Durability::Behind);
        }
    }
}
