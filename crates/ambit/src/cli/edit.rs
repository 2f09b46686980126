//! Editing an `ambit.json` from the command line: the text stays the person's, and a project's
//! file is trusted as written, for whoever typed this wrote it.

use std::path::{Path, PathBuf};

use ambit_core::digest::Digest;

use crate::cli::fail::Fail;
use crate::config::{Document, Problem, Source, errors, find_project};
use crate::places::{CONFIG_NAME, Places, private_directory};
use crate::takeover::{EditError, replace};
use crate::trust::{ProjectTrust, TrustStore};

/// Whose file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The user's.
    User,
    /// The project's here.
    Project,
}

/// A file that is about to be edited.
pub(crate) struct Editing<'a> {
    places: &'a Places,
    whose: Whose,
    pub(crate) path: PathBuf,
    /// What it says; nothing where it is not there yet.
    pub(crate) text: Option<String>,
}

impl<'a> Editing<'a> {
    /// Reads the file. One that is broken, or that nobody accepted, is not edited.
    pub(crate) fn open(
        places: &'a Places,
        whose: Whose,
        directory: &Path,
    ) -> Result<Editing<'a>, Fail> {
        let path = match whose {
            Whose::User => places.config_file().to_owned(),
            Whose::Project => match find_project(directory, places.config_file()) {
                Some(path) => path,
                None => directory.canonicalize()?.join(CONFIG_NAME),
            },
        };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                let message = format!("`{}` cannot be read: {error}", path.display());
                return Err(Problem::error("io", message).into());
            }
        };
        let editing = Editing {
            places,
            whose,
            path,
            text,
        };
        editing.check()?;
        Ok(editing)
    }

    fn check(&self) -> Result<(), Fail> {
        let Some(text) = &self.text else {
            return Ok(());
        };
        self.valid(text)?;
        if self.whose == Whose::User {
            return Ok(());
        }
        let digest = Digest::of_bytes(text.as_bytes());
        let trust = TrustStore::open(self.places)?.project_trust(&self.path, &digest)?;
        if trust == ProjectTrust::Trusted {
            return Ok(());
        }
        // Accepting what is written would accept the rest of it unread.
        let message = format!("`{}` has not been accepted as it is", self.path.display());
        Err(Problem::error("untrusted_project", message)
            .hint("read it, accept it with `ambit trust`, and run this again")
            .into())
    }

    fn valid(&self, text: &str) -> Result<(), Fail> {
        let errors = errors(Source::new(&self.path, text));
        match errors.is_empty() {
            true => Ok(()),
            false => Err(errors.into()),
        }
    }

    /// Writes the new text, if it can be used and the file is still the one that was read.
    pub(crate) fn write(&self, text: &str) -> Result<(), Fail> {
        self.valid(text)?;
        let target = self.path.canonicalize().unwrap_or(self.path.clone());
        if std::fs::read_to_string(&target).ok() != self.text {
            let message = format!("`{}` was edited meanwhile", self.path.display());
            return Err(Problem::error("changed", message)
                .hint("run this again")
                .into());
        }
        if std::fs::metadata(&target).is_ok_and(|it| it.permissions().readonly()) {
            let message = format!("`{}` is read-only", self.path.display());
            return Err(Problem::error("read_only", message)
                .hint("make it writable, or edit it yourself")
                .into());
        }
        if let (Whose::User, Some(folder)) = (self.whose, target.parent()) {
            private_directory(folder)?;
        }
        replace(&target, text.as_bytes()).map_err(|error| {
            let message = format!("`{}` cannot be written: {error}", self.path.display());
            Problem::error("io", message)
        })?;
        if self.whose == Whose::Project {
            let digest = Digest::of_bytes(text.as_bytes());
            TrustStore::open(self.places)?.accept_project(&self.path, &digest)?;
        }
        Ok(())
    }

    /// A file that cannot be edited.
    pub(crate) fn unusable(&self, error: EditError) -> Fail {
        let message = format!("`{}` cannot be edited: {error}", self.path.display());
        Problem::error("not_editable", message)
            .hint(
                "`mcpServers` has to be an object; `ambit check` says what is wrong with the file",
            )
            .into()
    }

    /// Whether it names agents: then a new server has to be granted.
    pub(crate) fn has_agents(&self) -> bool {
        let text = self.text.as_deref().unwrap_or("{}");
        let document = Document::parse(Source::new(&self.path, text));
        document.is_ok_and(|it| it.value.get("agents").is_some())
    }
}
