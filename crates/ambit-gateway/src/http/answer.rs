//! Answers that do not come from the protocol's handler.

use std::convert::Infallible;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use serde_json::json;

use super::access::RefusalReason;

/// When to try again where there was no room, in seconds.
const SOON: HeaderValue = HeaderValue::from_static("1");

/// An answer as the SDK makes them, too.
pub(crate) type Plain = Response<BoxBody<Bytes, Infallible>>;

/// A body that is no message of the protocol, said in the protocol's own way.
pub(crate) fn unreadable(body: &[u8]) -> Plain {
    let read = serde_json::from_slice::<serde_json::Value>(body);
    let (code, message, id) = match &read {
        Err(error) => (-32700, format!("not JSON: {error}"), None),
        Ok(value) => (
            -32600,
            "not a request, notification or response of the protocol".to_owned(),
            value
                .get("id")
                .filter(|it| it.is_string() || it.is_number()),
        ),
    };
    let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
    let mut answer = plain(StatusCode::BAD_REQUEST, &error.to_string());
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(header::CONTENT_TYPE, json);
    answer
}

pub(crate) fn refused(reason: RefusalReason) -> Plain {
    tracing::debug!(?reason, "a request was refused");
    let mut answer = plain(reason.status(), reason.text());
    if reason == RefusalReason::Token {
        let how = HeaderValue::from_static("Bearer realm=\"ambit\"");
        answer.headers_mut().insert(header::WWW_AUTHENTICATE, how);
    }
    answer
}

/// A session nobody has, or somebody else.
pub(crate) fn no_session() -> Plain {
    plain(
        StatusCode::NOT_FOUND,
        "there is no such session; begin a new one",
    )
}

/// Nothing is begun any more.
pub(crate) fn stopping() -> Plain {
    let mut answer = busy("this server is stopping; try again in a moment");
    let close = HeaderValue::from_static("close");
    answer.headers_mut().insert(header::CONNECTION, close);
    answer
}

/// There is no room for it now.
pub(crate) fn busy(text: &str) -> Plain {
    let mut answer = plain(StatusCode::SERVICE_UNAVAILABLE, text);
    answer.headers_mut().insert(header::RETRY_AFTER, SOON);
    answer
}

pub(crate) fn plain(status: StatusCode, text: &str) -> Plain {
    let mut answer = Response::new(Full::from(format!("{text}\n")).boxed());
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}
