//! A workspace to try tools on, with something beside it that must stay out of reach.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use ambit_core::observation::{Failure, Output};
use serde_json::Value;
use tempfile::TempDir;

use super::bounds::Bounds;
use super::{TOOLS, Tool};
use crate::stop::Stop;

/// What no tool may ever bring back: the content of one file outside, the name of another.
pub(super) const CANARY: &str = "CANARY";

/// `allow/` is the workspace; `allow_secret/` and `outside/` lie beside it.
pub(super) struct Fixture {
    root: TempDir,
    pub(super) bounds: Bounds,
}

impl Fixture {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, &["."], &[])
    }

    pub(super) fn with(files: &[(&str, &str)], dirs: &[&str], control: &[&str]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let workspace = root.path().join("allow");
        fs::create_dir(&workspace).unwrap();
        for outside in ["allow_secret", "outside"] {
            put(&root.path().join(outside).join("key.txt"), CANARY);
            put(&root.path().join(outside).join(CANARY), "");
        }
        for (path, content) in files {
            put(&workspace.join(path), content);
        }
        let dirs: Vec<_> = dirs.iter().map(PathBuf::from).collect();
        let control = control.iter().map(|it| workspace.join(it)).collect();
        let bounds = Bounds::open(&workspace, &dirs, control).unwrap();
        Fixture { root, bounds }
    }

    /// A path in the workspace; `../outside` is the one beside it.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.path().join("allow").join(path)
    }

    pub(super) fn link(&self, at: &str, to: impl AsRef<Path>) {
        symlink(to, self.path(at)).unwrap();
    }

    pub(super) fn content(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.path(path))
            .unwrap()
            .map(|it| it.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    pub(super) fn call(&self, name: &str, arguments: Value) -> Result<Output, Failure> {
        let tool = TOOLS.iter().find(|it| it.name == name).unwrap();
        run(tool, &self.bounds, arguments)
    }

    /// The result as one text, or the refusal with its code before it.
    pub(super) fn text(&self, name: &str, arguments: Value) -> String {
        match self.call(name, arguments) {
            Ok(output) => {
                let parts: Vec<_> = output
                    .content
                    .iter()
                    .filter_map(|it| it.as_text())
                    .collect();
                parts.join("\n")
            }
            Err(failure) => format!("{}: {}", failure.code.as_str(), failure.message),
        }
    }
}

fn run(tool: &Tool, bounds: &Bounds, arguments: Value) -> Result<Output, Failure> {
    (tool.run)(bounds, arguments, &Stop::default())
}

fn put(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}
