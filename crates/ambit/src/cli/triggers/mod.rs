//! `triggers`: what starts agents by itself in this workspace, for the person.

pub(crate) mod background;
pub(crate) mod run;

use ambit_builtins::triggers::{Overview, Shown};
use serde_json::{Value, json};

use crate::cli::args::TriggersCommand;
use crate::cli::data::refused;
use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{Printer, WARN, styled};
use crate::cli::setup::Setup;

pub(crate) fn triggers(
    setup: Setup,
    command: Option<TriggersCommand>,
    printer: &Printer,
) -> Result<Exit, Fail> {
    let overview = setup.builtins().triggers();
    match command.unwrap_or(TriggersCommand::Ls) {
        TriggersCommand::Run => run::run(setup, printer),
        TriggersCommand::Ls => list(&overview, printer),
        TriggersCommand::History { id, limit } => {
            let runs = overview.history(id.as_deref(), limit).map_err(refused)?;
            show("runs", "nothing has run yet", runs, json!({}), printer);
            Ok(Exit::Done)
        }
        TriggersCommand::Rm { id } => {
            overview.remove(&id).map_err(refused)?;
            match printer.is_json() {
                true => printer.document(json!({"removed": id})),
                false => printer.line(format!("removed {id}")),
            }
            Ok(Exit::Done)
        }
    }
}

fn list(overview: &Overview, printer: &Printer) -> Result<Exit, Fail> {
    let triggers = overview.triggers().map_err(refused)?;
    let is_on_duty = overview.is_on_duty();
    let are_any = !triggers.is_empty();
    let more = json!({"onDuty": is_on_duty});
    show("triggers", "there are no triggers", triggers, more, printer);
    if are_any && !is_on_duty {
        printer.note(styled(
            WARN,
            "nothing starts them now: `ambit serve` does while it runs in this workspace, or `ambit triggers run`",
        ));
    }
    Ok(Exit::Done)
}

fn show(what: &str, none: &str, shown: Vec<Shown>, mut more: Value, printer: &Printer) {
    let (lines, data): (Vec<String>, Vec<Value>) = shown.into_iter().unzip();
    if printer.is_json() {
        if let Some(document) = more.as_object_mut() {
            document.insert(what.to_owned(), Value::Array(data));
        }
        printer.document(more);
        return;
    }
    if lines.is_empty() {
        printer.note(none);
    }
    lines.iter().for_each(|it| printer.line(it));
}
