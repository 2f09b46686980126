//! One client's file with its servers replaced by Ambit, and the check that nothing else changed.

use std::path::{Path, PathBuf};

use ambit_core::digest::Digest;
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::clients::{ClientFile, ClientId, Scope, Syntax};
use super::{OWN_NAME, json, scan, toml, yaml};

/// Why a file cannot be edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EditError {
    /// It cannot be parsed.
    #[error("it cannot be parsed")]
    Malformed,
    /// It is laid out in a way that cannot be edited without touching the rest.
    #[error("it is laid out in a way that cannot be edited safely")]
    Layout,
}

/// A planned edit of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewire {
    /// Whose file.
    pub client: ClientId,
    /// The file, as the client finds it.
    pub path: PathBuf,
    /// How it is written.
    pub syntax: Syntax,
    /// The keys that lead to its servers.
    pub section: Vec<String>,
    /// What it must still be when it is edited.
    pub expected: Digest,
    /// Its text now.
    pub before: String,
    /// Its text afterwards, or why there is none.
    pub after: Result<String, EditError>,
    /// The servers that go.
    pub taken: Vec<String>,
}

/// A text with some of a section's servers replaced by Ambit. It says exactly that, or it is not
/// made.
pub(super) fn rewired(
    file: &ClientFile,
    text: &str,
    taken: &[&str],
    binary: &Path,
) -> Result<String, EditError> {
    let path: Vec<&str> = file.section.iter().map(String::as_str).collect();
    let entry = entry(file, binary);
    let own = (OWN_NAME, entry.as_slice());
    let after = match file.syntax {
        Syntax::Json => json::rewire(text, &path, taken, own)?,
        Syntax::Toml => toml::rewire(text, &path, taken, own)?,
        Syntax::Yaml => yaml::rewire(text, &path, taken, own)?,
    };
    let parse = |text: &str| scan::parse(file.syntax, text).map_err(|_| EditError::Layout);
    let mut expected = parse(text)?;
    let section = section(&mut expected, &path).ok_or(EditError::Layout)?;
    section.retain(|name, _| !taken.contains(&name.as_str()));
    section.insert(
        OWN_NAME.to_owned(),
        Value::Object(entry.into_iter().collect()),
    );
    match parse(&after)? == expected {
        true => Ok(after),
        false => Err(EditError::Layout),
    }
}

/// A text with Ambit replaced by servers an earlier text had, where Ambit stands as it was
/// written. A server of one of their names that is there by now stays.
pub(super) fn put_back(
    syntax: Syntax,
    path: &[&str],
    before: &str,
    after: &str,
    now: &str,
) -> Result<String, EditError> {
    let parse = |text: &str| scan::parse(syntax, text).map_err(|_| EditError::Malformed);
    let (mut old, mut written, mut expected) = (parse(before)?, parse(after)?, parse(now)?);
    let old = section(&mut old, path).ok_or(EditError::Layout)?;
    let written = section(&mut written, path).ok_or(EditError::Layout)?;
    let current = section(&mut expected, path).ok_or(EditError::Layout)?;
    let own = current.remove(OWN_NAME);
    if own.is_none() || own.as_ref() != written.get(OWN_NAME) {
        return Err(EditError::Layout);
    }
    let gone = |name: &&str| !written.contains_key(*name) || *name == OWN_NAME;
    let names: Vec<&str> = old.keys().map(String::as_str).filter(gone).collect();
    let names: Vec<&str> = names
        .into_iter()
        .filter(|it| !current.contains_key(*it))
        .collect();
    for name in &names {
        current.extend(
            old.get_key_value(*name)
                .map(|(k, v)| (k.clone(), v.clone())),
        );
    }
    let text = match syntax {
        Syntax::Json => json::put_back(now, path, before, &names)?,
        Syntax::Toml => toml::put_back(now, path, before, &names)?,
        Syntax::Yaml => yaml::put_back(now, path, before, &names)?,
    };
    match parse(&text)? == expected {
        true => Ok(text),
        false => Err(EditError::Layout),
    }
}

fn section<'a>(value: &'a mut Value, path: &[&str]) -> Option<&'a mut Map<String, Value>> {
    let mut object = value.as_object_mut()?;
    for step in path {
        let inner = object
            .entry((*step).to_owned())
            .or_insert_with(|| json!({}));
        object = inner.as_object_mut()?;
    }
    Some(object)
}

/// Ambit as this client writes a server.
fn entry(file: &ClientFile, binary: &Path) -> Vec<(String, Value)> {
    // A shared file works on more machines than this one.
    let command = match file.scope {
        Scope::User | Scope::Local => binary.to_string_lossy().into_owned(),
        Scope::Project => OWN_NAME.to_owned(),
    };
    let members = match file.client {
        ClientId::ClaudeCode | ClientId::VsCode => vec![
            ("type", json!("stdio")),
            ("command", json!(command)),
            ("args", json!(["mcp"])),
        ],
        ClientId::Opencode => vec![
            ("type", json!("local")),
            ("command", json!([command, "mcp"])),
            ("enabled", json!(true)),
        ],
        ClientId::Goose => vec![
            ("enabled", json!(true)),
            ("type", json!("stdio")),
            ("name", json!(OWN_NAME)),
            (
                "description",
                json!("Everything Ambit has, behind one server"),
            ),
            ("cmd", json!(command)),
            ("args", json!(["mcp"])),
            ("timeout", json!(300)),
        ],
        ClientId::ClaudeDesktop
        | ClientId::Cursor
        | ClientId::Windsurf
        | ClientId::Codex
        | ClientId::GeminiCli
        | ClientId::Zed => vec![("command", json!(command)), ("args", json!(["mcp"]))],
    };
    let members = members.into_iter();
    members
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}
