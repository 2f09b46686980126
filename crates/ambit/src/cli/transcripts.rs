//! `history`: conversations had elsewhere, brought in for the capability `history` to find.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ambit_builtins::history::{Added, Transcript, Transcripts};
use ambit_builtins::store::StoreError;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::cli::args::HistoryCommand;
use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{DIM, Printer, columns, counted, styled};
use crate::cli::setup::Setup;
use crate::config::Problem;

/// The largest file that is read.
const MOST_BYTES: u64 = 256 * 1024 * 1024;
/// Lines that are named, of those that were not understood.
const MOST_NAMED: usize = 5;

pub(crate) fn transcripts(
    setup: &Setup,
    command: HistoryCommand,
    printer: &Printer,
) -> Result<Exit, Fail> {
    let kept = Transcripts::new(setup.store(), Arc::new(Timestamp::now));
    match command {
        HistoryCommand::Import { files, agent } => {
            let (agent, _) = setup.agent(agent.as_deref())?;
            import(setup, &kept, agent, &files, printer)
        }
        HistoryCommand::Ls => list(&kept, printer),
        HistoryCommand::Rm { thread } => remove(&kept, &thread, printer),
    }
}

fn import(
    setup: &Setup,
    kept: &Transcripts,
    agent: &str,
    files: &[PathBuf],
    printer: &Printer,
) -> Result<Exit, Fail> {
    let mut imported: Vec<Value> = Vec::new();
    let mut failed: Vec<Value> = Vec::new();
    for file in files {
        let shown = file.display().to_string();
        let read = read(file).and_then(|text| {
            Transcript::parse(&text, &setup.redactor).map_err(|error| error.to_string())
        });
        let transcript = match read {
            Ok(transcript) => transcript,
            // The others are still worth having.
            Err(error) => {
                let problem = Problem::error("not_imported", format!("`{shown}`: {error}"));
                if !printer.is_json() {
                    printer.problem(&problem);
                }
                failed.push(json!({"file": shown, "error": error}));
                continue;
            }
        };
        let (thread, added) = kept.add(agent, &shown, &transcript).map_err(unusable)?;
        let messages = counted(transcript.len(), "message", "messages");
        let skipped = &transcript.skipped;
        if !printer.is_json() {
            printer.line(match added {
                Added::New => format!("{thread}  {messages} of {shown}"),
                Added::Replaced => format!("{thread}  {messages} of {shown}, in place of fewer"),
                Added::Known => format!("{thread}  {shown} is there already"),
            });
            if !skipped.is_empty() {
                let named: Vec<_> = skipped.iter().take(MOST_NAMED).collect();
                let named: Vec<_> = named
                    .iter()
                    .map(|it| format!("line {}: {}", it.line, it.why))
                    .collect();
                let lines = counted(skipped.len(), "line", "lines");
                printer.note(format!("  skipped {lines} ({})", named.join("; ")));
            }
        }
        let skipped = skipped.iter();
        imported.push(json!({
            "file": shown,
            "thread": thread,
            "status": added,
            "messages": transcript.len(),
            "skipped": skipped.map(|it| json!({"line": it.line, "why": it.why})).collect::<Vec<_>>(),
        }));
    }
    let exit = match failed.is_empty() {
        true => Exit::Done,
        false => Exit::No,
    };
    if printer.is_json() {
        printer.document(json!({"agent": agent, "imported": imported, "failed": failed}));
    }
    Ok(exit)
}

/// A file's text, or why it cannot be had.
fn read(file: &Path) -> Result<String, String> {
    let mut text = Vec::new();
    let read = match file.as_os_str() == "-" {
        true => io::stdin()
            .lock()
            .take(MOST_BYTES + 1)
            .read_to_end(&mut text),
        false => File::open(file).and_then(|it| it.take(MOST_BYTES + 1).read_to_end(&mut text)),
    };
    let size = read.map_err(|error| error.to_string())?;
    if size as u64 > MOST_BYTES {
        return Err(format!("it is larger than {MOST_BYTES} bytes; split it"));
    }
    String::from_utf8(text).map_err(|_| "it is not UTF-8 text".to_owned())
}

fn list(kept: &Transcripts, printer: &Printer) -> Result<Exit, Fail> {
    let all = kept.list().map_err(unusable)?;
    if printer.is_json() {
        printer.document(json!({"transcripts": all}));
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        printer.note("nothing was imported; `ambit history import FILE` does");
    }
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|it| {
            vec![
                it.thread.clone(),
                it.agent.clone(),
                counted(it.messages as usize, "message", "messages"),
                it.title.clone(),
                styled(DIM, &it.source),
            ]
        })
        .collect();
    columns(&rows).iter().for_each(|it| printer.line(it));
    Ok(Exit::Done)
}

fn remove(kept: &Transcripts, thread: &str, printer: &Printer) -> Result<Exit, Fail> {
    if !kept.remove(thread).map_err(unusable)? {
        let message = format!("nothing was imported as `{thread}`");
        let problem = Problem::error("unknown_transcript", message);
        return Err(Fail::no(problem.hint("`ambit history ls` lists imports")));
    }
    if printer.is_json() {
        printer.document(json!({"removed": thread}));
    } else {
        printer.line(format!("removed {thread}"));
    }
    Ok(Exit::Done)
}

fn unusable(error: StoreError) -> Fail {
    Fail::no(Problem::error("data_unusable", error.to_string()))
}
