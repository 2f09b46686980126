//! Approvals: requests that wait for a person, and what that person said.
//!
//! "Once" is bound to the digest of one exact call and spent by whoever takes it first.
//! "Session" and "always" stand, for one agent and one capability as it is defined now.

use ambit_core::digest::Digest;
use ambit_core::id::CapabilityId;
use ambit_core::permission::Answer;
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::{TrustError, TrustStore, capability, digest, now, time};

/// How far a standing approval reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// This session.
    Session(String),
    /// Every session.
    Always,
}

/// A call a person has to decide about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRequest {
    /// The agent that wants it.
    pub agent: String,
    /// In which session.
    pub session: String,
    /// What it wants to call.
    pub capability: CapabilityId,
    /// The digest of that capability's definition.
    pub definition: Digest,
    /// The digest of the exact call: who, where, what, with which arguments, under which rules.
    pub call: Digest,
    /// The arguments as JSON, secrets already taken out.
    pub arguments: String,
    /// Why a person is asked.
    pub why: String,
    /// For how long a person can say yes.
    pub yes_for: YesFor,
}

/// How far a yes can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YesFor {
    /// As far as the person says.
    Standing,
    /// To this call and no other.
    ThisCall,
}

impl YesFor {
    /// An answer, as far as it can reach.
    fn bound(self, answer: Answer) -> Answer {
        match (self, answer) {
            (YesFor::ThisCall, Answer::Session | Answer::Always) => Answer::Once,
            (_, answer) => answer,
        }
    }
}

/// A request that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingRequest {
    /// Its number.
    pub n: i64,
    /// What is asked.
    pub request: NewRequest,
    /// Since when.
    pub at: Timestamp,
}

/// What a person said about one exact call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnceDecision {
    /// It may run, once.
    Allowed,
    /// It may not.
    Denied,
}

/// An approval that stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingApproval {
    /// Its number.
    pub n: i64,
    /// For this agent.
    pub agent: String,
    /// To call this.
    pub capability: CapabilityId,
    /// As it was defined then.
    pub definition: Digest,
    /// For how long.
    pub scope: Scope,
    /// Since when.
    pub at: Timestamp,
}

impl TrustStore {
    /// Puts a request before a person, and says its number. The same call asked about twice is
    /// one request.
    pub fn add_pending(&self, request: &NewRequest) -> Result<i64, TrustError> {
        let connection = self.connection.lock();
        Ok(connection.query_row(
            "INSERT INTO pending (agent, session, capability, definition, call, arguments, why, at, stands)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT (call) DO UPDATE SET why = excluded.why
             RETURNING n",
            params![
                request.agent,
                request.session,
                request.capability.as_str(),
                request.definition.to_string(),
                request.call.to_string(),
                request.arguments,
                request.why,
                now(),
                request.yes_for == YesFor::Standing,
            ],
            |row| row.get(0),
        )?)
    }

    /// What waits, oldest first.
    pub fn pending(&self) -> Result<Vec<PendingRequest>, TrustError> {
        let connection = self.connection.lock();
        let mut query = connection.prepare(&format!("SELECT {PENDING} FROM pending ORDER BY n"))?;
        let rows = query.query_map([], pending)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Takes a request back that nobody has to decide any more. Says whether it was there.
    pub fn withdraw(&self, call: &Digest) -> Result<bool, TrustError> {
        let connection = self.connection.lock();
        Ok(connection.execute("DELETE FROM pending WHERE call = ?1", [call.to_string()])? > 0)
    }

    /// Records a person's answer to a request, which is then no longer pending. `Once` and
    /// `Deny` wait to be taken by that call; `Session` and `Always` stand, for that call too, where
    /// they can. Says what it came to.
    pub fn decide(&self, n: i64, answer: Answer) -> Result<(PendingRequest, Answer), TrustError> {
        let mut connection = self.connection.lock();
        let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let taken = change
            .query_row(
                &format!("DELETE FROM pending WHERE n = ?1 RETURNING {PENDING}"),
                [n],
                pending,
            )
            .optional()?
            .ok_or(TrustError::NoSuchRequest(n))?;
        let request = &taken.request;
        let answer = request.yes_for.bound(answer);
        match answer {
            Answer::Once => once(&change, request, OnceDecision::Allowed)?,
            Answer::Deny => once(&change, request, OnceDecision::Denied)?,
            Answer::Session => stand(&change, request, &Scope::Session(request.session.clone()))?,
            Answer::Always => stand(&change, request, &Scope::Always)?,
        }
        change.commit()?;
        Ok((taken, answer))
    }

    /// Takes what a person said about this exact call. Of all who ask, in all processes, one
    /// gets it.
    pub fn take_once(&self, call: &Digest) -> Result<Option<OnceDecision>, TrustError> {
        let connection = self.connection.lock();
        let allowed = connection
            .query_row(
                "DELETE FROM once WHERE call = ?1 RETURNING allowed",
                [call.to_string()],
                |row| row.get::<_, bool>(0),
            )
            .optional()?;
        Ok(allowed.map(|allowed| match allowed {
            true => OnceDecision::Allowed,
            false => OnceDecision::Denied,
        }))
    }

    /// Records an approval given where the person was asked directly.
    pub fn add_standing(&self, request: &NewRequest, scope: &Scope) -> Result<(), TrustError> {
        let mut connection = self.connection.lock();
        let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        stand(&change, request, scope)?;
        Ok(change.commit()?)
    }

    /// What stands for this agent, oldest first; without a name, for all.
    pub fn standing(&self, agent: Option<&str>) -> Result<Vec<StandingApproval>, TrustError> {
        let connection = self.connection.lock();
        let mut query = connection.prepare(
            "SELECT n, agent, capability, definition, session, at FROM standing
             WHERE ?1 IS NULL OR agent = ?1 ORDER BY n",
        )?;
        let rows = query.query_map([agent], |row| {
            Ok(StandingApproval {
                n: row.get(0)?,
                agent: row.get(1)?,
                capability: capability(row, 2)?,
                definition: digest(row, 3)?,
                scope: row
                    .get::<_, Option<String>>(4)?
                    .map_or(Scope::Always, Scope::Session),
                at: time(row, 5)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Takes a standing approval back. Says whether it was there.
    pub fn remove_standing(&self, n: i64) -> Result<bool, TrustError> {
        let connection = self.connection.lock();
        Ok(connection.execute("DELETE FROM standing WHERE n = ?1", [n])? > 0)
    }

    /// Drops what was approved only for this session, and says how many there were.
    pub fn end_session(&self, session: &str) -> Result<usize, TrustError> {
        let connection = self.connection.lock();
        Ok(connection.execute("DELETE FROM standing WHERE session = ?1", [session])?)
    }
}

const PENDING: &str = "n, agent, session, capability, definition, call, arguments, why, at, stands";

fn pending(row: &Row<'_>) -> rusqlite::Result<PendingRequest> {
    Ok(PendingRequest {
        n: row.get(0)?,
        request: NewRequest {
            agent: row.get(1)?,
            session: row.get(2)?,
            capability: capability(row, 3)?,
            definition: digest(row, 4)?,
            call: digest(row, 5)?,
            arguments: row.get(6)?,
            why: row.get(7)?,
            yes_for: match row.get(9)? {
                true => YesFor::Standing,
                false => YesFor::ThisCall,
            },
        },
        at: time(row, 8)?,
    })
}

fn once(
    change: &Transaction<'_>,
    request: &NewRequest,
    decision: OnceDecision,
) -> rusqlite::Result<()> {
    change.execute(
        "INSERT OR REPLACE INTO once (call, allowed, at) VALUES (?1, ?2, ?3)",
        params![
            request.call.to_string(),
            decision == OnceDecision::Allowed,
            now()
        ],
    )?;
    Ok(())
}

fn stand(change: &Transaction<'_>, request: &NewRequest, scope: &Scope) -> rusqlite::Result<()> {
    let session = match scope {
        Scope::Session(session) => Some(session),
        Scope::Always => None,
    };
    change.execute(
        "INSERT OR IGNORE INTO standing (agent, capability, definition, session, at)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            request.agent,
            request.capability.as_str(),
            request.definition.to_string(),
            session,
            now(),
        ],
    )?;
    Ok(())
}
