//! `notes`: Markdown files an agent writes and a person can open.

mod difference;
mod document;
mod file_name;
mod search;
mod shelf;
mod shelves;
#[cfg(test)]
mod tests;
mod tools;

use std::path::PathBuf;

use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Builtins;
use crate::declare::object;
use crate::pack::Pack;
pub(crate) use shelves::PART;
use shelves::{Limits, Notes, Root};

const KEY: &str = "notes";
const SUMMARY: &str = "Write and find notes, as Markdown files the user can open.";

static PACK: Pack<Notes> = Pack {
    key: KEY,
    summary: SUMMARY,
    tools: tools::TOOLS,
};

/// The longest content a note may have.
const MOST_CHARACTERS: usize = 100_000;
/// A config may allow so many: searching reads each.
const MOST_NOTES: usize = 5000;

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct NotesConfig {
    dir: Option<PathBuf>,
    max_notes: usize,
    max_characters: usize,
}

impl Default for NotesConfig {
    fn default() -> Self {
        NotesConfig {
            dir: None,
            max_notes: 500,
            max_characters: MOST_CHARACTERS,
        }
    }
}

/// Makes `notes` grantable.
#[derive(Clone)]
pub struct NotesResolver(pub Builtins);

#[async_trait]
impl CapabilityResolver for NotesResolver {
    fn key(&self) -> &str {
        KEY
    }

    fn summary(&self) -> &str {
        SUMMARY
    }

    fn offer(&self) -> Offer {
        PACK.offer()
    }

    fn config_schema(&self) -> Value {
        object(
            &[],
            json!({
                "dir": {
                    "type": "string", "minLength": 1, "maxLength": 1024,
                    "description": "A folder of the workspace for the notes, such as `docs/notes`. Each agent has its own folder in there. Default: with the workspace's data.",
                },
                "maxNotes": {
                    "type": "integer", "minimum": 1, "maximum": MOST_NOTES, "default": 500,
                    "description": "At most so many notes.",
                },
                "maxCharacters": {
                    "type": "integer", "minimum": 100, "maximum": MOST_CHARACTERS,
                    "default": MOST_CHARACTERS,
                    "description": "The longest a note may be.",
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
        let config = NotesConfig::deserialize(config).map_err(|error| failed(error.to_string()))?;
        let notes = Notes {
            store: self.0.store.clone(),
            clock: self.0.clock.clone(),
            agent: context.agent.clone(),
            root: match config.dir {
                None => Root::Store,
                Some(dir) => Root::Workspace {
                    workspace: context.workspace.clone(),
                    dir,
                },
            },
            control: context.control_paths.clone(),
            limits: Limits {
                notes: config.max_notes,
                characters: config.max_characters,
            },
        };
        let checked = notes.shelf().and_then(|it| match it {
            Some(shelf) => shelf.check(),
            None => Ok(()),
        });
        checked.map_err(|failure| failed(failure.message))?;
        Ok(Resolution::Ready(PACK.executor(notes)))
    }
}
