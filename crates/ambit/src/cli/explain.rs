//! `explain` and `diff`: why a capability is visible or not, now or in a recorded turn, and what
//! changed between two turns.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_core::diff::VisibleDiff;
use ambit_core::id::CapabilityId;
use ambit_core::visible::VisibleSet;
use ambit_runtime::journal::{EventFilter, JournalReader};
use ambit_runtime::replay::turns;
use serde_json::{Value, json};

use crate::cli::args::{DiffArgs, ExplainArgs};
use crate::cli::catalog::unknown_id;
use crate::cli::discover::{imagine, reasons, turn_request};
use crate::cli::fail::{Exit, Fail};
use crate::cli::history::{no_session, reader};
use crate::cli::printer::{BOLD, DIM, GOOD, Printer, WARN, styled};
use crate::cli::setup::Setup;
use crate::config::Problem;

pub(crate) fn explain(
    setup: impl FnOnce() -> Result<Setup, Fail>,
    args: &ExplainArgs,
    printer: &Printer,
) -> Result<Exit, Fail> {
    let (id, visible) = match &args.session {
        // What was recorded does not depend on what is configured now.
        Some(session) => recorded(session, args)?,
        None => {
            let setup = &setup()?;
            let (market, session) = imagine(setup, &args.agent)?;
            let catalog = market.catalog();
            let visible = session.begin_turn(&turn_request(setup, &args.turn));
            let found = catalog
                .iter()
                .find(|it| it.id.as_str() == args.id || visible.name_of(&it.id) == args.id);
            let id = found
                .map(|it| it.id.clone())
                .ok_or_else(|| unknown_id(&catalog, &args.id))?;
            (id, visible)
        }
    };
    let entry = visible.entries().iter().find(|it| it.id == id);
    let hidden = visible.hidden_reason(&id);
    if printer.is_json() {
        let hidden = hidden.map(
            |it| json!({"reason": it.as_str(), "detail": it.to_string(), "remedy": it.remedy()}),
        );
        printer.document(
            json!({"id": id, "visible": entry.is_some(), "entry": entry, "hidden": hidden}),
        );
        return Ok(Exit::Done);
    }
    match (entry, hidden) {
        (Some(entry), _) => {
            let score: i32 = entry.reasons.iter().map(|it| it.weight).sum();
            printer.line(format!(
                "{} {} ({}, {} tokens)",
                styled(BOLD, &id),
                styled(GOOD, "is visible"),
                entry.layer.as_str(),
                entry.tokens
            ));
            printer.line(format!("  {score} points: {}", reasons(&entry.reasons)));
        }
        (None, Some(reason)) => {
            printer.line(format!(
                "{} {}: {reason}",
                styled(BOLD, &id),
                styled(WARN, "is hidden")
            ));
            printer.line(format!("  to see it: {}", reason.remedy()));
        }
        (None, None) => printer.line(format!("{} was not in the catalog", styled(BOLD, &id))),
    }
    Ok(Exit::Done)
}

/// The turn of a session an id is explained in, the last one where none is named.
fn recorded(session: &str, args: &ExplainArgs) -> Result<(CapabilityId, Arc<VisibleSet>), Fail> {
    let turns = recomputed(&reader()?, session)?;
    let number = args
        .turn_number
        .or_else(|| turns.keys().next_back().copied())
        .unwrap_or(0);
    let visible = turn(&turns, number)?;
    let ids = visible
        .entries()
        .iter()
        .map(|it| &it.id)
        .chain(visible.hidden().iter().map(|(id, _)| id));
    let id = ids
        .into_iter()
        .find(|it| it.as_str() == args.id || visible.name_of(it) == args.id)
        .cloned();
    let id = id.ok_or_else(|| {
        Fail::usage(Problem::error(
            "unknown_capability",
            format!("`{}` was not in the catalog of turn {number}", args.id),
        ))
    })?;
    Ok((id, visible))
}

fn recomputed(
    reader: &JournalReader,
    session: &str,
) -> Result<BTreeMap<u32, Arc<VisibleSet>>, Fail> {
    let session = reader.find_session(session).map_err(no_session)?;
    let events = reader.events(&EventFilter {
        session: Some(session),
        ..EventFilter::default()
    })?;
    Ok(turns(&events, |digest| {
        reader.object(digest).ok().flatten()
    }))
}

fn turn(turns: &BTreeMap<u32, Arc<VisibleSet>>, number: u32) -> Result<Arc<VisibleSet>, Fail> {
    turns.get(&number).cloned().ok_or_else(|| {
        let known: Vec<String> = turns.keys().map(ToString::to_string).collect();
        let hint = if known.is_empty() {
            "it has no turns that can be recomputed".to_owned()
        } else {
            format!("it has turns {}", known.join(", "))
        };
        Fail::no(
            Problem::error("unknown_turn", format!("the session has no turn {number}")).hint(hint),
        )
    })
}

pub(crate) fn diff(args: &DiffArgs, printer: &Printer) -> Result<Exit, Fail> {
    let turns = recomputed(&reader()?, &args.session)?;
    let (before, after) = (turn(&turns, args.before)?, turn(&turns, args.after)?);
    let diff = VisibleDiff::between(&before, &after);
    if printer.is_json() {
        let mut document = serde_json::to_value(&diff).unwrap_or_default();
        if let Some(map) = document.as_object_mut() {
            map.insert(
                "before".to_owned(),
                json!({"turn": args.before, "digest": before.digest()}),
            );
            map.insert(
                "after".to_owned(),
                json!({"turn": args.after, "digest": after.digest()}),
            );
            map.entry("changed")
                .or_insert_with(|| Value::Array(Vec::new()));
        }
        printer.document(document);
        return Ok(Exit::Done);
    }
    for entry in &diff.added {
        printer.line(format!(
            "{} {}  {}",
            styled(GOOD, "+"),
            entry.id,
            styled(DIM, reasons(&entry.reasons))
        ));
    }
    for entry in &diff.removed {
        let why = entry
            .why
            .as_ref()
            .map_or("it left the catalog".to_owned(), ToString::to_string);
        printer.line(format!(
            "{} {}  {}",
            styled(WARN, "-"),
            entry.id,
            styled(DIM, why)
        ));
    }
    for entry in &diff.changed {
        let layers = format!(
            "{} to {}",
            entry.before.layer.as_str(),
            entry.after.layer.as_str()
        );
        let what = if entry.before.layer == entry.after.layer {
            reasons(&entry.after.reasons)
        } else {
            layers
        };
        printer.line(format!("~ {}  {}", entry.after.id, styled(DIM, what)));
    }
    if diff.is_empty() {
        printer.note("nothing changed");
    }
    Ok(Exit::Done)
}
