//! `files`: reading, searching and changing the files of the folders an agent was given.

pub(crate) mod bounds;
pub(crate) mod control;
mod diff;
mod edit_file;
mod folders;
mod glob;
mod grep;
mod list_dir;
mod name_pattern;
mod read_file;
pub(crate) mod replace;
mod walk;
mod write_file;

#[cfg(test)]
mod escapes;
#[cfg(test)]
mod fixture;

use std::path::PathBuf;
use std::sync::Arc;

use ambit_core::effects::Effects;
use ambit_core::observation::{Failure, Output};
use ambit_runtime::executor::{CapabilityExecutor, StartedCall};
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::declare::{Declaration, object};
use crate::stop::{self, Stop};
use bounds::Bounds;
pub(crate) use folders::{Folders, WholeFile};

const KEY: &str = "files";
const SUMMARY: &str = "Read, search and change files in the folders it is given.";

/// Every tool, in the order it is listed.
const TOOLS: [Tool; 6] = [
    read_file::TOOL,
    write_file::TOOL,
    edit_file::TOOL,
    list_dir::TOOL,
    glob::TOOL,
    grep::TOOL,
];

/// One tool: how it is declared, and the plain function behind it.
struct Tool {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    effects: Effects,
    permissions: &'static [&'static str],
    tags: &'static [&'static str],
    input: fn() -> Value,
    run: fn(&Bounds, Value, &Stop) -> Result<Output, Failure>,
}

impl Tool {
    fn declare(&self) -> Declaration {
        Declaration {
            owner: KEY,
            name: self.name,
            title: self.title,
            description: self.description,
            effects: self.effects,
            permissions: self.permissions,
            tags: self.tags,
            input: (self.input)(),
            output: None,
            pack_summary: SUMMARY,
        }
    }
}

/// The schema of a `path` parameter.
fn path_schema(description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 4096, "description": description })
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FilesConfig {
    dirs: Option<Vec<PathBuf>>,
}

/// Makes `files` grantable.
#[derive(Clone, Copy, Debug, Default)]
pub struct FilesResolver;

#[async_trait]
impl CapabilityResolver for FilesResolver {
    fn key(&self) -> &str {
        KEY
    }

    fn summary(&self) -> &str {
        SUMMARY
    }

    fn offer(&self) -> Offer {
        Offer::Declared(
            TOOLS
                .iter()
                .filter_map(|it| it.declare().manifest())
                .collect(),
        )
    }

    fn config_schema(&self) -> Value {
        object(
            &[],
            json!({
                "dirs": {
                    "type": "array",
                    "items": { "type": "string", "minLength": 1 },
                    "minItems": 1,
                    "uniqueItems": true,
                    "description": "The folders its tools may use, relative to the workspace or absolute. Default: the workspace.",
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
        let config = FilesConfig::deserialize(config).map_err(|error| failed(error.to_string()))?;
        let dirs = config.dirs.unwrap_or_else(|| vec![PathBuf::from(".")]);
        let bounds = Bounds::open(&context.workspace, &dirs, context.control_paths.clone())
            .map_err(|error| failed(error.to_string()))?;
        Ok(Resolution::Ready(Arc::new(FilesExecutor {
            bounds: Arc::new(bounds),
        })))
    }
}

struct FilesExecutor {
    bounds: Arc<Bounds>,
}

#[async_trait]
impl CapabilityExecutor for FilesExecutor {
    async fn execute(&self, call: StartedCall) -> Result<Output, Failure> {
        let name = call.id().name();
        let Some(tool) = TOOLS.iter().find(|it| it.name == name) else {
            return Err(Failure::refused(format!("`{KEY}` has no tool `{name}`")));
        };
        let run = tool.run;
        let bounds = Arc::clone(&self.bounds);
        let arguments = call.into_arguments();
        stop::blocking(move |stop| run(&bounds, arguments, stop)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_config_resolves_to() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("file"), "").unwrap();
        let context = ResolverContext {
            agent: "a".to_owned(),
            asked_by: Vec::new(),
            agent_dir: root.path().to_owned(),
            workspace: root.path().to_owned(),
            thread: None,
            control_paths: Vec::new(),
            callbacks: Default::default(),
        };
        for (config, expected) in [
            (json!({}), "ready"),
            (json!({ "dirs": [".", "/"] }), "ready"),
            (json!({ "dirs": ["no"] }), "`no` in `dirs` cannot be opened"),
            (
                json!({ "dirs": ["file"] }),
                "`file` in `dirs` cannot be opened",
            ),
            (json!({ "dir": "." }), "unknown field `dir`"),
        ] {
            let said = match FilesResolver.resolve(&config, &context).await {
                Ok(Resolution::Ready(_) | Resolution::Only { .. }) => "ready".to_owned(),
                Ok(Resolution::Nothing { reason }) => reason,
                Err(error) => error.message,
            };
            assert!(said.contains(expected), "{config}: {said}");
        }
    }
}
