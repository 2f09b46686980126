//! An event before and after it is on record. The JSON of [`Event`] is a stable format.

use ambit_core::digest::Digest;
use ambit_core::event::EventBody;
use jiff::Timestamp;
use serde::{Serialize, Serializer};

use super::receipt::Cause;
use super::session::SessionId;

/// Something to record.
#[derive(Clone, Debug)]
pub struct NewEvent {
    /// What happened.
    pub body: EventBody,
    /// What made it happen.
    pub cause: Option<Cause>,
}

impl From<EventBody> for NewEvent {
    fn from(body: EventBody) -> Self {
        NewEvent { body, cause: None }
    }
}

/// Something on record. In JSON one flat object:
/// `{"seq","session","at","type",…the body's fields…,"cause","correlation","hash"}`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// Counts through the whole journal, from 1 and without gaps.
    pub seq: u64,
    /// The session it belongs to.
    pub session: SessionId,
    /// When it was handed to the journal, to the microsecond.
    #[serde(serialize_with = "microseconds")]
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub body: EventBody,
    /// The number of the event that made it happen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<u64>,
    /// What the events of one call have in common: its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation: Option<String>,
    /// Of all of this and of the hash before it in the session.
    pub hash: Digest,
}

/// Always six digits, so that times compare as text.
pub(super) fn microseconds<S: Serializer>(
    at: &Timestamp,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{at:.6}"))
}
