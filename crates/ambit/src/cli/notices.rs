//! `notices`: what agents had to say while nobody watched.

use ambit_builtins::notices::{KeptNotice, Which};
use serde_json::json;

use crate::cli::args::NoticesArgs;
use crate::cli::data::refused;
use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{BAD, BOLD, DIM, Printer, styled};
use crate::cli::setup::Setup;

pub(crate) fn notices(setup: &Setup, args: &NoticesArgs, printer: &Printer) -> Result<Exit, Fail> {
    let kept = setup.builtins().notices();
    let which = match args.all {
        true => Which::All,
        false => Which::Unread,
    };
    let notices = kept.list(which).map_err(refused)?;
    if printer.is_json() {
        printer.document(json!({"notices": notices}));
    } else if notices.is_empty() {
        printer.note("nothing new");
    }
    if !printer.is_json() {
        notices.iter().for_each(|it| show(it, printer));
    }
    // Only once it is printed: what a closed pipe swallowed is still unread.
    if !args.peek && !notices.is_empty() {
        kept.seen(&notices).map_err(refused)?;
    }
    Ok(Exit::Done)
}

fn show(notice: &KeptNotice, printer: &Printer) {
    let urgent = match notice.urgency.as_str() {
        "high" => format!(" {}", styled(BAD, "urgent")),
        _ => String::new(),
    };
    printer.line(format!(
        "{}  {}{urgent}  {}",
        styled(DIM, notice.at.strftime("%F %T")),
        styled(BOLD, &notice.agent),
        styled(DIM, format!("session {}", notice.session)),
    ));
    for line in notice.message.lines() {
        // Not a byte of it may steer the terminal.
        let line: String = line.chars().filter(|it| !it.is_control()).collect();
        printer.line(format!("  {line}"));
    }
}
