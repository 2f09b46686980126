//! An agent's own instructions: a Markdown file in its folder. They come after those a person
//! configured, which it cannot change.

use std::io;
use std::path::Path;

use ambit_core::effects::Effects;
use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};

use super::document::{Document, instructions_file, read, revision};
use super::{Own, answer, change, plain, tool};
use crate::declare::{arguments, object};
use crate::pack::Tool;

/// They are part of every request to a model.
const MAX_CHARS: usize = 16_000;

const STAYS: &str = "These follow the instructions a person configured, which stay as they are. They are text only: they give you no tool and no permission.";

/// What this agent wrote for itself, to stand after the configured instructions.
pub fn own_instructions(agent_dir: &Path) -> io::Result<Option<String>> {
    let found = read(&instructions_file(agent_dir))?;
    Ok(found.filter(|it| !it.trim().is_empty()))
}

pub(super) const READ: Tool<Own> = tool(
    "read_my_instructions",
    "Read my instructions",
    "Reads the instructions you wrote for yourself, with the revision that changing them takes. Use it before update_my_instructions.",
    Effects::READS,
    || object(&[], json!({})),
    run_read,
);

pub(super) const UPDATE: Tool<Own> = change(tool(
    "update_my_instructions",
    "Change my instructions",
    "Replaces the instructions you wrote for yourself, for every conversation from now on. Use it when you are told how to work from now on. A person is asked each time and can take it back.",
    Effects::WRITES,
    update_input,
    run_update,
));

fn update_input() -> Value {
    object(
        &["instructions", "revision"],
        json!({
            "instructions": {
                "type": "string",
                "maxLength": MAX_CHARS,
                "description": "The whole new text, in Markdown. Empty: none any more.",
            },
            "revision": revision_schema("read_my_instructions"),
        }),
    )
}

/// The schema of a `revision` parameter.
pub(super) fn revision_schema(from: &str) -> Value {
    json!({
        "type": "string",
        "maxLength": 64,
        "description": format!("The revision {from} answered, so that nothing is overwritten unread."),
    })
}

fn run_read(own: &Own, _: Value) -> Result<Output, Failure> {
    let text = own.content(&Document::Instructions)?.unwrap_or_default();
    Ok(answer(json!({
        "instructions": text,
        "revision": revision(&text),
        "note": STAYS,
    })))
}

#[derive(Deserialize)]
struct Update {
    instructions: String,
    revision: String,
}

fn run_update(own: &Own, given: Value) -> Result<Output, Failure> {
    let given: Update = arguments(given)?;
    let text = plain("instructions", &given.instructions)?;
    let text = text.trim().to_owned();
    let became = match text.is_empty() {
        true => None,
        false => Some(text + "\n"),
    };
    let now = became.clone().unwrap_or_default();
    own.change(&Document::Instructions, |was| {
        still(
            &was.unwrap_or_default(),
            &given.revision,
            "read_my_instructions",
        )?;
        Ok((became, ()))
    })?;
    Ok(answer(json!({
        "updated": true,
        "revision": revision(&now),
        "note": STAYS,
    })))
}

/// Refuses to overwrite what the caller has not read.
pub(super) fn still(content: &str, read: &str, with: &str) -> Result<(), Failure> {
    match revision(content) == read {
        true => Ok(()),
        false => Err(Failure::refused(format!(
            "this is not the revision `{read}` any more; read it again with {with} and start from that"
        ))),
    }
}
