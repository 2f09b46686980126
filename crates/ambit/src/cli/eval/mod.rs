//! `eval`: how well search finds what it should, on labelled requests, and where it does not.

mod files;
mod measure;
mod progress;
mod report;

pub(crate) use files::read_model;

use crate::cli::args::EvalArgs;
use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::Printer;

pub(crate) fn eval(args: &EvalArgs, printer: &Printer) -> Result<Exit, Fail> {
    let set = files::read_set(&args.dir)?;
    let model = args.model.as_deref().map(files::read_model).transpose()?;
    let measured = measure::measure(&set, model);
    if printer.is_json() {
        printer.document(report::document(&set, &measured, args.misses));
    } else {
        report::print(&set, &measured, args.misses, printer);
    }
    Ok(Exit::Done)
}
