//! Requests from outside that start a trigger. Whoever knows the token may ask; of the token only
//! its digest is kept. A wrong token and a trigger that is not there get the same answer.

use std::sync::Arc;

use ambit_core::digest::Digest;
use ambit_core::observation::Failure;
use jiff::Timestamp;
use thiserror::Error;

use super::roster::Roster;
use super::trigger::RunReason;
use crate::store::cell::kept;
use crate::store::{Store, StoreError};

/// Most bytes that are handed on to the agent.
pub const MOST_PAYLOAD: usize = 64 * 1024;

/// Characters of an alphabet of 32: 200 bits.
const TOKEN: usize = 40;
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// A token nobody can guess.
pub(super) fn token() -> Result<String, Failure> {
    let mut bytes = [0; TOKEN];
    getrandom::fill(&mut bytes).map_err(|error| {
        Failure::provider(format!(
            "no token can be made: this system has no randomness ({error})"
        ))
    })?;
    let letters = bytes
        .iter()
        .filter_map(|it| ALPHABET.get(usize::from(it % 32)));
    Ok(letters.map(|it| char::from(*it)).collect())
}

pub(super) fn digest(token: &str) -> String {
    Digest::of_bytes(token.as_bytes()).to_string()
}

/// Why a request starts nothing.
#[derive(Debug, Error)]
pub enum HookRefusal {
    /// There is no such trigger, it rests, or the token is not its own.
    #[error("nothing is here for this token")]
    Unknown,
    /// The body is too large, or no text.
    #[error("the body has to be text of {MOST_PAYLOAD} bytes at most")]
    Payload,
    /// Too many requests wait already.
    #[error("{0}")]
    Busy(String),
    /// It cannot be kept.
    #[error(transparent)]
    Store(StoreError),
}

/// Takes in a request. The run is started by whoever is on duty.
pub fn receive(
    store: &Arc<Store>,
    now: Timestamp,
    trigger: &str,
    token: &str,
    body: &[u8],
) -> Result<(), HookRefusal> {
    let body = std::str::from_utf8(body).map_err(|_| HookRefusal::Payload)?;
    if body.len() > MOST_PAYLOAD {
        return Err(HookRefusal::Payload);
    }
    let token = digest(token);
    // Looked for by its digest: how long that takes says nothing about the token.
    let asked = store.write(|transaction| {
        let roster = Roster {
            transaction,
            now: kept(now),
        };
        let known = roster.all(None)?.into_iter();
        let found = known
            .filter(|it| it.id == trigger && !it.paused)
            .find(|it| it.secret.as_ref() == Some(&token));
        let Some(found) = found else {
            return Ok(None);
        };
        let payload = Some(body).filter(|it| !it.is_empty());
        roster
            .request(&found, RunReason::Webhook, payload)
            .map(Some)
    });
    match asked {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(HookRefusal::Unknown),
        Err(StoreError::Refused(failure)) => Err(HookRefusal::Busy(failure.message)),
        Err(error) => Err(HookRefusal::Store(error)),
    }
}
