//! A home that is thrown away, so that a client finds nothing of whoever runs this and leaves
//! nothing behind.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::run::{Failure, Result};

/// A client that takes so long hangs.
const HANGS: Duration = Duration::from_secs(120);
const LOOK: Duration = Duration::from_millis(50);

static HOMES: AtomicUsize = AtomicUsize::new(0);

pub(crate) struct Home {
    folder: PathBuf,
}

impl Home {
    pub(crate) fn new() -> Result<Self> {
        let number = HOMES.fetch_add(1, Ordering::Relaxed);
        let name = format!("ambit-client-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).map_err(Failure::file(&folder))?;
        Ok(Home { folder })
    }

    /// Writes a file; home and workspace are one.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.folder.join(name);
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder).map_err(Failure::file(folder))?;
        fs::write(&path, text).map_err(Failure::file(&path))?;
        Ok(path)
    }

    /// Lets a program know of this home and of little else.
    pub(crate) fn confine(&self, command: &mut Command) {
        command
            .current_dir(&self.folder)
            .env_clear()
            .env("HOME", &self.folder)
            .env("LANG", "C.UTF-8")
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    }

    /// Runs a program to its end, or until it is clear that there will be none; what it said.
    pub(crate) fn run(&self, mut command: Command) -> Result<String> {
        let program = command.get_program().to_string_lossy().into_owned();
        let said = self.folder.join("said");
        let file = File::create(&said).map_err(Failure::file(&said))?;
        let errors = file.try_clone().map_err(Failure::file(&said))?;
        let mut child = command
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(errors)
            .spawn()
            .map_err(|source| Failure::Start {
                program: program.clone(),
                source,
            })?;
        let begun = Instant::now();
        let ended = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                _ if begun.elapsed() > HANGS => break None,
                _ => std::thread::sleep(LOOK),
            }
        };
        if ended.is_none() {
            // It may have ended in this moment.
            let _ = child.kill();
            let _ = child.wait();
        }
        let output = last(&said);
        match ended {
            Some(status) if status.success() => Ok(output),
            Some(_) => Err(Failure::Exit { program, output }),
            None => Err(Failure::Found(format!("`{program}` hangs\n{output}"))),
        }
    }
}

/// The end of what a program said, which is where it says why.
fn last(file: &Path) -> String {
    const LINES: usize = 30;
    let said = fs::read(file).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().collect();
    let from = lines.len().saturating_sub(LINES);
    lines.get(from..).unwrap_or_default().join("\n")
}

impl Drop for Home {
    fn drop(&mut self) {
        // A client's last child may still write; what is left is in the temporary folder.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
