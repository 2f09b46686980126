//! Each server, started and listed: whether that works, how long it takes, and what it costs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_core::printable::printable;
use ambit_core::redact::Redactor;
use ambit_mcp::{McpError, McpResolver};
use ambit_runtime::cache::DescriptorCache;
use ambit_runtime::resolver::{CapabilityResolver, Offer};
use futures_util::future::join_all;
use serde::Serialize;

use super::{Finding, Health};
use crate::cli::printer::{columns, counted};

/// How long a server may take.
const DEADLINE: Duration = Duration::from_secs(20);
/// How much of what a server wrote is shown.
const LAST_LINES: usize = 8;

/// How a server did.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Checked {
    name: String,
    ok: bool,
    /// From asking for it until its tools were known.
    took_ms: u64,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Outcome {
    Listed {
        protocol: Option<String>,
        version: Option<String>,
        tools: usize,
        /// Of all its tools in full.
        tokens: u32,
        /// Held back until a person has accepted them.
        quarantined: usize,
        /// Listed, and not offered.
        refused: usize,
    },
    Failed {
        error: String,
        hint: Option<String>,
        /// The last lines it wrote.
        stderr: Vec<String>,
    },
}

/// Starts and lists every server, all at once, each for its own time at most.
pub(super) async fn check(
    servers: &[Arc<McpResolver>],
    cache: &DescriptorCache,
    redactor: &Redactor,
) -> Vec<Checked> {
    join_all(servers.iter().map(|it| one(it, cache, redactor))).await
}

async fn one(server: &McpResolver, cache: &DescriptorCache, redactor: &Redactor) -> Checked {
    let begun = Instant::now();
    let listed = server.refresh_within(DEADLINE, cache).await;
    let took = begun.elapsed();
    Checked {
        name: server.server().spec().name.clone(),
        ok: listed.is_ok(),
        took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        outcome: match listed {
            Ok(tools) => listed_as(server, tools),
            Err(error) => failed(server, &error, redactor),
        },
    }
}

fn listed_as(server: &McpResolver, tools: usize) -> Outcome {
    let status = server.server().status();
    let (tokens, quarantined) = match server.offer() {
        Offer::Seen {
            descriptors,
            quarantined,
            ..
        } => {
            let tokens = descriptors.iter().map(|it| it.tokens.full);
            (tokens.fold(0, u32::saturating_add), quarantined.len())
        }
        Offer::Declared(_) => (0, 0),
    };
    Outcome::Listed {
        protocol: status.protocol,
        version: status.version.filter(|it| !it.is_empty()),
        tools,
        tokens,
        quarantined,
        refused: status.refused.len(),
    }
}

fn failed(server: &McpResolver, error: &McpError, redactor: &Redactor) -> Outcome {
    let written = server.server().status().stderr;
    let lines: Vec<&str> = written.lines().filter(|it| !it.trim().is_empty()).collect();
    let last = lines.iter().rev().take(LAST_LINES).rev();
    Outcome::Failed {
        error: redactor.shown(&error.to_string()).into_owned(),
        hint: match error {
            // Elsewhere these say to look here.
            McpError::ConnectTimeout { .. } | McpError::Connect { .. } | McpError::Gone { .. } => {
                let silent = lines.is_empty();
                silent.then(|| "it wrote nothing to stderr".to_owned())
            }
            _ => error.hint(),
        },
        stderr: last.map(|it| printable(&redactor.shown(it))).collect(),
    }
}

/// What all of them would cost a client that is shown everything.
pub(super) fn tokens(checked: &[Checked]) -> u32 {
    let tokens = checked.iter().map(|it| match it.outcome {
        Outcome::Listed { tokens, .. } => tokens,
        Outcome::Failed { .. } => 0,
    });
    tokens.fold(0, u32::saturating_add)
}

/// A line for each, in columns.
pub(super) fn findings(checked: &[Checked]) -> Vec<Finding> {
    let cells: Vec<Vec<String>> = checked.iter().map(cells).collect();
    let lines = columns(&cells).into_iter().zip(checked);
    lines.map(|(line, it)| finding(it, line)).collect()
}

fn cells(it: &Checked) -> Vec<String> {
    let took = format!("{} ms", it.took_ms);
    match &it.outcome {
        Outcome::Listed {
            protocol,
            tools,
            tokens,
            ..
        } => vec![
            it.name.clone(),
            took,
            counted(*tools, "tool", "tools"),
            format!("{tokens} tokens"),
            protocol.clone().unwrap_or_default(),
        ],
        Outcome::Failed { .. } => vec![it.name.clone(), took],
    }
}

fn finding(it: &Checked, line: String) -> Finding {
    match &it.outcome {
        Outcome::Listed {
            quarantined,
            refused,
            ..
        } => {
            let mut notes = Vec::new();
            if *quarantined > 0 {
                notes.push(format!(
                    "{quarantined} of them wait to be accepted: `ambit trust ls` shows them"
                ));
            }
            if *refused > 0 {
                notes.push(format!(
                    "{refused} more have names or schemas that cannot be used"
                ));
            }
            let health = match notes.is_empty() {
                true => Health::Fine,
                false => Health::Odd,
            };
            Finding {
                hints: notes,
                ..Finding::new("server", health, line)
            }
        }
        Outcome::Failed {
            error,
            hint,
            stderr,
        } => {
            let written = stderr.iter().map(|it| format!("| {it}"));
            Finding {
                hints: written.chain(hint.clone()).collect(),
                ..Finding::new("server", Health::Broken, format!("{line}  {error}"))
            }
        }
    }
}
