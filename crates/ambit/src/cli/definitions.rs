//! Definitions of servers' tools that wait for a person: shown with what is different, and
//! accepted.

use ambit_core::quarantine::QuarantineReason;
use ambit_core::suggest::{did_you_mean, suggest};
use serde_json::{Value, json};

use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{BAD, BOLD, DIM, GOOD, Printer, WARN, styled};
use crate::config::Problem;
use crate::trust::{HeldDefinition, TrustStore};

/// What waits, as JSON.
pub(crate) fn as_json(held: &[HeldDefinition]) -> Vec<Value> {
    held.iter()
        .map(|it| {
            json!({
                "id": it.id, "server": it.server, "reason": it.quarantine.reason,
                "digest": it.digest, "diff": it.quarantine.diff, "at": it.at.to_string(),
            })
        })
        .collect()
}

/// What waits, with what is different.
pub(crate) fn print(held: &[HeldDefinition], printer: &Printer) {
    for it in held {
        let what = match it.quarantine.reason {
            QuarantineReason::Changed => "changed",
            QuarantineReason::New => "new",
        };
        printer.line(format!(
            "{} {} {}",
            styled(WARN, "waits"),
            styled(BOLD, &it.id),
            styled(DIM, format!("({what}, since {})", it.at))
        ));
        // It was made fit to be looked at when it was made.
        for line in it.quarantine.diff.lines() {
            let style = match line.chars().next() {
                Some('-') => BAD,
                Some('+') => GOOD,
                _ => DIM,
            };
            printer.line(format!("  {}", styled(style, line)));
        }
    }
    if !held.is_empty() {
        printer.note(styled(
            DIM,
            "nothing of this runs; accept it with `ambit trust accept ID` or `--server NAME`",
        ));
    }
}

/// Accepts what was named, all of it or nothing.
pub(crate) fn accept(
    store: &TrustStore,
    ids: &[String],
    servers: &[String],
    printer: &Printer,
) -> Result<Exit, Fail> {
    let held = store.held_definitions()?;
    let mut problems = Vec::new();
    for id in ids {
        if !held.iter().any(|it| it.id.as_str() == id) {
            let near = suggest(id, held.iter().map(|it| it.id.as_str()));
            problems.push(nothing_waits(format!("`{id}`"), &near));
        }
    }
    for server in servers {
        if !held.iter().any(|it| it.server == *server) {
            let near = suggest(server, held.iter().map(|it| it.server.as_str()));
            problems.push(nothing_waits(format!("server `{server}`"), &near));
        }
    }
    if !problems.is_empty() {
        return Err(problems.into());
    }
    let named = |it: &&HeldDefinition| {
        servers.contains(&it.server) || ids.iter().any(|id| it.id.as_str() == id)
    };
    let mut accepted = Vec::new();
    for it in held.iter().filter(named) {
        // What has changed again meanwhile is not what anybody could have looked at.
        if store.accept_definition(it)? {
            accepted.push(it);
        }
    }
    if printer.is_json() {
        let accepted: Vec<Value> = accepted
            .iter()
            .map(|it| json!({"id": it.id, "digest": it.digest}))
            .collect();
        printer.document(json!({"accepted": accepted}));
    } else {
        for it in &accepted {
            let digest = styled(DIM, it.digest.short());
            printer.line(format!("{} {} {digest}", styled(GOOD, "accepted"), it.id));
        }
    }
    Ok(Exit::Done)
}

fn nothing_waits(what: String, near: &[String]) -> Problem {
    let hint = did_you_mean(near).unwrap_or_else(|| "`ambit trust ls` lists what waits".to_owned());
    Problem::error("nothing_waits", format!("nothing of {what} waits")).hint(hint)
}
