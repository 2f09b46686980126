//! Whole results that were too large to hand over, kept as files that `read_result` pages.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::SystemTime;

use ambit_core::digest::Digest;
use ambit_core::intent::CallId;
use ambit_core::observation::{Content, Output, ResultRef};
use thiserror::Error;

use crate::random::random_word;

/// Oldest results go first when the folder grows past this.
const MOST_KEPT: u64 = 512 << 20;
/// And when there are more files than this.
const MOST_FILES: usize = 50_000;
/// So many outcomes are kept between two looks at how much there is.
const BETWEEN: u64 = 1_000;
/// Most bytes one page holds.
pub const PAGE: usize = 64 << 10;

/// Why a result cannot be kept or read.
#[derive(Debug, Error)]
pub enum ResultError {
    /// The file system says no.
    #[error("result store `{path}`: {source}")]
    Io {
        /// Where.
        path: PathBuf,
        /// What.
        source: std::io::Error,
    },
    /// No such result, or it belongs to another agent, or it has been cleared away.
    #[error("there is no result `{0}` to read")]
    Unknown(String),
}

/// One page of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The text.
    pub text: String,
    /// Where the next page starts; nothing at the end.
    pub next: Option<u64>,
    /// Bytes of the whole.
    pub total: u64,
}

/// Keeps results of all agents, each readable by its own agent only.
#[derive(Clone, Debug)]
pub struct ResultStore {
    folder: PathBuf,
    outcomes: Arc<AtomicU64>,
}

impl ResultStore {
    /// In this folder, created when first written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        ResultStore {
            folder: folder.into(),
            outcomes: Arc::default(),
        }
    }

    /// Keeps a whole result as text.
    pub fn store(&self, agent: &str, output: &Output) -> Result<ResultRef, ResultError> {
        let folder = self.folder.join(agent);
        let name = format!("r-{}", random_word(12));
        let path = folder.join(&name);
        let keep = || -> std::io::Result<()> {
            fs::create_dir_all(&folder)?;
            let mut file = fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)?;
            for block in &output.content {
                match block {
                    Content::Text(it) => file.write_all(it.text.as_bytes())?,
                    Content::Block(value) => file.write_all(value.to_string().as_bytes())?,
                }
                file.write_all(b"\n")?;
            }
            if let Some(structured) = &output.structured {
                file.write_all(structured.to_string().as_bytes())?;
                file.write_all(b"\n")?;
            }
            Ok(())
        };
        if let Err(source) = keep() {
            // Half a result must not be taken for a whole one.
            let _ = fs::remove_file(&path);
            return Err(ResultError::Io { path, source });
        }
        self.clear_old();
        Ok(ResultRef(name))
    }

    /// Keeps what came of a call under its name, for whoever asks again.
    pub fn keep(&self, agent: &str, call: &CallId, text: &str) -> std::io::Result<()> {
        let folder = self.folder.join(agent);
        fs::create_dir_all(&folder)?;
        let name = kept_name(call);
        // Half an outcome must not be taken for a whole one.
        let begun = folder.join(format!("{name}.part"));
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&begun)?;
        file.write_all(text.as_bytes())?;
        fs::rename(&begun, folder.join(&name))?;
        if self.outcomes.fetch_add(1, Relaxed) % BETWEEN == BETWEEN - 1 {
            self.clear_old();
        }
        Ok(())
    }

    /// What came of a call, if it is still kept.
    pub fn kept(&self, agent: &str, call: &CallId) -> Option<String> {
        fs::read_to_string(self.folder.join(agent).join(kept_name(call))).ok()
    }

    /// All of it, for somebody who is no model and has room for it.
    pub fn whole(&self, agent: &str, reference: &ResultRef) -> Result<String, ResultError> {
        let mut text = String::new();
        let mut offset = 0;
        loop {
            let page = self.read(agent, &reference.0, offset, PAGE)?;
            text.push_str(&page.text);
            match page.next {
                Some(next) => offset = next,
                None => return Ok(text),
            }
        }
    }

    /// One page, from a byte offset on. Pages end between characters.
    pub fn read(
        &self,
        agent: &str,
        reference: &str,
        offset: u64,
        limit: usize,
    ) -> Result<Page, ResultError> {
        let unknown = || ResultError::Unknown(reference.chars().take(40).collect());
        let plain = reference
            .strip_prefix("r-")
            .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphanumeric()));
        if !plain {
            return Err(unknown());
        }
        let path = self.folder.join(agent).join(reference);
        let mut file = fs::File::open(&path).map_err(|_| unknown())?;
        let io = |source| ResultError::Io {
            path: path.clone(),
            source,
        };
        let total = file.metadata().map_err(io)?.len();
        if offset >= total {
            return Ok(Page {
                text: String::new(),
                next: None,
                total,
            });
        }
        let limit = limit.clamp(4, PAGE);
        // Some file systems refuse to seek far past the end; there is nothing to read there anyway.
        let offset = offset.min(total);
        file.seek(SeekFrom::Start(offset)).map_err(io)?;
        let mut bytes = Vec::with_capacity(limit);
        file.take(limit as u64)
            .read_to_end(&mut bytes)
            .map_err(io)?;
        // A cut character at the end belongs to the next page.
        let whole = match std::str::from_utf8(&bytes) {
            Ok(_) => bytes.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => bytes.len(),
        };
        bytes.truncate(whole);
        let end = offset.saturating_add(whole as u64);
        let next = (whole > 0 && end < total).then_some(end);
        Ok(Page {
            text: String::from_utf8_lossy(&bytes).into_owned(),
            next,
            total,
        })
    }

    fn clear_old(&self) {
        let mut kept: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for agent in list(&self.folder) {
            for path in list(&agent) {
                if let Ok(meta) = fs::metadata(&path) {
                    kept.push((
                        meta.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                        meta.len(),
                        path,
                    ));
                }
            }
        }
        kept.sort();
        let mut total: u64 = kept.iter().map(|(_, size, _)| size).sum();
        let mut files = kept.len();
        for (_, size, path) in kept {
            if total <= MOST_KEPT && files <= MOST_FILES {
                break;
            }
            // Losing the race to another process is fine: it is gone either way.
            let _ = fs::remove_file(path);
            total -= size;
            files -= 1;
        }
    }
}

/// Of letters and digits only, whatever the call is named.
fn kept_name(call: &CallId) -> String {
    let digest = Digest::of_bytes(call.0.as_bytes());
    let bytes = digest.as_bytes().iter().take(16);
    bytes.fold("o-".to_owned(), |name, it| format!("{name}{it:02x}"))
}

fn list(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|it| it.path()).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_join_to_the_whole_and_keep_to_their_agent() {
        let folder = tempfile::tempdir().unwrap();
        let store = ResultStore::new(folder.path());
        let text = "grün".repeat(1000);
        let reference = store.store("a", &Output::text(text.clone())).unwrap();
        let (mut offset, mut whole) = (0, String::new());
        loop {
            let page = store.read("a", &reference.0, offset, 7).unwrap();
            whole.push_str(&page.text);
            match page.next {
                Some(next) => offset = next,
                None => break,
            }
        }
        assert_eq!(whole.trim_end(), text);
        for (agent, reference) in [
            ("b", reference.0.as_str()),
            ("a", "r-none"),
            ("a", "../a"),
            ("a", "r-../x"),
            ("a", ""),
        ] {
            assert!(
                matches!(
                    store.read(agent, reference, 0, 10),
                    Err(ResultError::Unknown(_))
                ),
                "{agent} {reference}"
            );
        }
        assert_eq!(
            store
                .read("a", &reference.0, u64::MAX / 2, 10)
                .unwrap()
                .text,
            ""
        );
    }
}
