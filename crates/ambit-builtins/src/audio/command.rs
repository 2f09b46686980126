//! A program on this machine. It works on files of a folder of its own, gets what is said on its
//! standard input, and ends with the call.

use std::io;
use std::path::Path;
use std::process::Stdio;

use ambit_core::observation::Failure;
use ambit_runtime::process::Group;
use serde::Deserialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use super::MOST_AUDIO;
use crate::files::WholeFile;
use crate::shell::command_environment;

/// How much of what it prints is read.
const MOST_PRINTED: u64 = 1 << 20;
/// How much of what it complains about is quoted.
const QUOTED: usize = 400;

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Program {
    command: Vec<String>,
}

impl Program {
    pub(super) async fn transcribe(
        &self,
        file: &WholeFile,
        language: Option<&str>,
    ) -> Result<String, Failure> {
        let folder = folder()?;
        // Programs tell formats by the ending.
        let ending = file.path.extension().unwrap_or("audio".as_ref());
        let input = folder.path().join("input").with_extension(ending);
        tokio::fs::write(&input, &file.content)
            .await
            .map_err(lost)?;
        let argv = self.argv(&[
            ("{input}", &input.to_string_lossy()),
            ("{language}", language.unwrap_or("auto")),
        ]);
        let printed = run(&argv, folder.path(), "").await?;
        String::from_utf8(printed)
            .map_err(|_| Failure::provider("the configured program printed no text"))
    }

    pub(super) async fn speak(&self, text: &str, voice: Option<&str>) -> Result<Vec<u8>, Failure> {
        let folder = folder()?;
        let output = folder.path().join("output.wav");
        let argv = self.argv(&[
            ("{output}", &output.to_string_lossy()),
            ("{voice}", voice.unwrap_or("default")),
        ]);
        run(&argv, folder.path(), text).await?;
        let size = tokio::fs::metadata(&output).await.map(|it| it.len());
        match size {
            Ok(size) if (1..=MOST_AUDIO).contains(&size) => {
                tokio::fs::read(&output).await.map_err(lost)
            }
            Ok(size) => Err(Failure::provider(format!(
                "the configured program wrote {size} bytes of audio"
            ))),
            Err(_) => Err(Failure::provider(
                "the configured program wrote no audio; it has to write to `{output}`",
            )),
        }
    }

    fn argv(&self, places: &[(&str, &str)]) -> Vec<String> {
        let fill = |argument: &String| {
            places
                .iter()
                .fold(argument.clone(), |text, (place, value)| {
                    text.replace(place, value)
                })
        };
        self.command.iter().map(fill).collect()
    }
}

fn folder() -> Result<tempfile::TempDir, Failure> {
    tempfile::tempdir().map_err(lost)
}

fn lost(error: io::Error) -> Failure {
    Failure::provider(format!("a temporary file could not be used: {error}"))
}

/// Runs a program and returns what it printed.
async fn run(argv: &[String], folder: &Path, input: &str) -> Result<Vec<u8>, Failure> {
    let Some((program, rest)) = argv.split_first() else {
        return Err(Failure::refused("the configured command is empty"));
    };
    let mut group = Group::spawn(
        Command::new(program)
            .args(rest)
            .current_dir(folder)
            .env_clear()
            .envs(command_environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped()),
    )
    .map_err(|error| {
        Failure::provider(format!(
            "`{program}` could not be started: {error}; install it, or change the agent's `capabilities.audio`"
        ))
    })?;
    let stdin = group.stdin();
    let (stdout, stderr) = group.streams();
    let write = async {
        if let Some(mut stdin) = stdin {
            // It need not read.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
    };
    let (status, (), printed, complaint) =
        tokio::join!(group.ended(), write, drain(stdout), drain(stderr));
    let status =
        status.map_err(|error| Failure::provider(format!("`{program}` got lost: {error}")))?;
    if !status.success() {
        let complaint = String::from_utf8_lossy(&complaint);
        let tail: String = {
            let skip = complaint.chars().count().saturating_sub(QUOTED);
            complaint.chars().skip(skip).collect()
        };
        return Err(Failure::provider(format!(
            "`{program}` ended with {status}: {}",
            tail.trim()
        )));
    }
    Ok(printed)
}

/// Reads a stream to its end and keeps its beginning.
async fn drain(stream: Option<impl tokio::io::AsyncRead + Unpin>) -> Vec<u8> {
    let mut kept = Vec::new();
    if let Some(mut stream) = stream {
        let _ = (&mut stream)
            .take(MOST_PRINTED)
            .read_to_end(&mut kept)
            .await;
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    }
    kept
}
