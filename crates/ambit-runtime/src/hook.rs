//! Hooks look at a permitted call before it runs and at its result before anyone sees it. A hook
//! may refuse or annotate; it can neither change a call nor allow one.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use ambit_core::code::Code;
use ambit_core::event::HookStage;
use ambit_core::id::CapabilityId;
use ambit_core::observation::{Denial, Output};
use ambit_core::permission::Subject;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use crate::process::Group;

/// A hook's answer is one short JSON object; more than this is nonsense.
const MOST_ANSWER: u64 = 64 << 10;

/// What a hook looks at.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HookCall<'a> {
    /// When.
    pub stage: HookStage,
    /// For whom.
    pub agent: &'a str,
    /// In which session.
    pub session: &'a str,
    /// Which call.
    pub call: &'a str,
    /// Which capability.
    pub id: &'a CapabilityId,
    /// With what, known secrets taken out.
    pub arguments: &'a Value,
    /// What it brought, after it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<&'a Output>,
}

/// What a hook says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookVerdict {
    /// No objection, perhaps a note for the caller.
    Pass {
        /// The note.
        note: Option<String>,
    },
    /// It must not run, or its result must not be seen.
    Refuse(Denial),
}

/// Looks at calls.
#[async_trait]
pub trait Hook: Send + Sync {
    /// For messages.
    fn name(&self) -> &str;

    /// Whether it wants to see a call of this capability at this stage.
    fn wants(
        &self,
        stage: HookStage,
        capability: &ambit_core::descriptor::CapabilityDescriptor,
    ) -> bool;

    /// Looks at a call.
    async fn look(&self, call: &HookCall<'_>) -> HookVerdict;
}

/// A program: the call as JSON on stdin, `{"decision":"pass"|"refuse","reason":…,"note":…}` on
/// stdout, within a deadline. One that hangs, fails or answers nonsense refuses: a broken guard
/// is a closed door.
#[derive(Clone, Debug)]
pub struct CommandHook {
    /// For messages.
    pub name: String,
    /// When it looks.
    pub stage: HookStage,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where it runs: the workspace.
    pub directory: PathBuf,
    /// How long it may take.
    pub timeout: Duration,
    /// What it wants to see; everything where empty.
    pub only: Vec<Subject>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    decision: Decision,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    note: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Decision {
    Pass,
    Refuse,
}

#[async_trait]
impl Hook for CommandHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn wants(
        &self,
        stage: HookStage,
        capability: &ambit_core::descriptor::CapabilityDescriptor,
    ) -> bool {
        self.stage == stage
            && (self.only.is_empty() || self.only.iter().any(|it| it.covers(capability)))
    }

    async fn look(&self, call: &HookCall<'_>) -> HookVerdict {
        let broken = |why: String| {
            HookVerdict::Refuse(Denial::new(
                Code::HookFailed,
                format!("the hook `{}` {why}; a broken hook refuses", self.name),
            ))
        };
        let Ok(input) = serde_json::to_vec(call) else {
            return broken("could not be given the call".to_owned());
        };
        let text = match tokio::time::timeout(self.timeout, self.run(input)).await {
            Err(_) => return broken(format!("did not answer within {:?}", self.timeout)),
            Ok(Err(why)) => return broken(why),
            Ok(Ok(text)) => text,
        };
        match serde_json::from_slice::<Answer>(&text) {
            Err(_) => broken("answered something other than a decision".to_owned()),
            Ok(Answer {
                decision: Decision::Pass,
                note,
                ..
            }) => HookVerdict::Pass { note },
            Ok(Answer { reason, .. }) => {
                let reason = reason.unwrap_or_else(|| "no reason given".to_owned());
                HookVerdict::Refuse(Denial::new(
                    Code::HookRefused,
                    format!("the hook `{}` refused: {reason}", self.name),
                ))
            }
        }
    }
}

impl CommandHook {
    async fn run(&self, input: Vec<u8>) -> Result<Vec<u8>, String> {
        let (program, arguments) = self.command.split_first().ok_or("has no command")?;
        let mut group = Group::spawn(
            Command::new(program)
                .args(arguments)
                .current_dir(&self.directory)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null()),
        )
        .map_err(|error| format!("could not be started (`{program}`: {error})"))?;
        let stdin = group.stdin();
        let feed = async move {
            if let Some(mut stdin) = stdin {
                // A hook that does not read its input may still answer.
                let _ = stdin.write_all(&input).await;
            }
        };
        let (stdout, _) = group.streams();
        let read = async move {
            let mut text = Vec::new();
            if let Some(stdout) = stdout {
                let read = stdout.take(MOST_ANSWER).read_to_end(&mut text).await;
                read.map_err(|error| format!("could not be read ({error})"))?;
            }
            Ok::<_, String>(text)
        };
        let ((), text) = tokio::join!(feed, read);
        let status = group
            .ended()
            .await
            .map_err(|error| format!("could not be waited for ({error})"))?;
        if status.success() {
            text
        } else {
            Err(format!("ended with {status}"))
        }
    }
}
