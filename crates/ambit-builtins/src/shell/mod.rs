//! `shell`: running the commands an agent was given.

mod environment;
mod kept;
mod pattern;
mod run;

#[cfg(test)]
mod running;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ambit_core::effects::{Effect, Effects};
use ambit_core::manifest::CapabilityManifest;
use ambit_core::observation::{Failure, Output};
use ambit_core::placeholder::SecretField;
use ambit_runtime::executor::{CapabilityExecutor, StartedCall};
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::declare::{Declaration, object};
use pattern::{Allowed, Pattern};
use run::Shell;

const KEY: &str = "shell";
const SUMMARY: &str = "Run the commands it is given, in the workspace.";
const USUAL_SECONDS: u64 = 600;

/// What a command may do: it is another program, so anything.
const EFFECTS: Effects = Effects::WRITES
    .with(Effect::Destructive)
    .with(Effect::OpenWorld)
    .with(Effect::Egress);

fn run_command() -> Declaration {
    Declaration {
        owner: KEY,
        name: "run_command",
        title: "Run command",
        description: "Run a command in the workspace and return its exit code and output. \
            The command is a list of the program and its arguments, passed as they are: no \
            shell reads them, so `*`, `|`, `>`, `&&` and `$X` mean nothing. Only allowed \
            commands run; a refusal names them. A command has no input, and whatever it leaves \
            running is ended with it.",
        effects: EFFECTS,
        permissions: &["proc:exec"],
        tags: &["shell", "process"],
        input: run::input(),
        output: Some(run::output()),
        pack_summary: SUMMARY,
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct ShellConfig {
    allow: Vec<Pattern>,
    shell_string: bool,
    cwd: Option<PathBuf>,
    env: BTreeMap<String, String>,
    timeout_seconds: Option<u64>,
}

/// What a program inherits from our environment where nothing else is configured.
pub(crate) fn command_environment() -> BTreeMap<OsString, OsString> {
    environment::of(std::env::vars_os(), &BTreeMap::new())
}

/// Makes `shell` grantable.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShellResolver;

#[async_trait]
impl CapabilityResolver for ShellResolver {
    fn key(&self) -> &str {
        KEY
    }

    fn summary(&self) -> &str {
        SUMMARY
    }

    fn offer(&self) -> Offer {
        let manifest = run_command().manifest().map(|it| CapabilityManifest {
            secret_fields: [("env".to_owned(), SecretField::Environment)].into(),
            ..it
        });
        Offer::Declared(manifest.into_iter().collect())
    }

    fn config_schema(&self) -> Value {
        object(
            &[],
            json!({
                "allow": {
                    "type": "array",
                    "items": { "type": "string", "pattern": "\\S" },
                    "description": "The commands that may run, by their first words: `cargo test` allows `cargo test --lib` and not `cargo install`. Without any, nothing runs.",
                },
                "shellString": {
                    "type": "boolean",
                    "default": false,
                    "description": "Allow any command at all, also as one string that `sh -c` reads.",
                },
                "cwd": {
                    "type": "string",
                    "minLength": 1,
                    "description": "The folder commands run in, relative to the workspace and inside it. Default: the workspace.",
                },
                "env": {
                    "type": "object",
                    "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" },
                    "additionalProperties": { "type": "string" },
                    "description": "Variables commands get besides PATH, HOME, TMPDIR and the locale.",
                },
                "timeoutSeconds": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 86_400,
                    "default": USUAL_SECONDS,
                    "description": "How long a command may run at most.",
                },
            }),
        )
    }

    async fn resolve(
        &self,
        config: &Value,
        context: &ResolverContext,
    ) -> Result<Resolution, ResolveError> {
        let failed = |message: String| ResolveError {
            key: KEY.to_owned(),
            message,
        };
        let config = ShellConfig::deserialize(config).map_err(|error| failed(error.to_string()))?;
        let allowed = if config.shell_string {
            Allowed::Everything
        } else if config.allow.is_empty() {
            return Ok(Resolution::Nothing {
                reason: "no commands allowed: list them in `allow`".to_owned(),
            });
        } else {
            Allowed::Listed(config.allow)
        };
        let cwd = folder(&context.workspace, config.cwd.as_deref()).map_err(failed)?;
        Ok(Resolution::Ready(Arc::new(ShellExecutor(Shell {
            allowed,
            cwd,
            environment: environment::of(std::env::vars_os(), &config.env),
            longest: Duration::from_secs(config.timeout_seconds.unwrap_or(USUAL_SECONDS)),
        }))))
    }
}

/// The folder commands run in, which must be inside the workspace.
fn folder(workspace: &Path, cwd: Option<&Path>) -> Result<PathBuf, String> {
    let real = |path: &Path| {
        path.canonicalize()
            .map_err(|error| format!("`{}` cannot be used: {error}", path.display()))
    };
    let workspace = real(workspace)?;
    let cwd = real(&workspace.join(cwd.unwrap_or(Path::new("."))))?;
    if !cwd.starts_with(&workspace) {
        return Err(format!(
            "`cwd` `{}` is outside the workspace",
            cwd.display()
        ));
    }
    if !cwd.is_dir() {
        return Err(format!("`cwd` `{}` is not a folder", cwd.display()));
    }
    Ok(cwd)
}

struct ShellExecutor(Shell);

#[async_trait]
impl CapabilityExecutor for ShellExecutor {
    async fn execute(&self, call: StartedCall) -> Result<Output, Failure> {
        self.0.run(call.into_arguments()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn check(config: Value, expected: &str) {
        let root = tempfile::tempdir().unwrap();
        let workspace = root.path().join("ws");
        std::fs::create_dir_all(workspace.join("sub")).unwrap();
        std::fs::create_dir(root.path().join("ws_other")).unwrap();
        std::fs::write(workspace.join("file"), "").unwrap();
        let context = ResolverContext {
            agent: "a".to_owned(),
            asked_by: Vec::new(),
            agent_dir: root.path().to_owned(),
            workspace,
            thread: None,
            control_paths: Vec::new(),
            callbacks: Default::default(),
        };
        let said = match ShellResolver.resolve(&config, &context).await {
            Ok(Resolution::Ready(_) | Resolution::Only { .. }) => "ready".to_owned(),
            Ok(Resolution::Nothing { reason }) => reason,
            Err(error) => error.message,
        };
        assert!(said.contains(expected), "{config}: {said}");
    }

    #[tokio::test]
    async fn what_a_config_resolves_to() {
        for (config, expected) in [
            (json!({}), "no commands allowed: list them in `allow`"),
            (json!({ "allow": [] }), "no commands allowed"),
            (json!({ "allow": ["ls"] }), "ready"),
            (json!({ "shellString": true }), "ready"),
            (json!({ "allow": ["ls"], "cwd": "sub" }), "ready"),
            (
                json!({ "allow": ["ls"], "cwd": "../ws_other" }),
                "is outside the workspace",
            ),
            (
                json!({ "allow": ["ls"], "cwd": "/" }),
                "is outside the workspace",
            ),
            (json!({ "allow": ["ls"], "cwd": "no" }), "cannot be used"),
            (json!({ "allow": ["ls"], "cwd": "file" }), "is not a folder"),
            (json!({ "allow": ["git *"] }), "`git *`: `*` is not needed"),
            (json!({ "allow": [" "] }), "names no program"),
        ] {
            check(config, expected).await;
        }
    }
}
