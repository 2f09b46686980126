//! Where things live: the user's config file, state and data directories.
//!
//! The environment comes in as an argument, so tests never touch the real home. Nothing is
//! created by asking; a directory is made, for its owner alone, when something is first
//! written into it.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use ambit_core::digest::Digest;
use thiserror::Error;

/// The name of a config file, the user's and a project's alike.
pub const CONFIG_NAME: &str = "ambit.json";

const PRIVATE: u32 = 0o700;

/// There is no telling where things live.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{variable}` and `HOME` are both unset or not absolute paths")]
pub struct NoHome {
    variable: &'static str,
}

/// The user's config file, state directory and data directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    home: Option<PathBuf>,
    config: PathBuf,
    state: PathBuf,
    data: PathBuf,
}

impl Places {
    /// From an environment: the XDG variables where set, otherwise their defaults below `HOME`.
    pub fn new(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Places, NoHome> {
        // The XDG specification: a relative path is invalid and to be ignored.
        let absolute = |name: &str| {
            variable(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let base = |name: &'static str, below_home: &str| {
            absolute(name)
                .or_else(|| absolute("HOME").map(|home| home.join(below_home)))
                .map(|base| base.join("ambit"))
                .ok_or(NoHome { variable: name })
        };
        Ok(Places {
            home: absolute("HOME"),
            config: base("XDG_CONFIG_HOME", ".config")?.join(CONFIG_NAME),
            state: base("XDG_STATE_HOME", ".local/state")?,
            data: base("XDG_DATA_HOME", ".local/share")?,
        })
    }

    /// From this process's environment.
    pub fn from_process() -> Result<Places, NoHome> {
        Places::new(&|name| std::env::var_os(name))
    }

    /// The user's home, where there is one.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The user's own config file.
    pub fn config_file(&self) -> &Path {
        &self.config
    }

    /// What accumulates: journal, trust, results.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// What is kept: secrets, the catalog cache.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The journal.
    pub fn journal(&self) -> PathBuf {
        self.state.join("journal.db")
    }

    /// The trust store.
    pub fn trust(&self) -> PathBuf {
        self.state.join("trust.db")
    }

    /// Results too large to hand over whole.
    pub fn results(&self) -> PathBuf {
        self.state.join("results")
    }

    /// The encrypted secrets.
    pub fn secrets(&self) -> PathBuf {
        self.data.join("secrets.age")
    }

    /// The key that opens them.
    pub fn secrets_key(&self) -> PathBuf {
        self.data.join("secrets.key")
    }

    /// What built-in capabilities keep for a workspace. The folder is called by its name, for
    /// people, and by its path, so that two of one name are two.
    pub fn workspace(&self, workspace: &Path) -> PathBuf {
        let digest = Digest::of_bytes(workspace.as_os_str().as_encoded_bytes());
        let name: String = workspace
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .chars()
            .map(|it| if it.is_alphanumeric() { it } else { '-' })
            .take(40)
            .collect();
        let folder = format!("{name}-{}", digest.short());
        self.data.join("workspaces").join(folder)
    }

    /// The last-seen descriptors of external servers.
    pub fn catalog(&self) -> PathBuf {
        self.data.join("catalog.db")
    }
}

/// Makes a directory, and what is missing above it, for its owner alone. One that is already
/// there keeps the permissions its owner gave it.
pub fn private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(PRIVATE).create(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[track_caller]
    fn check(environment: &[(&str, &str)], expected: Result<[&str; 3], &str>) {
        let variable = |name: &str| {
            let found = environment.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let places = Places::new(&variable);
        match (&places, expected) {
            (Ok(it), Ok(expected)) => assert_eq!(
                [it.config_file(), it.state(), it.data()],
                expected.map(Path::new)
            ),
            (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected),
            _ => panic!("{places:?}"),
        }
    }

    #[test]
    fn xdg_variables_win_over_home() {
        let defaults = [
            "/h/.config/ambit/ambit.json",
            "/h/.local/state/ambit",
            "/h/.local/share/ambit",
        ];
        check(&[("HOME", "/h")], Ok(defaults));
        check(&[("HOME", "/h"), ("XDG_STATE_HOME", "here")], Ok(defaults));
        check(
            &[("HOME", "/h"), ("XDG_STATE_HOME", "/s")],
            Ok([
                "/h/.config/ambit/ambit.json",
                "/s/ambit",
                "/h/.local/share/ambit",
            ]),
        );
        check(
            &[
                ("XDG_CONFIG_HOME", "/c"),
                ("XDG_STATE_HOME", "/s"),
                ("XDG_DATA_HOME", "/d"),
            ],
            Ok(["/c/ambit/ambit.json", "/s/ambit", "/d/ambit"]),
        );
        check(
            &[("XDG_CONFIG_HOME", "/c")],
            Err("`XDG_STATE_HOME` and `HOME` are both unset or not absolute paths"),
        );
    }

    #[test]
    fn directories_are_for_their_owner() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a/b");
        private_directory(&path).unwrap();
        private_directory(&path).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&temp.path().join("a"))), (0o700, 0o700));
    }
}
