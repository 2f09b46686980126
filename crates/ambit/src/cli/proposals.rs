//! Edits agents proposed: shown with what they would change and why they wait, made, or forgotten.

use ambit_core::printable::printable;
use serde_json::{Value, json};

use crate::cli::configured;
use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{BAD, BOLD, DIM, GOOD, Printer, WARN, styled};
use crate::config::Problem;
use crate::places::Places;
use crate::trust::{ProposedEdit, TrustStore};

/// What waits, as JSON.
pub(crate) fn as_json(proposed: &[ProposedEdit]) -> Vec<Value> {
    proposed
        .iter()
        .map(|it| {
            let edit: Value = serde_json::from_str(&it.proposal.edit).unwrap_or(Value::Null);
            json!({
                "number": it.n, "agent": it.proposal.agent, "path": it.proposal.path,
                "edit": edit, "why": it.proposal.what.lines().collect::<Vec<_>>(),
                "diff": it.proposal.diff, "at": it.at.to_string(),
            })
        })
        .collect()
}

/// What waits, with what it would change.
pub(crate) fn print(proposed: &[ProposedEdit], printer: &Printer) {
    for it in proposed {
        printer.line(format!(
            "{} edit {} of {} by agent {} {}",
            styled(WARN, "waits"),
            styled(BOLD, it.n),
            it.proposal.path.display(),
            styled(BOLD, &it.proposal.agent),
            styled(DIM, format!("(since {})", it.at))
        ));
        for line in it.proposal.what.lines() {
            printer.line(format!("  {}", printable(line)));
        }
        for line in it.proposal.diff.lines() {
            let style = match line.chars().next() {
                Some('-') => BAD,
                Some('+') => GOOD,
                _ => DIM,
            };
            printer.line(format!("  {}", styled(style, printable(line))));
        }
    }
    if !proposed.is_empty() {
        printer.note(styled(
            DIM,
            "nothing of this is written; make it with `ambit trust accept --edit N`, forget it with `ambit trust drop N`",
        ));
    }
}

/// Makes the edits of these numbers.
pub(crate) fn accept(
    places: &Places,
    store: &TrustStore,
    numbers: &[i64],
    printer: &Printer,
) -> Result<Exit, Fail> {
    let mut made = Vec::new();
    for number in numbers {
        let proposed = store.proposed_edit(*number)?;
        let proposed = proposed.ok_or_else(|| nothing_waits(*number))?;
        configured::accept(places, store, &proposed)?;
        made.push(proposed);
    }
    if printer.is_json() {
        printer.document(json!({"made": as_json(&made)}));
        return Ok(Exit::Done);
    }
    for it in &made {
        printer.line(format!(
            "{} edit {} of {}",
            styled(GOOD, "made"),
            it.n,
            it.proposal.path.display()
        ));
    }
    Ok(Exit::Done)
}

/// Forgets one.
pub(crate) fn drop(store: &TrustStore, number: i64, printer: &Printer) -> Result<Exit, Fail> {
    if !store.drop_proposal(number)? {
        return Err(nothing_waits(number));
    }
    match printer.is_json() {
        true => printer.document(json!({"dropped": number})),
        false => printer.line(format!("forgot edit {number}")),
    }
    Ok(Exit::Done)
}

fn nothing_waits(number: i64) -> Fail {
    let problem = Problem::error("nothing_waits", format!("no edit {number} waits"));
    Fail::no(problem.hint("`ambit trust ls` lists what waits"))
}
