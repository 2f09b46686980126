//! Answers of this API: one JSON document each.

use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt, Empty, Full};
use serde::Serialize;

use crate::http::answer::Plain;

/// The version of all documents, beside what they say.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a, T> {
    schema_version: u32,
    #[serde(flatten)]
    it: &'a T,
}

/// A document.
pub(super) fn json(status: StatusCode, it: &impl Serialize) -> Plain {
    let document = Document {
        schema_version: 1,
        it,
    };
    // Nothing in here has keys that are no text.
    let bytes = serde_json::to_vec(&document).unwrap_or_default();
    let mut answer = Response::new(Full::from(bytes).boxed());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    let kind = HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, kind);
    let private = HeaderValue::from_static("no-store");
    headers.insert(header::CACHE_CONTROL, private);
    answer
}

/// It is done, and there is nothing to say.
pub(super) fn nothing() -> Plain {
    let mut answer = Response::new(Empty::new().boxed());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    answer
}
