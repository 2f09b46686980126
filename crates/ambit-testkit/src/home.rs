//! A machine of its own for each test: home, state, data and workspace in one temporary folder,
//! and the binary run in it with nothing else in its environment.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A hermetic home.
pub struct Home {
    folder: TempDir,
    binary: PathBuf,
    environment: Vec<(String, String)>,
}

/// What a run of the binary printed.
#[derive(Clone, Debug)]
pub struct Run {
    /// The exit code; 255 when killed.
    pub code: i32,
    /// Data.
    pub stdout: String,
    /// The rest.
    pub stderr: String,
}

impl Run {
    /// Standard output as one JSON value.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The run, if it ended with this code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        self
    }
}

impl Home {
    /// Empty, for a binary: `env!("CARGO_BIN_EXE_ambit")`.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "work"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Home {
            folder,
            binary: binary.into(),
            environment: Vec::new(),
        }
    }

    /// The workspace.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// The home directory.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Where state is kept.
    pub fn state(&self) -> PathBuf {
        self.home().join(".local/state/ambit")
    }

    /// Where data is kept.
    pub fn data(&self) -> PathBuf {
        self.home().join(".local/share/ambit")
    }

    /// With a variable in the binary's environment.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.environment.push((name.to_owned(), value.into()));
    }

    /// Writes a file below the workspace.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        write(&self.work().join(path), text.as_ref())
    }

    /// Writes the user's own config.
    pub fn user_config(&self, text: &str) -> PathBuf {
        write(
            &self.home().join(".config/ambit/ambit.json"),
            text.as_bytes(),
        )
    }

    /// Runs the binary in the workspace.
    pub fn run(&self, arguments: &[&str]) -> Run {
        self.run_with(arguments, "")
    }

    /// Runs the binary with something on its standard input.
    pub fn run_with(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Run {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.as_ref().to_vec();
        // From a thread, so that a child that writes before it reads cannot block both.
        let feed = std::thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        feed.join().unwrap();
        Run {
            code: output.status.code().unwrap_or(255),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The command, ready to be spawned.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .current_dir(self.work())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LANG", "C.UTF-8")
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

fn write(path: &Path, text: &[u8]) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    path.to_owned()
}
