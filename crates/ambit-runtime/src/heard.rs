//! What a session has heard that bears on what should be visible next.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ambit_core::event::ObservationRecord;
use ambit_core::id::CapabilityId;
use ambit_core::observation::{Completed, Content, Observation};

/// How many observations are kept as evidence, and how much of each.
const MOST_EVIDENCE: usize = 4;
const EVIDENCE_LENGTH: usize = 2_000;

/// What was said, found, called and failed so far.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    /// The newest observations, oldest first.
    pub evidence: VecDeque<String>,
    /// What searches found since the last turn.
    pub candidates: BTreeSet<CapabilityId>,
    /// What was called and ran.
    pub called: BTreeSet<CapabilityId>,
    /// Skills that were loaded.
    pub loaded: BTreeSet<CapabilityId>,
    /// Failures in a row.
    pub failures: BTreeMap<CapabilityId, u32>,
}

impl Heard {
    /// Takes in how a call ended.
    pub fn observe(&mut self, id: &CapabilityId, observation: &Observation) {
        match observation {
            Observation::Completed(completed) => {
                self.failures.remove(id);
                self.called.insert(id.clone());
                self.note(completed);
            }
            Observation::Failed(_) => *self.failures.entry(id.clone()).or_default() += 1,
            Observation::Denied(_) => {}
        }
    }

    /// Takes in how a call ended that is on record: of its result, what the journal quotes.
    pub fn recall(&mut self, id: &CapabilityId, record: &ObservationRecord) {
        match record.status.as_str() {
            "completed" => {
                self.failures.remove(id);
                self.called.insert(id.clone());
                self.keep(record.excerpt.clone());
            }
            "failed" => *self.failures.entry(id.clone()).or_default() += 1,
            _ => {}
        }
    }

    fn note(&mut self, completed: &Completed) {
        let content = completed.output.content.iter();
        let texts = content.filter_map(Content::as_text);
        self.keep(texts.flat_map(str::chars).take(EVIDENCE_LENGTH).collect());
    }

    fn keep(&mut self, text: String) {
        if text.trim().is_empty() {
            return;
        }
        if self.evidence.len() == MOST_EVIDENCE {
            self.evidence.pop_front();
        }
        self.evidence.push_back(text);
    }
}
