//! `run_command`: one command, from its arguments to its result. A command that fails is a
//! result like any other; only one that could not run is a failure.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use ambit_core::observation::{Failure, Output};
use ambit_core::placeholder::PATTERN;
use ambit_runtime::process::Group;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::timeout;

use super::kept::Kept;
use super::pattern::Allowed;
use crate::declare::{arguments, object};

/// How long output is awaited once all of the group is dead. Only a process that left the group
/// can still hold it open.
const GRACE: Duration = Duration::from_secs(1);

pub(super) fn input() -> Value {
    object(
        &["command"],
        json!({
            "command": {
                "anyOf": [
                    {
                        "type": "array",
                        "items": { "type": "string", "maxLength": 131_072 },
                        "minItems": 1,
                        "maxItems": 1024,
                    },
                    { "type": "string", "minLength": 1, "maxLength": 131_072 },
                ],
                "description": "The program and its arguments, such as [\"cargo\", \"test\", \"--lib\"]. One string for a shell only where that was granted.",
            },
            "env": {
                "type": "object",
                "additionalProperties": { "type": "string", "pattern": PATTERN },
                "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" },
                "maxProperties": 16,
                "description": "Secrets for the command's environment: the variable, called like the secret, and the placeholder use_secret gave for it.",
            },
            "timeout_seconds": {
                "type": "integer", "minimum": 1, "maximum": 86_400,
                "description": "How long it may run. Default: as long as is allowed.",
            },
        }),
    )
}

pub(super) fn output() -> Value {
    object(
        &[
            "exitCode",
            "signal",
            "timedOut",
            "stdout",
            "stderr",
            "truncated",
        ],
        json!({
            "exitCode": {
                "type": ["integer", "null"],
                "description": "What it returned; null when a signal ended it.",
            },
            "signal": {
                "type": ["integer", "null"],
                "description": "The signal that ended it, if one did.",
            },
            "timedOut": { "type": "boolean", "description": "Whether it was ended because its time was up." },
            "stdout": { "type": "string", "description": "What it wrote to standard output." },
            "stderr": { "type": "string", "description": "What it wrote to standard error." },
            "truncated": {
                "type": "boolean",
                "description": "Whether the middle of an output was dropped because there was too much.",
            },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: CommandLine,
    #[serde(default)]
    env: BTreeMap<String, String>,
    timeout_seconds: Option<u64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum CommandLine {
    List(Vec<String>),
    Text(String),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finished {
    exit_code: Option<i32>,
    signal: Option<i32>,
    timed_out: bool,
    stdout: String,
    stderr: String,
    truncated: bool,
}

/// Runs the commands of one agent.
pub(super) struct Shell {
    pub(super) allowed: Allowed,
    pub(super) cwd: PathBuf,
    pub(super) environment: BTreeMap<OsString, OsString>,
    /// How long a command may run at most.
    pub(super) longest: Duration,
}

impl Shell {
    /// Runs one command. Dropping the future ends it and all it started.
    pub(super) async fn run(&self, value: Value) -> Result<Output, Failure> {
        let asked: Arguments = arguments(value)?;
        let limit = self.limit(asked.timeout_seconds)?;
        let argv = self.argv(asked.command)?;
        self.run_until(&argv, &asked.env, tokio::time::sleep(limit))
            .await
    }

    /// Runs an allowed command, at most until its time is up.
    pub(super) async fn run_until(
        &self,
        argv: &[String],
        secrets: &BTreeMap<String, String>,
        time_up: impl Future<Output = ()>,
    ) -> Result<Output, Failure> {
        let Some((program, rest)) = argv.split_first() else {
            return Err(Failure::refused("`command` is empty"));
        };
        let mut group = Group::spawn(
            Command::new(program)
                .args(rest)
                .current_dir(&self.cwd)
                .env_clear()
                .envs(&self.environment)
                .envs(secrets)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped()),
        )
        .map_err(|error| self.not_started(program, &error))?;
        finish(&mut group, time_up)
            .await
            .map(Finished::into_output)
            .map_err(|error| Failure::provider(format!("`{program}` got lost: {error}")))
    }

    fn limit(&self, seconds: Option<u64>) -> Result<Duration, Failure> {
        let limit = seconds.map_or(self.longest, Duration::from_secs);
        if limit > self.longest {
            return Err(Failure::refused(format!(
                "a command may run for {} seconds at most",
                self.longest.as_secs()
            )));
        }
        Ok(limit)
    }

    fn argv(&self, command: CommandLine) -> Result<Vec<String>, Failure> {
        let argv = match (command, &self.allowed) {
            (CommandLine::Text(text), Allowed::Everything) => {
                vec!["sh".to_owned(), "-c".to_owned(), text]
            }
            (CommandLine::Text(_), Allowed::Listed(_)) => {
                return Err(Failure::refused(
                    "a shell string is not granted here: give `command` as a list of the \
                     program and its arguments",
                ));
            }
            (CommandLine::List(argv), _) => argv,
        };
        if argv.iter().any(|it| it.contains('\0')) {
            return Err(Failure::refused("an argument cannot hold a NUL character"));
        }
        if !self.allowed.allows(&argv) {
            return Err(Failure::refused(format!(
                "`{}` is not allowed; commands that begin with these are: {}",
                argv.join(" ").escape_debug(),
                self.allowed.listed()
            )));
        }
        Ok(argv)
    }

    fn not_started(&self, program: &str, error: &io::Error) -> Failure {
        let cwd = self.cwd.display();
        match error.kind() {
            // The system says the same of a missing folder.
            io::ErrorKind::NotFound if !self.cwd.is_dir() => {
                Failure::provider(format!("the folder `{cwd}` commands run in is gone"))
            }
            io::ErrorKind::NotFound => Failure::provider(format!(
                "there is no program `{program}` on this machine's PATH; check its name, or ask \
                 for it to be installed"
            )),
            _ => Failure::provider(format!("`{program}` could not be started: {error}")),
        }
    }
}

/// Reads the output while the command runs, until all of it has ended.
async fn finish(group: &mut Group, time_up: impl Future<Output = ()>) -> io::Result<Finished> {
    let (mut stdout, mut stderr) = (Kept::default(), Kept::default());
    let (out, err) = group.streams();
    let ended = {
        let mut ended = pin!(end(group, time_up));
        let mut drained = pin!(async { tokio::join!(stdout.drain(out), stderr.drain(err)) });
        tokio::select! {
            ended = &mut ended => {
                let _ = timeout(GRACE, drained).await;
                ended
            }
            _ = &mut drained => ended.await,
        }
    }?;
    Ok(Finished {
        exit_code: ended.status.code(),
        signal: ended.status.signal(),
        timed_out: ended.timed_out,
        truncated: stdout.is_cut() || stderr.is_cut(),
        stdout: stdout.into_text(),
        stderr: stderr.into_text(),
    })
}

struct Ended {
    status: ExitStatus,
    timed_out: bool,
}

async fn end(group: &mut Group, time_up: impl Future<Output = ()>) -> io::Result<Ended> {
    let in_time = tokio::select! {
        status = group.ended() => Some(status?),
        () = time_up => None,
    };
    Ok(match in_time {
        Some(status) => Ended {
            status,
            timed_out: false,
        },
        None => {
            group.kill();
            Ended {
                status: group.ended().await?,
                timed_out: true,
            }
        }
    })
}

impl Finished {
    fn into_output(self) -> Output {
        let mut text = match (self.timed_out, self.exit_code, self.signal) {
            (true, ..) => "ended because its time was up\n".to_owned(),
            (false, Some(code), _) => format!("exit code {code}\n"),
            (false, None, Some(signal)) => format!("ended by signal {signal}\n"),
            (false, None, None) => "ended\n".to_owned(),
        };
        for (name, stream) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !stream.is_empty() {
                text.push_str(&format!("--- {name}\n{stream}"));
                if !stream.ends_with('\n') {
                    text.push('\n');
                }
            }
        }
        // Strings, numbers and booleans always serialize.
        let structured = serde_json::to_value(self).unwrap_or_default();
        Output::text(text).with_structured(structured)
    }
}
