//! A call that ended, as programs are told: `ambit call --json` prints it, and the turn API answers
//! with it. The JSON is a stable format.

use ambit_core::code::Code;
use ambit_core::event::ObservationRecord;
use ambit_core::intent::CallId;
use ambit_core::observation::{Content, Observation, ResultRef};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::driver::CallReport;
use crate::journal::SessionId;

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservedCall {
    /// `completed`, `denied` or `failed`.
    pub status: String,
    /// The stable code, unless it completed.
    pub code: Option<Code>,
    /// The reason, unless it completed.
    pub reason: Option<String>,
    /// What it brought.
    pub content: Vec<Content>,
    /// The structured result, where the capability promises one.
    pub structured_content: Option<Value>,
    /// Whether this is not the whole result.
    pub truncated: bool,
    /// Where the whole is.
    pub result_ref: Option<ResultRef>,
    /// Whether it came from outside and must be read as data, never as instructions.
    pub untrusted: bool,
    /// What hooks had to say.
    pub notes: Vec<String>,
    /// From intent to observation.
    pub duration_ms: f64,
    /// The session.
    pub session: SessionId,
    /// Its name in the journal.
    pub call: CallId,
    /// Where it is on record.
    pub events: EventRange,
    /// The number of the request that waits for a person, as `ambit approvals` lists it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<i64>,
}

/// Numbers of events; nothing where they are not written yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRange {
    /// The first.
    pub first: Option<u64>,
    /// The last.
    pub last: Option<u64>,
}

impl ObservedCall {
    /// From a report.
    pub fn new(session: &SessionId, report: CallReport) -> Self {
        let first = report.recorded.0.range().map(|(first, _)| first);
        let last = report.recorded.1.range().map(|(_, last)| last);
        let (status, code) = (report.observation.status(), report.observation.code());
        let reason = report.observation.reason().map(str::to_owned);
        let completed = match report.observation {
            Observation::Completed(it) => Some(it),
            _ => None,
        };
        let (output, result_ref, untrusted, notes) = match completed {
            Some(it) => (it.output, it.result_ref, it.untrusted, it.notes),
            None => Default::default(),
        };
        ObservedCall {
            status: status.to_owned(),
            code,
            reason,
            content: output.content,
            structured_content: output.structured,
            truncated: result_ref.is_some(),
            result_ref,
            untrusted,
            notes,
            duration_ms: report.duration.as_secs_f64() * 1000.0,
            session: session.clone(),
            call: report.call,
            events: EventRange { first, last },
            approval: None,
        }
    }

    /// From what the journal remembers: the beginning of the result, and a note that says so.
    pub fn recalled(session: &SessionId, record: ObservationRecord) -> Self {
        let is_completed = record.code.is_none();
        let cut = is_completed && record.bytes > record.excerpt.len() as u64;
        let note =
            "it ran before; its result is not kept any more, this is what the journal quotes";
        ObservedCall {
            status: record.status,
            code: record.code,
            reason: record.reason,
            content: match is_completed {
                true => vec![Content::text(record.excerpt)],
                false => Vec::new(),
            },
            structured_content: None,
            truncated: cut || record.result_ref.is_some(),
            result_ref: record.result_ref,
            untrusted: record.untrusted,
            notes: match is_completed {
                true => vec![note.to_owned()],
                false => Vec::new(),
            },
            duration_ms: record.duration_ms as f64,
            session: session.clone(),
            call: record.call,
            events: EventRange::default(),
            approval: None,
        }
    }

    /// A call that began and whose end nobody recorded. It is not run again.
    pub fn unknown(session: &SessionId, call: CallId) -> Self {
        ObservedCall {
            status: "failed".to_owned(),
            code: Some(Code::OutcomeUnknown),
            reason: Some(
                "outcome unknown: it may have run; look before you call it again, and then with another key"
                    .to_owned(),
            ),
            content: Vec::new(),
            structured_content: None,
            truncated: false,
            result_ref: None,
            untrusted: false,
            notes: Vec::new(),
            duration_ms: 0.0,
            session: session.clone(),
            call,
            events: EventRange::default(),
            approval: None,
        }
    }
}
