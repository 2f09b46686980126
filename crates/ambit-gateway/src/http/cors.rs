//! What a browser has to be told before a page may read an answer. Only origins that were named
//! are told: other pages of this machine may ask, as any program can, and are not helped to read.

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use super::access::Door;
use super::answer::{Plain, plain};
use super::host::is_named;

const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");
const HEADERS: HeaderValue = HeaderValue::from_static(
    "Accept, Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Mcp-Method, Mcp-Name, \
     Mcp-Protocol-Version, Mcp-Session-Id",
);
const EXPOSED: HeaderValue = HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate");

/// The origin to answer to, where it was named.
pub(crate) fn named_origin(door: &Door, headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    let named = is_named(origin.to_str().ok()?, &door.origins);
    named.then(|| origin.clone())
}

/// Whether a browser asks what it may ask.
pub(crate) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    *method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// What it may ask. Its token comes with the request itself.
pub(crate) fn preflight() -> Plain {
    let mut answer = plain(StatusCode::OK, "");
    let headers = answer.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
    answer
}

/// Lets pages of this origin read an answer.
pub(crate) fn allow(origin: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
}
