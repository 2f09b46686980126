//! Calls with an `Idempotency-Key`: whatever was begun under one is not begun again.
//!
//! The journal is the record. A keyed call is named after its session, its key and what it asks
//! for, and the start of an effect is synced under that name before the effect runs. So after a
//! crash a start without an end is an effect nobody knows the outcome of, and it is reported as
//! that. What was refused before it began has done nothing, and is asked about anew.

use std::collections::HashMap;
use std::sync::Arc;

use ambit_core::digest::Digest;
use ambit_core::intent::CallId;
use ambit_runtime::journal::SessionId;
use ambit_runtime::past::{PastCall, SessionPast};
use http::{HeaderMap, StatusCode};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::sync::{Mutex as Turnstile, OwnedMutexGuard};

use super::problem::Problem;

const HEADER: &str = "idempotency-key";
const PREFIX: &str = "key";
/// Longer keys are refused: they are for telling calls apart.
const LONGEST: usize = 255;
/// Most keys of one session. Each is remembered for as long as the session is.
const MOST: usize = 100_000;

/// The key of a request, if it has one.
pub(super) fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(HEADER).iter();
    let (first, second) = (values.next(), values.next());
    let Some(value) = first else {
        return Ok(None);
    };
    let text = value.to_str().ok().filter(|it| {
        second.is_none() && (1..=LONGEST).contains(&it.len()) && !it.trim().is_empty()
    });
    text.map(|it| Some(it.to_owned())).ok_or_else(|| {
        let message =
            format!("`Idempotency-Key` must be there once, with 1 to {LONGEST} characters");
        Problem::bad("key_invalid", message)
    })
}

/// What a key stands for: a session's word and a request, each shortened to what tells them apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    key: String,
    request: String,
}

impl Name {
    pub(super) fn new(
        session: &SessionId,
        key: &str,
        id: &str,
        input: &Map<String, Value>,
    ) -> Self {
        let key = Digest::of_fields([session.as_str().as_bytes(), key.as_bytes()]);
        let request = Digest::of_json(&json!({"id": id, "input": input}));
        Name {
            key: short(&key),
            request: short(&request),
        }
    }

    /// The name of the call that is the so-manieth under it.
    fn call(&self, attempt: u32) -> CallId {
        CallId(format!("{PREFIX}-{}-{}-{attempt}", self.key, self.request))
    }

    fn of_call(call: &CallId) -> Option<(Self, u32)> {
        let mut parts = call.0.split('-');
        let (prefix, key, request) = (parts.next()?, parts.next()?, parts.next()?);
        let attempt = parts.next()?.parse().ok()?;
        let name = Name {
            key: key.to_owned(),
            request: request.to_owned(),
        };
        (prefix == PREFIX && parts.next().is_none()).then_some((name, attempt))
    }
}

fn short(digest: &Digest) -> String {
    let bytes = digest.as_bytes().iter().take(8);
    bytes.map(|it| format!("{it:02x}")).collect()
}

/// Where a key stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing was begun under it; this would be the next name.
    Free(CallId),
    /// This was begun, and has ended.
    Ended(CallId),
    /// This was begun, and nobody knows how it ended.
    Unknown(CallId),
}

/// One key, in the hands of one request at a time.
pub(super) struct Place {
    name: Name,
    attempt: u32,
    standing: Standing,
}

/// The keys of one session.
#[derive(Default)]
pub(crate) struct Keyed(Mutex<HashMap<String, Known>>);

/// A key that was seen: what for, and where it is taken.
struct Known {
    request: String,
    place: Arc<Turnstile<Place>>,
}

impl Known {
    fn new(place: Place) -> Self {
        Known {
            request: place.name.request.clone(),
            place: Arc::new(Turnstile::new(place)),
        }
    }
}

impl Keyed {
    /// Those on record.
    pub(super) fn of(past: &SessionPast) -> Self {
        let mut places: HashMap<String, Place> = HashMap::new();
        for (call, known) in &past.calls {
            let Some((name, attempt)) = Name::of_call(call) else {
                continue;
            };
            let found = recalled(call, known);
            let place = places
                .entry(name.key.clone())
                .or_insert_with(|| Place::new(name));
            place.attempt = place.attempt.max(attempt);
            if let Some(standing) = found {
                place.standing = standing;
            }
        }
        // No name stands for two calls.
        for place in places.values_mut() {
            if matches!(place.standing, Standing::Free(_)) {
                place.free();
            }
        }
        let known = places.into_iter().map(|(key, it)| (key, Known::new(it)));
        Keyed(Mutex::new(known.collect()))
    }

    /// Takes a key, after whoever has it now.
    pub(super) async fn take(&self, name: Name) -> Result<OwnedMutexGuard<Place>, Problem> {
        let place = {
            let mut places = self.0.lock();
            if places.len() >= MOST && !places.contains_key(&name.key) {
                let message = format!("this session has had {MOST} keys");
                return Err(Problem::new(StatusCode::CONFLICT, "too_many_keys", message)
                    .hint("begin another with `POST /v1/sessions`"));
            }
            let known = places
                .entry(name.key.clone())
                .or_insert_with(|| Known::new(Place::new(name.clone())));
            if known.request != name.request {
                let message = "this `Idempotency-Key` was used for another call";
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                return Err(Problem::new(status, "key_reused", message)
                    .hint("take a new key for each call, and the same only to try again"));
            }
            Arc::clone(&known.place)
        };
        Ok(place.lock_owned().await)
    }
}

impl Place {
    fn new(name: Name) -> Self {
        let standing = Standing::Free(name.call(1));
        Place {
            name,
            attempt: 1,
            standing,
        }
    }

    pub(super) fn standing(&self) -> Standing {
        self.standing.clone()
    }

    /// Something begins under it. Until its end is told, nobody knows it.
    pub(super) fn begin(&mut self, call: CallId) {
        self.standing = Standing::Unknown(call);
    }

    /// It has ended, and had begun.
    pub(super) fn end(&mut self, call: CallId) {
        self.standing = Standing::Ended(call);
    }

    /// Nothing was begun after all.
    pub(super) fn free(&mut self) {
        self.attempt += 1;
        self.standing = Standing::Free(self.name.call(self.attempt));
    }
}

/// Where a call on record leaves its key; nothing where it may be made anew.
fn recalled(call: &CallId, known: &PastCall) -> Option<Standing> {
    match (known.started, &known.ended) {
        (None, _) => None,
        (Some(_), Some(_)) => Some(Standing::Ended(call.clone())),
        (Some(effects), None) if effects.is_effectful() => Some(Standing::Unknown(call.clone())),
        // Reading twice does no harm.
        (Some(_), None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(key: &str, id: &str) -> Name {
        Name::new(&"s".parse().unwrap(), key, id, &Map::new())
    }

    #[test]
    fn names_are_read_back_and_tell_requests_apart() {
        let one = name("a", "x");
        assert_eq!(Name::of_call(&one.call(3)), Some((one.clone(), 3)));
        let other = name("a", "y");
        assert_eq!((one.key == other.key, one == other), (true, false));
        for text in ["call-abc", "key-a", "key-a-b", "key-a-b-x", "key-a-b-1-2"] {
            assert_eq!(Name::of_call(&CallId(text.to_owned())), None, "{text}");
        }
    }

    #[tokio::test]
    async fn a_key_is_for_one_request_and_one_at_a_time() {
        let keyed = Arc::new(Keyed::default());
        let mut held = keyed.take(name("a", "x")).await.ok().unwrap();
        let Standing::Free(call) = held.standing() else {
            panic!("nothing was begun")
        };
        held.begin(call.clone());
        assert!(keyed.take(name("a", "y")).await.is_err());
        assert!(keyed.take(name("b", "y")).await.is_ok());
        let waiting = tokio::spawn({
            let keyed = Arc::clone(&keyed);
            async move { keyed.take(name("a", "x")).await.ok().unwrap().standing() }
        });
        held.end(call.clone());
        drop(held);
        assert_eq!(waiting.await.unwrap(), Standing::Ended(call));
    }
}
