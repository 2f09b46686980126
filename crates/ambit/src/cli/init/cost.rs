//! What the tools of the servers cost a client that has them all, and what an agent of Ambit is
//! shown instead. From what was seen of the servers; they are connected only on request.

use std::sync::Arc;

use ambit_runtime::approver::NobodyThere;
use ambit_runtime::journal::Journal;
use ambit_runtime::resolver::{CapabilityResolver, Offer};
use serde::Serialize;

use crate::cli::doctor::shown;
use crate::cli::fail::Fail;
use crate::cli::setup::{Setup, seen};

/// Whether servers are connected to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looking {
    /// Only what is known counts.
    Known,
    /// Those nothing is known of are connected.
    Connect,
}

/// Tokens before and after.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Cost {
    /// Of the tools of all servers, in full.
    pub(super) before: u32,
    /// Of what the agent is shown at the beginning of a session.
    pub(super) after: Option<u32>,
    /// Servers nothing is known of.
    pub(super) unseen: Vec<String>,
}

pub(super) fn cost(looking: Looking) -> Result<Cost, Fail> {
    let setup = Setup::read(false)?;
    let cache = setup.cache()?;
    let servers = setup.servers(&cache);
    if looking == Looking::Connect {
        setup.runtime()?.block_on(servers.see(&cache, seen));
    }
    let (mut before, mut unseen) = (0_u32, Vec::new());
    for it in servers.connectable() {
        match it.offer() {
            Offer::Seen { descriptors, .. } if !descriptors.is_empty() => {
                let tokens = descriptors.iter().map(|it| it.tokens.full);
                before = tokens.fold(before, u32::saturating_add);
            }
            _ => unseen.push(it.server().spec().name.clone()),
        }
    }
    let market = setup.market_of(
        &servers,
        cache,
        Journal::in_memory()?,
        Arc::new(NobodyThere),
    )?;
    // With several agents there is no one answer.
    let after = match setup.agent(None) {
        Ok((agent, _)) => Some(shown(&setup, &market, agent)?),
        Err(_) => None,
    };
    Ok(Cost {
        before,
        after,
        unseen,
    })
}
