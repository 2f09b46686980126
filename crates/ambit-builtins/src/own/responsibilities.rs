//! What an agent looks after: a short numbered list that is told to it along with its instructions.

use ambit_core::effects::Effects;
use ambit_core::observation::{Failure, Output};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::changes::last_kept;
use super::document::Document;
use super::{Own, answer, change, line, plain, tool};
use crate::declare::{arguments, object};
use crate::pack::Tool;
use crate::store::{Store, StoreError};

const MAX_ENTRIES: usize = 50;
const MAX_TITLE: usize = 200;
const MAX_DETAILS: usize = 2_000;

/// One thing an agent looks after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Responsibility {
    /// Never another one's, not even after it is gone.
    pub number: u64,
    /// In one line.
    pub title: String,
    /// How, in more words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub details: String,
}

/// As it is kept.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Kept {
    /// How many there have ever been.
    count: u64,
    list: Vec<Responsibility>,
}

impl Kept {
    /// What cannot be read is refused, not forgotten.
    fn parse(text: Option<&str>) -> Result<Kept, Failure> {
        match text {
            None => Ok(Kept::default()),
            Some(text) => serde_json::from_str(text).map_err(|error| {
                Failure::provider(format!("the list that is kept cannot be read: {error}"))
            }),
        }
    }

    fn to_text(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }
}

/// What this agent looks after, in the order it was added.
pub fn responsibilities(store: &Store, agent: &str) -> Result<Vec<Responsibility>, StoreError> {
    let text = last_kept(store, agent, &Document::Responsibilities)?;
    Ok(Kept::parse(text.as_deref())?.list)
}

pub(super) const LIST: Tool<Own> = tool(
    "list_responsibilities",
    "List my responsibilities",
    "Lists what you look after, by number.",
    Effects::READS,
    || object(&[], json!({})),
    run_list,
);

pub(super) const ADD: Tool<Own> = change(tool(
    "add_responsibility",
    "Add a responsibility",
    "Adds something you look after from now on. Use it when you are given a lasting duty, not a single task. A person is asked each time and can take it back.",
    Effects::WRITES,
    || object(&["title"], json!({"title": title(), "details": details()})),
    run_add,
));

pub(super) const UPDATE: Tool<Own> = change(tool(
    "update_responsibility",
    "Change a responsibility",
    "Changes one of your responsibilities; what is left out stays. A person is asked each time and can take it back.",
    Effects::WRITES,
    || {
        object(
            &["number"],
            json!({"number": number(), "title": title(), "details": details()}),
        )
    },
    run_update,
));

pub(super) const REMOVE: Tool<Own> = change(tool(
    "remove_responsibility",
    "Remove a responsibility",
    "Removes one of your responsibilities. A person is asked each time and can take it back.",
    Effects::WRITES,
    || object(&["number"], json!({"number": number()})),
    run_remove,
));

fn number() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": 1_000_000_000, "description": "Its number, as list_responsibilities says."})
}

fn title() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": MAX_TITLE, "description": "What it is, in one line."})
}

fn details() -> Value {
    json!({"type": "string", "maxLength": MAX_DETAILS, "description": "How and when, in more words."})
}

fn run_list(own: &Own, _: Value) -> Result<Output, Failure> {
    let text = own.content(&Document::Responsibilities)?;
    let list = Kept::parse(text.as_deref())?.list;
    Ok(answer(json!({"responsibilities": list})))
}

#[derive(Deserialize)]
struct Add {
    title: String,
    #[serde(default)]
    details: String,
}

fn run_add(own: &Own, given: Value) -> Result<Output, Failure> {
    let given: Add = arguments(given)?;
    let (title, details) = (
        line("title", &given.title)?,
        plain("details", &given.details)?,
    );
    edit(own, |kept| {
        if kept.list.len() >= MAX_ENTRIES {
            return Err(Failure::refused(format!(
                "there are {MAX_ENTRIES} responsibilities already; remove one with remove_responsibility"
            )));
        }
        if let Some(same) = kept.list.iter().find(|it| it.title == title) {
            return Err(Failure::refused(format!(
                "responsibility {} says that already; change it with update_responsibility",
                same.number
            )));
        }
        kept.count += 1;
        let added = Responsibility {
            number: kept.count,
            title,
            details,
        };
        kept.list.push(added.clone());
        Ok(json!({"added": added}))
    })
}

#[derive(Deserialize)]
struct Update {
    number: u64,
    title: Option<String>,
    details: Option<String>,
}

fn run_update(own: &Own, given: Value) -> Result<Output, Failure> {
    let given: Update = arguments(given)?;
    if given.title.is_none() && given.details.is_none() {
        return Err(Failure::refused("give a `title`, `details` or both"));
    }
    let title = given.title.map(|it| line("title", &it)).transpose()?;
    let details = given.details.map(|it| plain("details", &it)).transpose()?;
    edit(own, |kept| {
        let found = kept.list.iter_mut().find(|it| it.number == given.number);
        let Some(found) = found else {
            return Err(missing(given.number));
        };
        found.title = title.unwrap_or_else(|| found.title.clone());
        found.details = details.unwrap_or_else(|| found.details.clone());
        Ok(json!({"updated": found}))
    })
}

#[derive(Deserialize)]
struct Remove {
    number: u64,
}

fn run_remove(own: &Own, given: Value) -> Result<Output, Failure> {
    let given: Remove = arguments(given)?;
    edit(own, |kept| {
        let at = kept.list.iter().position(|it| it.number == given.number);
        let at = at.ok_or_else(|| missing(given.number))?;
        Ok(json!({"removed": kept.list.remove(at)}))
    })
}

fn edit(
    own: &Own,
    edit: impl FnOnce(&mut Kept) -> Result<Value, Failure>,
) -> Result<Output, Failure> {
    own.change(&Document::Responsibilities, |text| {
        let mut kept = Kept::parse(text.as_deref())?;
        let said = edit(&mut kept)?;
        Ok((kept.to_text(), answer(said)))
    })
}

fn missing(number: u64) -> Failure {
    Failure::refused(format!(
        "there is no responsibility {number}; list_responsibilities says which there are"
    ))
}
