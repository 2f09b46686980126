//! Running other programs, and telling how far we are.
//!
//! A task either shows a program's output as it comes ([`show`]), keeps it for when it is wanted
//! ([`capture`]), or reads it line by line ([`stream`]). A [`Step`] is one line of progress.

use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

/// Why a task stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A program could not be started.
    Start { program: String, source: io::Error },
    /// A program ended with an error; `output` is what it said, if that was not shown already.
    Exit { program: String, output: String },
    /// A file could not be read or written.
    File { path: PathBuf, source: io::Error },
    /// The task looked, and found this.
    Found(String),
    /// The task failed and has said so.
    Told,
}

impl Failure {
    /// For `map_err`: names the file.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { program, source } => write!(f, "`{program}` does not start: {source}"),
            Self::Exit { program, output } if output.is_empty() => write!(f, "`{program}` failed"),
            Self::Exit { program, output } => {
                write!(f, "`{program}` failed\n{}", output.trim_end())
            }
            Self::File { path, source } => write!(f, "`{}`: {source}", path.display()),
            Self::Found(what) => f.write_str(what),
            Self::Told => f.write_str("failed"),
        }
    }
}

/// The cargo that runs us, in the workspace.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root);
    cargo
}

/// Runs with the output shown as it comes.
pub(crate) fn show(mut command: Command) -> Result {
    let program = line(&command);
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::Exit {
            program,
            output: String::new(),
        }),
        Err(source) => Err(Failure::Start { program, source }),
    }
}

/// Runs silently and returns the standard output; a failure carries all that was said.
pub(crate) fn capture(mut command: Command) -> Result<String> {
    let program = line(&command);
    match command.stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) => {
            let said = [output.stdout, output.stderr].concat();
            Err(Failure::Exit {
                program,
                output: String::from_utf8_lossy(&said).into_owned(),
            })
        }
        Err(source) => Err(Failure::Start { program, source }),
    }
}

/// Runs and hands over each line of output as it comes, both streams in the order written.
pub(crate) fn stream(
    mut command: Command,
    mut each: impl FnMut(&str) -> Result,
) -> Result<ExitStatus> {
    let program = line(&command);
    let start = |source| Failure::Start {
        program: program.clone(),
        source,
    };
    let (reader, writer) = io::pipe().map_err(start)?;
    command
        .stdin(Stdio::null())
        .stdout(writer.try_clone().map_err(start)?)
        .stderr(writer);
    let mut child = command.spawn().map_err(start)?;
    // It holds our ends of the pipe, and while they are open the reader never ends.
    drop(command);

    let mut reader = BufReader::new(reader);
    let mut bytes = Vec::new();
    while reader.read_until(b'\n', &mut bytes).map_err(start)? > 0 {
        each(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']))?;
        bytes.clear();
    }
    child.wait().map_err(start)
}

/// The command as a person would type it.
fn line(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

/// One line of progress: the name at once, the outcome and the time when it is known.
pub(crate) struct Step {
    started: Instant,
}

impl Step {
    pub(crate) fn start(name: &str) -> Self {
        print!("  {name:<44} ");
        // Progress only: a closed terminal is no reason to stop.
        let _ = io::stdout().flush();
        Self {
            started: Instant::now(),
        }
    }

    pub(crate) fn end(self, outcome: &str) {
        println!("{outcome:<28} {}", seconds(self.started.elapsed()));
    }
}

fn seconds(time: Duration) -> String {
    format!("{:>6.1} s", time.as_secs_f64())
}
