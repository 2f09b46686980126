//! `init --starter`: a file to begin with, where there is nothing to take over.

use std::fs::OpenOptions;
use std::io::{self, Write};

use ambit_core::digest::Digest;

use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{BOLD, Printer, styled};
use crate::cli::setup::working_directory;
use crate::config::{Problem, starter};
use crate::places::{CONFIG_NAME, Places};
use crate::trust::TrustStore;

/// Writes the starter file and trusts it: whoever typed this wrote it.
pub(super) fn write(printer: &Printer) -> Result<Exit, Fail> {
    let path = working_directory()?.join(CONFIG_NAME);
    let text = starter();
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    match file.and_then(|mut it| it.write_all(text.as_bytes())) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let message = format!("`{}` is there already", path.display());
            return Err(Problem::error("exists", message)
                .hint("edit it, or move it away first; `ambit check` says whether it is fine")
                .into());
        }
        Err(error) => {
            let message = format!("`{}` cannot be written: {error}", path.display());
            return Err(Problem::error("io", message).into());
        }
    }
    let places = Places::from_process()?;
    TrustStore::open(&places)?.accept_project(&path, &Digest::of_bytes(text.as_bytes()))?;
    if printer.is_json() {
        printer.document(serde_json::json!({"written": path, "trusted": true}));
    } else {
        printer.line(format!("wrote {}", styled(BOLD, path.display())));
        printer.note("next: `ambit ls` shows what there is, `ambit call files__list_dir` tries it");
    }
    Ok(Exit::Done)
}
