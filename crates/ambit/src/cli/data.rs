//! `data`: what built-in capabilities keep for a workspace, out as JSON and back in.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use ambit_builtins::store::{Dump, StoreError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cli::args::DataCommand;
use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{Printer, counted};
use crate::cli::setup::Setup;
use crate::config::Problem;

/// The version of the export's shape.
const SCHEMA_VERSION: u32 = 1;

/// Everything that is kept for a workspace.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Export {
    schema_version: u32,
    workspace: String,
    exported_at: String,
    data: Dump,
}

pub(crate) fn data(setup: &Setup, command: &DataCommand, printer: &Printer) -> Result<Exit, Fail> {
    match command {
        DataCommand::Where => whereabouts(setup, printer),
        DataCommand::Export { file } => export(setup, file.as_deref(), printer),
        DataCommand::Import { file } => import(setup, file, printer),
    }
}

fn whereabouts(setup: &Setup, printer: &Printer) -> Result<Exit, Fail> {
    let store = setup.store();
    if printer.is_json() {
        printer.document(json!({
            "workspace": setup.workspace,
            "folder": store.folder(),
            "database": store.path(),
        }));
    } else {
        printer.line(store.folder().display().to_string());
    }
    Ok(Exit::Done)
}

fn export(setup: &Setup, file: Option<&Path>, printer: &Printer) -> Result<Exit, Fail> {
    let store = setup.store();
    let export = Export {
        schema_version: SCHEMA_VERSION,
        workspace: setup.workspace.display().to_string(),
        exported_at: Timestamp::now().to_string(),
        data: store.export().map_err(refused)?,
    };
    let Some(file) = file else {
        printer.json_line(&export);
        return Ok(Exit::Done);
    };
    let rows = export.data.rows();
    let text = serde_json::to_string_pretty(&export).map_err(io::Error::from)?;
    fs::write(file, text + "\n").map_err(|error| not_usable(file, &error))?;
    if printer.is_json() {
        printer.document(json!({"file": file, "entries": rows}));
    } else {
        let rows = counted(rows, "entry", "entries");
        printer.line(format!("wrote {rows} to {}", file.display()));
    }
    Ok(Exit::Done)
}

fn import(setup: &Setup, file: &Path, printer: &Printer) -> Result<Exit, Fail> {
    let text = match file.as_os_str() == "-" {
        true => {
            let mut text = String::new();
            io::stdin().lock().read_to_string(&mut text)?;
            text
        }
        false => fs::read_to_string(file).map_err(|error| not_usable(file, &error))?,
    };
    let export: Export = serde_json::from_str(&text).map_err(|error| {
        not_an_export(format!("`{}` is not an export: {error}", file.display()))
    })?;
    if export.schema_version != SCHEMA_VERSION {
        return Err(not_an_export(format!(
            "`{}` has the shape {}, and this version of ambit reads {SCHEMA_VERSION}",
            file.display(),
            export.schema_version
        )));
    }
    let store = setup.store();
    let rows = store.import(&export.data).map_err(refused)?;
    if printer.is_json() {
        printer.document(json!({"entries": rows, "workspace": setup.workspace}));
    } else {
        let rows = counted(rows, "entry", "entries");
        printer.line(format!("brought in {rows}"));
    }
    Ok(Exit::Done)
}

/// What is kept cannot be used, or not so.
pub(crate) fn refused(error: StoreError) -> Fail {
    let code = match error {
        StoreError::Refused(_) => "refused",
        StoreError::Newer { .. } => "data_newer",
        StoreError::Damaged { .. } => "data_damaged",
        StoreError::Import(_) => "import_refused",
        _ => "data_unusable",
    };
    Fail::no(Problem::error(code, error.to_string()))
}

fn not_an_export(message: String) -> Fail {
    Fail::usage(
        Problem::error("not_an_export", message).hint("`ambit data export FILE` writes one"),
    )
}

fn not_usable(file: &Path, error: &io::Error) -> Fail {
    Fail::usage(Problem::error(
        "unusable_file",
        format!("`{}`: {error}", file.display()),
    ))
}
