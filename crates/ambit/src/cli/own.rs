//! What an agent changed about itself: `agents history` and `agents undo` for a person, and as what
//! it is told when it is run.

use std::path::PathBuf;
use std::sync::Arc;

use ambit_builtins::own::{Change, KEY, Own, Responsibility, own_instructions, responsibilities};
use ambit_builtins::store::Store;
use ambit_core::observation::Failure;
use ambit_core::printable::printable;
use serde_json::{Value, json};

use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{BAD, BOLD, DIM, GOOD, Printer, counted, styled};
use crate::cli::setup::Setup;
use crate::config::{Agent, Problem};

/// Lists an agent's changes of itself, oldest first; one of them in full.
pub(crate) fn history(
    setup: &Setup,
    name: &str,
    version: Option<i64>,
    printer: &Printer,
) -> Result<Exit, Fail> {
    let mut changes = own(setup, name).history().map_err(|it| failed(it.into()))?;
    if let Some(version) = version {
        changes.retain(|it| it.version == version);
        if changes.is_empty() {
            let message = format!("`{name}` has no version {version}");
            let hint = format!("`ambit agents history {name}` lists those there are");
            return Err(Fail::no(
                Problem::error("no_such_version", message).hint(hint),
            ));
        }
    }
    if printer.is_json() {
        let changes: Vec<Value> = changes.iter().map(as_json).collect();
        printer.document(json!({"agent": name, "changes": changes}));
        return Ok(Exit::Done);
    }
    for change in &changes {
        printer.line(line(change));
        if version.is_some() {
            print_texts(change, printer);
        }
    }
    match changes.is_empty() {
        true => printer.note(format!("{name} has changed nothing about itself")),
        false if version.is_none() => printer.note(styled(
            DIM,
            format!("take changes back with `ambit agents undo {name} [--to VERSION]`"),
        )),
        false => {}
    }
    Ok(Exit::Done)
}

/// Takes an agent's changes of itself back.
pub(crate) fn undo(
    setup: &Setup,
    name: &str,
    to: Option<i64>,
    printer: &Printer,
) -> Result<Exit, Fail> {
    let undone = own(setup, name).undo(to).map_err(failed)?;
    if printer.is_json() {
        let changes: Vec<Value> = undone.changes.iter().map(as_json).collect();
        printer.document(json!({"agent": name, "to": undone.to, "changes": changes}));
        return Ok(Exit::Done);
    }
    for change in &undone.changes {
        printer.line(line(change));
    }
    printer.line(format!(
        "{} is as it was after version {}: {}",
        styled(BOLD, name),
        undone.to,
        counted(
            undone.changes.len(),
            "thing was put back",
            "things were put back"
        )
    ));
    Ok(Exit::Done)
}

/// What an agent is told before anything else: what a person configured, and after that what it
/// wrote for itself and looks after. Looked up for each run: it may have changed since the last.
pub(crate) struct Told {
    configured: Option<String>,
    own: Option<(String, PathBuf, Arc<Store>)>,
}

impl Told {
    pub(crate) fn new(setup: &Setup, name: &str, agent: &Agent) -> Self {
        let has_own = agent.capabilities.0.contains_key(KEY);
        Told {
            configured: agent.instructions.clone(),
            own: has_own.then(|| (name.to_owned(), setup.agent_dir(name), setup.store())),
        }
    }

    /// As it is now.
    pub(crate) fn now(&self) -> Vec<String> {
        let mut told: Vec<String> = self.configured.iter().cloned().collect();
        if let Some((name, folder, store)) = &self.own {
            let written = own_instructions(folder).unwrap_or_else(|error| {
                tracing::warn!(agent = name, %error, "its own instructions cannot be read");
                None
            });
            let duties = responsibilities(store, name).unwrap_or_else(|error| {
                tracing::warn!(agent = name, %error, "its responsibilities cannot be read");
                Vec::new()
            });
            told.extend(written.map(|it| format!("What you wrote for yourself earlier:\n\n{it}")));
            told.extend(looked_after(&duties));
        }
        told
    }
}

fn looked_after(duties: &[Responsibility]) -> Option<String> {
    let line = |it: &Responsibility| match it.details.as_str() {
        "" => format!("{}. {}", it.number, it.title),
        details => format!("{}. {}: {details}", it.number, it.title),
    };
    let lines: Vec<String> = duties.iter().map(line).collect();
    let lines = Some(lines).filter(|it| !it.is_empty())?;
    Some(format!("What you look after:\n\n{}", lines.join("\n")))
}

/// An agent that is no longer configured still has a past.
fn own(setup: &Setup, name: &str) -> Own {
    Own::of(&setup.builtins(), name, &setup.agent_dir(name))
}

fn line(change: &Change) -> String {
    let done = match (&change.was, &change.became) {
        (None, _) => "made",
        (_, None) => "deleted",
        _ => "changed",
    };
    format!(
        "{}  {done} {} {}",
        styled(BOLD, change.version),
        change.what,
        styled(DIM, format!("by the {}, {}", change.by.as_str(), change.at))
    )
}

fn print_texts(change: &Change, printer: &Printer) {
    for (mark, style, text) in [("-", BAD, &change.was), ("+", GOOD, &change.became)] {
        for it in text.iter().flat_map(|it| it.lines()) {
            printer.line(styled(style, format!("  {mark} {}", printable(it))));
        }
    }
}

fn as_json(change: &Change) -> Value {
    json!({
        "version": change.version,
        "at": change.at.to_string(),
        "by": change.by.as_str(),
        "what": change.what,
        "was": change.was,
        "became": change.became,
    })
}

fn failed(failure: Failure) -> Fail {
    Fail::no(Problem::error(failure.code.as_str(), failure.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_after_is_told_in_lines() {
        let duty = |number, title: &str, details: &str| Responsibility {
            number,
            title: title.to_owned(),
            details: details.to_owned(),
        };
        assert_eq!(looked_after(&[]), None);
        assert_eq!(
            looked_after(&[duty(1, "the inbox", ""), duty(3, "releases", "weekly")]),
            Some("What you look after:\n\n1. the inbox\n3. releases: weekly".to_owned())
        );
    }
}
