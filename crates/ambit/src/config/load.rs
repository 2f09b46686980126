//! Reads the user's file and the project's, and either puts them together or says everything
//! that is wrong with both.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ambit_core::digest::Digest;
use ambit_core::id::skeleton;
use serde_json::Value;

use super::expand::{self, Lookups};
use super::file::{ConfigFile, Origin};
use super::jsonc::{Document, MAX_BYTES, Spot};
use super::merged::{Config, merge};
use super::problem::{Place, Problem, Severity, Source};
use super::{meaning, shape, untrusted};
use crate::places::{CONFIG_NAME, Places};
use crate::secrets::SecretValue;
use crate::trust::ProjectTrust;

/// What loading depends on, all of it.
pub struct Inputs<'a> {
    /// Where the user's file is.
    pub places: &'a Places,
    /// Where to look upward from for the project's.
    pub directory: &'a Path,
    /// Whether this file, canonical path and digest, has been accepted.
    pub trust: &'a dyn Fn(&Path, &Digest) -> ProjectTrust,
    /// The environment.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// The secrets; an error says why they cannot be read.
    pub secret: &'a dyn Fn(&str) -> Result<Option<SecretValue>, String>,
    /// A file, and what it is taken to say instead of what it says.
    pub instead: Option<(&'a Path, &'a str)>,
}

/// What was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Both files together.
    pub config: Config,
    /// The project's file, if there is one.
    pub project: Option<ProjectFile>,
    /// What was left out or does nothing.
    pub warnings: Vec<Problem>,
    /// What was filled in and must be kept out of whatever is written.
    pub sensitive: Vec<SecretValue>,
    /// What was read, the project's first.
    documents: Vec<Document>,
}

impl Loaded {
    /// Where an entry of the configuration stands, by its JSON pointer; where it stands in no
    /// file, the nearest entry around it that does.
    pub fn place(&self, pointer: &str, spot: Spot) -> Option<Place> {
        let mut pointer = pointer;
        loop {
            let mut found = self.documents.iter().map(|it| it.place(pointer, spot));
            match found.find_map(|it| it) {
                Some(place) => return Some(place),
                None => pointer = pointer.rsplit_once('/')?.0,
            }
        }
    }

    /// The files that were read, each with the digest of its bytes.
    pub fn digests(&self) -> impl Iterator<Item = (PathBuf, Digest)> {
        let sources = self.documents.iter().map(Document::source);
        let project = self.project.iter().map(|it| (it.path.clone(), it.digest));
        sources
            .map(|it| (it.path().to_owned(), it.digest()))
            .chain(project)
    }

    /// The files that were read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.documents.iter().map(|it| it.source().path())
    }
}

/// A project's file, as found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFile {
    /// Where it stands: in its directory's canonical path.
    pub path: PathBuf,
    /// The digest of its bytes.
    pub digest: Digest,
    /// Whether a person has accepted it.
    pub trust: ProjectTrust,
}

impl ProjectFile {
    /// Whether what it says counts in full.
    pub fn is_trusted(&self) -> bool {
        self.trust == ProjectTrust::Trusted
    }
}

/// The nearest config file in this directory or above it that is not the user's own.
pub fn find_project(directory: &Path, user_file: &Path) -> Option<PathBuf> {
    let own = user_file.canonicalize().ok();
    directory.ancestors().find_map(|directory| {
        let target = directory.join(CONFIG_NAME).canonicalize().ok()?;
        if own.as_ref() == Some(&target) {
            return None;
        }
        // A link keeps its own place. Were it known by its target, linking to an accepted file
        // would be enough to have it obeyed here.
        Some(directory.canonicalize().ok()?.join(CONFIG_NAME))
    })
}

/// Reads both files.
pub fn load(inputs: &Inputs<'_>) -> Result<Loaded, Vec<Problem>> {
    let mut reading = Reading {
        lookups: Lookups {
            variable: inputs.variable,
            secret: inputs.secret,
        },
        problems: Vec::new(),
        warnings: Vec::new(),
        sensitive: Vec::new(),
        documents: Vec::new(),
    };
    let read = |path: &Path| match inputs.instead {
        Some((instead, text)) if instead == path => Ok(text.as_bytes().to_vec()),
        _ => read(path),
    };
    let user_file = inputs.places.config_file();
    let user = match read(user_file) {
        Ok(bytes) => reading.trusted(user_file, &bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(ConfigFile::default()),
        Err(error) => reading.unreadable(user_file, &error),
    };
    let mut project = None;
    let project_file = match find_project(inputs.directory, user_file) {
        None => Some(ConfigFile::default()),
        Some(path) => match read(&path) {
            Err(error) => reading.unreadable(&path, &error),
            Ok(bytes) => {
                let digest = Digest::of_bytes(&bytes);
                let trust = (inputs.trust)(&path, &digest);
                let found = project.insert(ProjectFile {
                    path,
                    digest,
                    trust,
                });
                if found.is_trusted() {
                    reading.trusted(&found.path, &bytes)
                } else {
                    let user_mode = user.as_ref().and_then(|it| it.mode);
                    reading
                        .untrusted(found, &bytes)
                        .map(|it| untrusted::reduce(it, user_mode))
                }
            }
        },
    };
    let merged = user
        .zip(project_file)
        .map(|(user, project)| merge(user, project));
    reading.finish(merged, project)
}

/// What makes a file unusable on its own, before anything is filled in.
pub fn errors(source: Source) -> Vec<Problem> {
    let document = match Document::parse(source) {
        Ok(document) => document,
        Err(problems) => return problems,
    };
    let mut found = shape::check(&document);
    found.extend(meaning::check(&document));
    found.retain(|it| it.severity == Severity::Error);
    found
}

/// Reads a whole file, if it is one and not too large.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Before opening: opening a pipe would wait for its other end.
    let metadata = path.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

struct Reading<'a> {
    lookups: Lookups<'a>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    sensitive: Vec<SecretValue>,
    documents: Vec<Document>,
}

impl Reading<'_> {
    fn trusted(&mut self, path: &Path, bytes: &[u8]) -> Option<ConfigFile> {
        let (document, mut found) = self.checked(path, bytes)?;
        let value = match expand::expand(&document, &self.lookups) {
            Ok(expanded) => {
                self.sensitive.extend(expanded.sensitive);
                expanded.value
            }
            Err(problems) => {
                found.extend(problems);
                Value::Null
            }
        };
        self.typed(document, value, found)
    }

    fn untrusted(&mut self, project: &ProjectFile, bytes: &[u8]) -> Option<ConfigFile> {
        let (document, found) = self.checked(&project.path, bytes)?;
        let value = document.value.clone();
        let file = self.typed(document, value, found)?;
        self.warnings.push(untrusted::warning(project, &file));
        Some(file)
    }

    /// A document, and what is wrong with it before anything is filled in.
    fn checked(&mut self, path: &Path, bytes: &[u8]) -> Option<(Document, Vec<Problem>)> {
        match text(path, bytes).and_then(Document::parse) {
            Ok(document) => {
                let mut found = shape::check(&document);
                found.extend(meaning::check(&document));
                Some((document, found))
            }
            Err(problems) => {
                self.report(problems);
                None
            }
        }
    }

    /// The value as types, unless something was found to be wrong with it.
    fn typed(
        &mut self,
        document: Document,
        value: Value,
        mut found: Vec<Problem>,
    ) -> Option<ConfigFile> {
        let mut file = None;
        if !found.iter().any(|it| it.severity == Severity::Error) {
            file = serde_json::from_value(value).ok();
            if file.is_none() {
                // The little that fits the schema and not the types, `1e3` for a count. What
                // was filled in must not be quoted, so the reason comes from what stands there.
                let written = serde_json::from_value::<ConfigFile>(document.value.clone());
                let reason = written.err().map(|it| it.to_string()).unwrap_or_default();
                let problem = Problem::error("invalid", format!("this does not fit: {reason}"));
                found.push(problem.at(document.place("", Spot::Value)));
            }
        }
        self.report(found);
        let folder = document.source().path().parent().map(Path::to_owned);
        self.documents.insert(0, document);
        file.map(|it: ConfigFile| it.beside(folder.as_deref()))
    }

    fn unreadable(&mut self, path: &Path, error: &io::Error) -> Option<ConfigFile> {
        let path = path.display();
        self.problems
            .push(if error.kind() == io::ErrorKind::FileTooLarge {
                let message = format!("`{path}` is larger than {} MiB", MAX_BYTES >> 20);
                Problem::error("file_too_large", message)
            } else {
                Problem::error(
                    "file_unreadable",
                    format!("`{path}` cannot be read: {error}"),
                )
            });
        None
    }

    /// Files problems by severity, in the order of the file.
    fn report(&mut self, mut problems: Vec<Problem>) {
        problems.sort_by_key(|it| it.at.as_ref().map_or(0, |at| at.range.start));
        for problem in problems {
            match problem.severity {
                Severity::Error => self.problems.push(problem),
                Severity::Warning => self.warnings.push(problem),
            }
        }
    }

    fn finish(
        mut self,
        merged: Option<Config>,
        project: Option<ProjectFile>,
    ) -> Result<Loaded, Vec<Problem>> {
        match merged {
            Some(config) if self.problems.is_empty() => {
                let loaded = Loaded {
                    config,
                    project,
                    warnings: std::mem::take(&mut self.warnings),
                    sensitive: self.sensitive,
                    documents: self.documents,
                };
                match look_alikes(&loaded) {
                    problems if problems.is_empty() => Ok(loaded),
                    problems => Err(problems),
                }
            }
            _ => {
                self.problems.append(&mut self.warnings);
                Err(self.problems)
            }
        }
    }
}

fn text(path: &Path, bytes: &[u8]) -> Result<Source, Vec<Problem>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(path, text)),
        Err(error) => {
            // The text up to the first bad byte is unchanged, and so is that byte's place.
            let source = Source::new(path, String::from_utf8_lossy(bytes));
            let at = error.valid_up_to();
            Err(vec![
                Problem::error("not_utf8", "this byte is not UTF-8")
                    .at(source.place(at..at))
                    .hint("save the file as UTF-8"),
            ])
        }
    }
}

/// A project's server whose name a person could mistake for one of the user's. Within one file
/// this has been checked.
fn look_alikes(loaded: &Loaded) -> Vec<Problem> {
    let servers = || loaded.config.mcp_servers.iter();
    let of = |origin: Origin| servers().filter(move |(_, it)| it.origin == origin);
    let mut problems = Vec::new();
    for (name, _) in of(Origin::Project) {
        let other = of(Origin::User).find(|(user, _)| skeleton(user) == skeleton(name));
        if let Some((other, _)) = other {
            let pointer = super::jsonc::child("/mcpServers", name);
            problems.push(
                Problem::error(
                    "names_look_alike",
                    format!("the project's server `{name}` looks like your `{other}`"),
                )
                .at(loaded.place(&pointer, Spot::Key))
                .hint("give it another name"),
            );
        }
    }
    problems
}
