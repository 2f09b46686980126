//! What is on record of a session, gathered so that it can go on: how far it came, what it has
//! seen and heard, and how each of its calls ended.
//!
//! Not what a person allowed: that may have been taken back since, and the approver knows.

use std::collections::BTreeMap;

use ambit_core::effects::Effects;
use ambit_core::event::{EventBody, ObservationRecord};
use ambit_core::id::CapabilityId;
use ambit_core::intent::CallId;
use ambit_core::permission::{Mode, Taint};
use ambit_core::turn::TurnInput;
use ambit_core::visible::VisibleEntry;

use crate::heard::Heard;
use crate::journal::{EventFilter, JournalError, JournalReader, SessionId};
use crate::session::quotes;

/// A session as the journal remembers it.
#[derive(Clone, Debug)]
pub struct SessionPast {
    /// Which.
    pub id: SessionId,
    /// For whom it was opened.
    pub agent: String,
    /// How freely, then.
    pub mode: Mode,
    /// Where it came in, if it can be gone on with there.
    pub front: Option<String>,
    /// Whether somebody ended it for good.
    pub ended: bool,
    /// Its last turn; 0 where there was none.
    pub turn: u32,
    /// What it has seen.
    pub taint: Taint,
    /// What it has found, called and loaded, and what failed.
    pub heard: Heard,
    /// Its calls, by name.
    pub calls: BTreeMap<CallId, PastCall>,
    /// What was visible last.
    pub(crate) shown: Vec<VisibleEntry>,
    /// What the last selection depended on.
    pub(crate) input: Option<Box<TurnInput>>,
}

/// A call as the journal remembers it.
#[derive(Clone, Debug, Default)]
pub struct PastCall {
    /// What it was a call of.
    pub id: Option<CapabilityId>,
    /// That it began, and what it may have done.
    pub started: Option<Effects>,
    /// How it ended; nothing where that is not known.
    pub ended: Option<ObservationRecord>,
}

impl SessionPast {
    /// Reads it; nothing where there is no such session.
    pub fn read(reader: &JournalReader, id: &SessionId) -> Result<Option<Self>, JournalError> {
        let events = reader.events(&EventFilter {
            session: Some(id.clone()),
            ..EventFilter::default()
        })?;
        let mut bodies = events.into_iter().map(|it| it.body);
        let Some(EventBody::SessionStarted {
            agent, mode, front, ..
        }) = bodies.next()
        else {
            return Ok(None);
        };
        let mut past = SessionPast {
            id: id.clone(),
            agent,
            mode,
            front,
            ended: false,
            turn: 0,
            taint: Taint::default(),
            heard: Heard::default(),
            calls: BTreeMap::new(),
            shown: Vec::new(),
            input: None,
        };
        bodies.for_each(|it| past.take_in(it));
        Ok(Some(past))
    }

    fn take_in(&mut self, body: EventBody) {
        match body {
            EventBody::SessionEnded { .. } => self.ended = true,
            // What is visible then is recorded in full.
            EventBody::SessionResumed { .. } => self.shown.clear(),
            EventBody::TurnStarted { turn, input, .. } => {
                self.turn = self.turn.max(turn);
                self.heard.candidates.clear();
                self.input = Some(input);
            }
            EventBody::CapabilityDiff { diff, .. } => self.shown = diff.apply(&self.shown),
            EventBody::SearchPerformed { candidates, .. } => {
                self.heard.candidates.extend(candidates);
            }
            EventBody::CapabilityLoaded { id, .. } => {
                self.heard.loaded.insert(id);
            }
            EventBody::ToolIntent { call, id, .. } => self.call(call).id = id,
            EventBody::ToolStarted { call, effects, .. } => {
                self.call(call).started = Some(effects);
            }
            EventBody::ToolObservation(record) => self.observe(record),
            _ => {}
        }
    }

    fn call(&mut self, call: CallId) -> &mut PastCall {
        self.calls.entry(call).or_default()
    }

    fn observe(&mut self, record: ObservationRecord) {
        let known = self.calls.entry(record.call.clone()).or_default();
        if let (Some(id), Some(effects)) = (&known.id, known.started) {
            if quotes(record.code) {
                self.taint = self.taint.after_call(id, effects);
                self.taint.saw_untrusted |= record.untrusted;
            }
            self.heard.recall(id, &record);
        }
        known.ended = Some(record);
    }
}
