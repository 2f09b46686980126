//! The files beside the database, which a person can open: notes, and what agents write about
//! themselves. They go out and come back with the rest.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::{NAME, Store, StoreError};

/// Files by their path in the store's folder, with `/` between folders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Files(pub BTreeMap<String, FileText>);

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FileText {
    /// Text, as it is.
    Text(String),
    /// Anything else.
    Bytes {
        /// Encoded.
        base64: String,
    },
}

impl Store {
    /// All files beside the database.
    pub fn export_files(&self) -> Result<Files, StoreError> {
        let mut files = BTreeMap::new();
        collect(self.folder(), "", &mut files).map_err(|error| self.unusable(&error))?;
        Ok(Files(files))
    }

    /// Puts files back. Those of the same path are replaced; others stay. Says how many.
    pub fn import_files(&self, files: &Files) -> Result<usize, StoreError> {
        // Looked at before the first is written.
        let contents = files
            .0
            .iter()
            .map(|(path, text)| Ok((place(path)?, content(path, text)?)))
            .collect::<Result<Vec<_>, StoreError>>()?;
        for (path, content) in &contents {
            let path = self.folder().join(path);
            write(&path, content).map_err(|error| self.unusable(&error))?;
        }
        Ok(contents.len())
    }

    fn unusable(&self, error: &io::Error) -> StoreError {
        StoreError::Unusable {
            path: self.folder().to_owned(),
            message: error.to_string(),
        }
    }
}

fn collect(folder: &Path, below: &str, files: &mut BTreeMap<String, FileText>) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        // A name that is not text cannot have been made by a capability.
        let Some(name) = name.to_str() else { continue };
        if below.is_empty() && name.starts_with(NAME) {
            continue;
        }
        let kind = entry.file_type()?;
        let path = format!("{below}{name}");
        if kind.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file() {
            let text = match String::from_utf8(fs::read(entry.path())?) {
                Ok(text) => FileText::Text(text),
                Err(error) => FileText::Bytes {
                    base64: STANDARD.encode(error.as_bytes()),
                },
            };
            files.insert(path, text);
        }
    }
    Ok(())
}

/// A path inside the folder, and not the database.
fn place(path: &str) -> Result<PathBuf, StoreError> {
    let inside = Path::new(path);
    let plain = inside
        .components()
        .all(|it| matches!(it, Component::Normal(_)));
    if path.is_empty() || !plain || path.starts_with(NAME) {
        return Err(StoreError::Import(format!(
            "`{path}` is not the path of a file that is kept here"
        )));
    }
    Ok(inside.to_owned())
}

fn content(path: &str, text: &FileText) -> Result<Vec<u8>, StoreError> {
    match text {
        FileText::Text(text) => Ok(text.clone().into_bytes()),
        FileText::Bytes { base64 } => STANDARD
            .decode(base64)
            .map_err(|error| StoreError::Import(format!("`{path}` cannot be read: {error}"))),
    }
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut draft = tempfile::NamedTempFile::new_in(folder)?;
    draft.write_all(content)?;
    draft.as_file().sync_all()?;
    draft.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_go_out_and_come_back() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (path, text) in [
            ("data.db", &b"not this"[..]),
            ("data.db-wal", b"nor this"),
            ("notes/a/plan.md", "# größer".as_bytes()),
            ("agents/a/skills/x/logo.png", b"\xff\xfe"),
        ] {
            let path = here.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        symlink("/etc/passwd", here.path().join("notes/link.md")).unwrap();
        let files = Store::at(here.path()).export_files().unwrap();
        let names: Vec<&str> = files.0.keys().map(String::as_str).collect();
        assert_eq!(names, ["agents/a/skills/x/logo.png", "notes/a/plan.md"]);
        let text = serde_json::to_string(&files).unwrap();
        let to = Store::at(there.path());
        assert_eq!(
            to.import_files(&serde_json::from_str(&text).unwrap())
                .unwrap(),
            2
        );
        assert_eq!(to.export_files().unwrap(), files);
    }

    #[test]
    fn no_file_leaves_the_folder_or_becomes_the_database() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        for path in [
            "",
            "../x",
            "/etc/x",
            "a/../../x",
            "./x",
            "data.db",
            "data.db-wal",
        ] {
            let good = ("good.md".to_owned(), FileText::Text("x".to_owned()));
            let bad = (path.to_owned(), FileText::Text("x".to_owned()));
            let error = store.import_files(&Files([good, bad].into())).unwrap_err();
            assert!(
                error.to_string().contains("is not the path"),
                "{path}: {error}"
            );
            assert!(!folder.path().join("good.md").exists(), "{path}");
        }
    }
}
