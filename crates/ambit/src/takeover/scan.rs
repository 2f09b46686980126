//! Reads what clients have configured. A file that cannot be read or understood is a finding,
//! not an error: it is reported and left alone.

use std::fs;
use std::io;
use std::path::Path;

use ambit_core::digest::Digest;
use serde_json::Value;

use super::clients::{ClientFile, Syntax};
use super::dialect::{FoundServer, read_server};
use crate::config::{Document, Source};

/// Largest file looked at; clients that keep their history beside their settings stay below.
const MAX_BYTES: u64 = 64 << 20;

/// A place and what stands there.
#[derive(Clone, Debug)]
pub struct Scanned {
    /// The place.
    pub file: ClientFile,
    /// What became of reading it.
    pub state: FileState,
}

/// What became of reading a client's file.
#[derive(Clone, Debug)]
pub enum FileState {
    /// It is not there.
    Absent,
    /// It cannot be used, and why.
    Unusable(String),
    /// It was read.
    Read {
        /// Of its bytes.
        digest: Digest,
        /// Its text.
        text: String,
        /// Its servers, in the order of their names.
        servers: Vec<FoundServer>,
    },
}

impl Scanned {
    /// The servers in it.
    pub fn servers(&self) -> &[FoundServer] {
        match &self.state {
            FileState::Read { servers, .. } => servers,
            FileState::Absent | FileState::Unusable(_) => &[],
        }
    }
}

/// Reads every place.
pub fn scan(files: Vec<ClientFile>) -> Vec<Scanned> {
    files.into_iter().map(scan_file).collect()
}

/// Reads one place.
pub fn scan_file(file: ClientFile) -> Scanned {
    let state = match read(&file.path) {
        Ok(None) => FileState::Absent,
        Err(why) => FileState::Unusable(why),
        Ok(Some(text)) => match servers(&file, &text) {
            Err(why) => FileState::Unusable(why),
            Ok(servers) => FileState::Read {
                digest: Digest::of_bytes(text.as_bytes()),
                text,
                servers,
            },
        },
    };
    Scanned { file, state }
}

fn read(path: &Path) -> Result<Option<String>, String> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_absence(&error) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if !metadata.is_file() {
        return Err("it is not a file".to_owned());
    }
    if metadata.len() > MAX_BYTES {
        return Err(format!("it is larger than {} MiB", MAX_BYTES >> 20));
    }
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    Ok(Some(text))
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn servers(file: &ClientFile, text: &str) -> Result<Vec<FoundServer>, String> {
    let value = parse(file.syntax, text)?;
    let section = file
        .section
        .iter()
        .try_fold(&value, |value, key| value.get(key));
    match section {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(entries)) => Ok(entries
            .iter()
            .map(|(name, entry)| read_server(file.client, name, entry))
            .collect()),
        Some(_) => Err(format!("`{}` is not an object", file.section.join("."))),
    }
}

/// A file's value. The message names the place and quotes nothing: what stands there may be a
/// secret.
pub(super) fn parse(syntax: Syntax, text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    match syntax {
        Syntax::Json => Document::parse(Source::new("", text))
            .map(|it| it.value)
            .map_err(|problems| match problems.first() {
                Some(problem) => match &problem.at {
                    Some(at) => format!("line {}: {problem}", at.line),
                    None => problem.to_string(),
                },
                None => "it is not JSON".to_owned(),
            }),
        Syntax::Toml => super::toml::parse(text),
        Syntax::Yaml => super::yaml::parse(text),
    }
}
