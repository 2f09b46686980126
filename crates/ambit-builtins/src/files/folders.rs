//! Whole files in and out of the folders an agent was given, for built-ins that work with files
//! in other ways than by their text.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use ambit_core::observation::Failure;

use super::bounds::Bounds;
use super::replace::Target;
use crate::stop::Stop;

/// The folders of one agent.
pub(crate) struct Folders(Bounds);

/// A whole file.
pub(crate) struct WholeFile {
    /// As the model knows it.
    pub(crate) shown: String,
    /// Where it is.
    pub(crate) path: PathBuf,
    pub(crate) content: Vec<u8>,
}

impl Folders {
    /// These folders of a workspace; none named is all of it.
    pub(crate) fn open(
        workspace: &Path,
        dirs: Option<Vec<PathBuf>>,
        control_paths: Vec<PathBuf>,
    ) -> Result<Self, String> {
        let dirs = dirs.unwrap_or_else(|| vec![PathBuf::from(".")]);
        Bounds::open(workspace, &dirs, control_paths)
            .map(Folders)
            .map_err(|error| error.to_string())
    }

    /// A file of so many bytes at most.
    pub(crate) fn read(&self, path: &str, most: u64) -> Result<WholeFile, Failure> {
        let place = self.0.locate(path)?;
        let (file, metadata) = place.open_file()?;
        let too_large = || {
            Failure::refused(format!(
                "`{}` has {} bytes, and {most} is the most",
                place.shown,
                metadata.len()
            ))
        };
        if metadata.len() > most {
            return Err(too_large());
        }
        let mut content = Vec::new();
        // It may have grown since.
        file.take(most + 1)
            .read_to_end(&mut content)
            .map_err(|error| place.failure(&error))?;
        if content.len() as u64 > most {
            return Err(too_large());
        }
        Ok(WholeFile {
            path: place.root.real.join(&place.inside),
            shown: place.shown.clone(),
            content,
        })
    }

    /// Writes a file, replacing what is there. Says what it is called.
    pub(crate) fn write(&self, path: &str, content: &[u8], stop: &Stop) -> Result<String, Failure> {
        let place = self.0.locate(path)?;
        let _one_at_a_time = self.0.writing.lock();
        stop.check()?;
        Target::open(&self.0, &place)?.replace(content, stop)?;
        Ok(place.shown.clone())
    }
}
