//! `agents history` and `agents undo`: what an agent changed about itself, and taking it back.

use ambit_builtins::own::{Change, Own};
use ambit_core::observation::Failure;
use ambit_core::printable::printable;
use serde_json::{Value, json};

use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{BAD, BOLD, DIM, GOOD, Printer, counted, styled};
use crate::cli::setup::Setup;
use crate::config::Problem;

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
