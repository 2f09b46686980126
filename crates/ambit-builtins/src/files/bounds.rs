//! Where an agent's file tools may go.
//!
//! A path argument is taken apart twice. First lexically, component by component, to find the
//! folder it claims to be in: that gives clear refusals and no prefix collisions. Then it is
//! opened beneath a handle of that folder, where neither `..` nor a symlink leads out, not even
//! one put there between the check and the use. Only the second is relied on for safety.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use ambit_core::observation::Failure;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;
use thiserror::Error;

use super::control::ControlPaths;

/// Bounds that cannot be set up.
#[derive(Debug, Error)]
pub(crate) enum BoundsError {
    #[error("the workspace `{}` cannot be opened: {source}", path.display())]
    Workspace {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{}` in `dirs` cannot be opened: {source}", path.display())]
    Dir {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// The folders the tools may use, each held open.
#[derive(Debug)]
pub(crate) struct Bounds {
    /// The workspace's real path, which relative arguments start from.
    workspace: PathBuf,
    roots: Vec<Root>,
    pub(crate) control: ControlPaths,
    /// Held from reading a file until replacing it, so that two edits do not lose one.
    pub(crate) writing: Mutex<()>,
}

/// One allowed folder.
#[derive(Debug)]
pub(crate) struct Root {
    /// As configured: what an absolute argument may begin with.
    given: PathBuf,
    /// With symlinks resolved.
    pub(crate) real: PathBuf,
    pub(crate) dir: Dir,
}

impl Bounds {
    pub(crate) fn open(
        workspace: &Path,
        dirs: &[PathBuf],
        control: Vec<PathBuf>,
    ) -> Result<Self, BoundsError> {
        let unusable = |source| BoundsError::Workspace {
            path: workspace.to_owned(),
            source,
        };
        let given_workspace = std::path::absolute(workspace).map_err(unusable)?;
        let workspace = workspace.canonicalize().map_err(unusable)?;
        let mut roots = Vec::with_capacity(dirs.len());
        for path in dirs {
            let given = normal(&given_workspace.join(path));
            let root = Root::open(given).map_err(|source| BoundsError::Dir {
                path: path.clone(),
                source,
            })?;
            roots.push(root);
        }
        Ok(Bounds {
            workspace,
            roots: outermost(roots),
            control: ControlPaths::new(control),
            writing: Mutex::new(()),
        })
    }

    /// The place a path argument names, or why it is none.
    pub(crate) fn locate(&self, argument: &str) -> Result<Place<'_>, Failure> {
        if argument.is_empty() || argument.contains('\0') {
            return Err(Failure::refused(format!(
                "`{}` is not a path",
                argument.escape_default()
            )));
        }
        let path = normal(&self.workspace.join(argument));
        self.roots
            .iter()
            .find_map(|root| Some(self.place(root, root.inside(&path)?)))
            .ok_or_else(|| {
                Failure::refused(format!(
                    "`{}` is outside the allowed folders: {}",
                    shown(Path::new(argument)),
                    self.listed()
                ))
            })
    }

    /// Where a search starts: at the argument, or at every allowed folder.
    pub(crate) fn starts(&self, argument: Option<&str>) -> Result<Vec<Place<'_>>, Failure> {
        match argument {
            Some(argument) => Ok(vec![self.locate(argument)?]),
            None => Ok(self
                .roots
                .iter()
                .map(|root| self.place(root, PathBuf::from(".")))
                .collect()),
        }
    }

    /// A place by its path inside a root, which nothing has checked yet.
    pub(crate) fn place<'a>(&self, root: &'a Root, inside: PathBuf) -> Place<'a> {
        let whole = normal(&root.real.join(&inside));
        let shown = match whole.strip_prefix(&self.workspace) {
            Ok(relative) if relative.as_os_str().is_empty() => ".".to_owned(),
            Ok(relative) => shown(relative),
            Err(_) => shown(&whole),
        };
        Place {
            root,
            inside,
            shown,
        }
    }

    fn listed(&self) -> String {
        let roots: Vec<_> = self
            .roots
            .iter()
            .map(|root| format!("`{}`", shown(&root.real)))
            .collect();
        roots.join(", ")
    }
}

impl Root {
    fn open(given: PathBuf) -> io::Result<Self> {
        let real = given.canonicalize()?;
        let dir = Dir::open_ambient_dir(&real, ambient_authority())?;
        Ok(Root { given, real, dir })
    }

    /// The path below this root; `.` for the root itself.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let inside = path
            .strip_prefix(&self.real)
            .or_else(|_| path.strip_prefix(&self.given))
            .ok()?;
        Some(or_dot(inside))
    }
}

/// A path inside one of the allowed folders, not yet opened.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) root: &'a Root,
    /// Relative to the root, `.` for the root itself.
    pub(crate) inside: PathBuf,
    /// As the model knows it: relative to the workspace where it is in there.
    pub(crate) shown: String,
}

impl Place<'_> {
    /// Opens a regular file for reading.
    pub(crate) fn open_file(&self) -> Result<(File, Metadata), Failure> {
        open_regular(&self.root.dir, &self.inside).map_err(|error| match error {
            OpenError::Io(error) => self.failure(&error),
            OpenError::Folder => {
                Failure::refused(format!("`{}` is a folder, not a file", self.shown))
            }
            OpenError::Special => Failure::refused(format!(
                "`{}` is not a regular file (a pipe, socket or device)",
                self.shown
            )),
        })
    }

    /// The path with symlinks resolved, relative to the root.
    pub(crate) fn resolved(&self) -> io::Result<PathBuf> {
        let real = self.root.dir.canonicalize(&self.inside)?;
        Ok(or_dot(&normal(&real)))
    }

    /// What an error of the system means for this path.
    pub(crate) fn failure(&self, error: &io::Error) -> Failure {
        let shown = &self.shown;
        if led_outside(error) {
            return Failure::refused(format!(
                "`{shown}` leads outside the allowed folders through a symlink"
            ));
        }
        match error.kind() {
            io::ErrorKind::NotFound => Failure::provider(format!("`{shown}` does not exist")),
            io::ErrorKind::NotADirectory => Failure::provider(format!(
                "`{shown}`: a part of the path is a file, not a folder"
            )),
            _ => Failure::provider(format!("`{shown}`: {error}")),
        }
    }
}

/// Why a file was not opened.
pub(crate) enum OpenError {
    Io(io::Error),
    Folder,
    Special,
}

/// Opens a regular file beneath a folder. Anything else is refused without waiting for it: a
/// pipe nobody writes to would block for ever.
pub(crate) fn open_regular(dir: &Dir, path: &Path) -> Result<(File, Metadata), OpenError> {
    let mut options = OpenOptions::new();
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.read(true).custom_flags(flags.bits().cast_signed());
    let file = dir.open_with(path, &options).map_err(OpenError::Io)?;
    let metadata = file.metadata().map_err(OpenError::Io)?;
    if metadata.is_dir() {
        Err(OpenError::Folder)
    } else if metadata.is_file() {
        Ok((file, metadata))
    } else {
        Err(OpenError::Special)
    }
}

/// Whether an error is the refusal to leave a folder, and not the system's own "no".
fn led_outside(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

/// Without `.` and `..`, by the text alone. `..` at the top stays there.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                out.push(component);
            }
        }
    }
    out
}

fn or_dot(path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        path.to_owned()
    }
}

/// Without the roots that lie inside another, so that nothing is found twice.
fn outermost(roots: Vec<Root>) -> Vec<Root> {
    let mut kept: Vec<Root> = Vec::with_capacity(roots.len());
    for root in roots {
        if kept.iter().any(|it| root.real.starts_with(&it.real)) {
            continue;
        }
        kept.retain(|it| !it.real.starts_with(&root.real));
        kept.push(root);
    }
    kept
}

/// A path for a model to read: what is not UTF-8 replaced, control characters escaped, so that
/// a name cannot pass for several lines.
pub(crate) fn shown(path: &Path) -> String {
    let mut out = String::new();
    for c in path.to_string_lossy().chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}
