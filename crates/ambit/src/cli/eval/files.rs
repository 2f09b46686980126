//! Reading what is measured: a labelled set, and a model, each a folder of two files.

use std::fs;
use std::io;
use std::path::Path;

use ambit_core::search::StaticModel;
use ambit_core::search::labelled::{LabelError, LabelFile, LabelReason, LabelledSet};

use crate::cli::fail::{Fail, with_sources};
use crate::config::{Problem, Source};

const TOKENIZER: &str = "tokenizer.json";
const TENSORS: &str = "model.safetensors";

pub(super) fn read_set(dir: &Path) -> Result<LabelledSet, Fail> {
    is_folder("labelled_set", dir)?;
    let tools = read_text(dir, LabelFile::Tools)?;
    let queries = read_text(dir, LabelFile::Queries)?;
    let set = LabelledSet::parse(&tools, &queries).map_err(|error| {
        let text = match error.file {
            LabelFile::Tools => tools.as_str(),
            LabelFile::Queries => queries.as_str(),
        };
        bad_line(dir, text, &error)
    })?;
    for (file, is_empty) in [
        (LabelFile::Tools, set.documents.is_empty()),
        (LabelFile::Queries, set.queries.is_empty()),
    ] {
        if is_empty {
            let path = dir.join(file.name());
            return Err(nothing(file, format!("`{}` is empty", path.display())));
        }
    }
    Ok(set)
}

fn read_text(dir: &Path, file: LabelFile) -> Result<String, Fail> {
    let path = dir.join(file.name());
    fs::read_to_string(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => nothing(file, format!("`{}` has no `{file}`", dir.display())),
        _ => unreadable("labelled_set", &path, &error),
    })
}

/// A file of a set that is not there or says nothing.
fn nothing(file: LabelFile, what: String) -> Fail {
    let (why, shape) = match file {
        LabelFile::Tools => (
            "there is nothing to search",
            r#"{"id", "name", "server"?, "description"?, "server_description"?, "input_schema"?}"#,
        ),
        LabelFile::Queries => (
            "there is nothing to measure by",
            r#"{"query", "relevant": [[id, …], …]}, each inner list one need"#,
        ),
    };
    Fail::usage(
        Problem::error("labelled_set", format!("{what}: {why}"))
            .hint(format!("`{file}` has one JSON object per line: {shape}")),
    )
}

fn bad_line(dir: &Path, text: &str, error: &LabelError) -> Fail {
    let before = text.split_inclusive('\n').take(error.line - 1);
    let start: usize = before.map(str::len).sum();
    let line = text.get(start..).and_then(|it| it.lines().next());
    let end = start + line.map_or(0, str::len);
    // Where the parser gave up, or all of a line that is JSON but wrong.
    let (message, from) = match &error.reason {
        LabelReason::Entry(cause) => {
            let text = cause.to_string();
            let place = format!(" at line {} column {}", cause.line(), cause.column());
            let what = text.strip_suffix(&place).unwrap_or(&text);
            let at = start + cause.column().saturating_sub(1);
            (format!("not a valid entry: {what}"), at.min(end))
        }
        other => (other.to_string(), start),
    };
    let source = Source::new(dir.join(error.file.name()), text);
    Fail::usage(Problem::error("labelled_set", message).at(source.place(from..end)))
}

pub(crate) fn read_model(dir: &Path) -> Result<StaticModel, Fail> {
    is_folder("model", dir)?;
    let read = |name: &str| {
        let path = dir.join(name);
        fs::read(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Fail::usage(
                Problem::error("model", format!("`{}` has no `{name}`", dir.display())).hint(
                    format!("a static embedding model is a folder with {TOKENIZER} and {TENSORS}"),
                ),
            ),
            _ => unreadable("model", &path, &error),
        })
    };
    StaticModel::from_parts(&read(TOKENIZER)?, &read(TENSORS)?).map_err(|error| {
        let message = format!("`{}`: {}", dir.display(), with_sources(&error));
        Fail::usage(Problem::error("model", message))
    })
}

fn is_folder(code: &'static str, dir: &Path) -> Result<(), Fail> {
    match fs::metadata(dir) {
        Ok(it) if it.is_dir() => Ok(()),
        Ok(_) => Err(Fail::usage(Problem::error(
            code,
            format!("`{}` is not a folder", dir.display()),
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Fail::usage(Problem::error(
            code,
            format!("there is no folder `{}`", dir.display()),
        ))),
        Err(error) => Err(unreadable(code, dir, &error)),
    }
}

fn unreadable(code: &'static str, path: &Path, error: &io::Error) -> Fail {
    let message = format!("`{}` cannot be read: {error}", path.display());
    Fail::usage(Problem::error(code, message))
}
