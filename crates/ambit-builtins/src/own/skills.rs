//! Skills an agent writes for itself: folders with a `SKILL.md`, offered to this agent alone, and
//! loaded only once a person has accepted what they say. The head is written here, so an agent says
//! what a skill is for and what to do, and nothing about tools.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ambit_core::effects::Effects;
use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};

use super::document::{Document, is_folder_name, revision};
use super::instructions::{revision_schema, still};
use super::{Own, answer, change, line, plain, tool};
use crate::declare::{arguments, object};
use crate::pack::Tool;

const MAX_SKILLS: usize = 50;
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1_024;
const MAX_INSTRUCTIONS: usize = 30_000;

const NOTE: &str = "With the capability `skills` it is among your skills from your next turn on. A person accepts it when it is first loaded. It gives you no tool and no permission.";

/// What a skill says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillText {
    /// When to use it.
    pub description: String,
    /// What to do.
    pub instructions: String,
}

/// Knows the format of skills, and which there are.
pub trait SkillFormat: Send + Sync {
    /// What a `SKILL.md` in a folder of this name says, or what is wrong with it.
    fn read(&self, name: &str, skill_md: &str) -> Result<SkillText, String>;

    /// Where a skill is that has this name, or one that could be mistaken for it.
    fn named_like(&self, name: &str) -> Option<PathBuf>;

    /// Skills of agents are others now.
    fn changed(&self);
}

pub(super) const LIST: Tool<Own> = tool(
    "list_my_skills",
    "List my skills",
    "Lists the skills you wrote for yourself. With a name, that one in full, with the revision that changing it takes.",
    Effects::READS,
    || object(&[], json!({"name": name()})),
    run_list,
);

pub(super) const CREATE: Tool<Own> = change(tool(
    "create_skill",
    "Write a skill",
    "Writes a skill for yourself: instructions for a kind of task, loaded when one comes up. Use it when you worked out how something is done and will do it again. A person is asked each time and can take it back.",
    Effects::WRITES,
    || {
        object(
            &["name", "description", "instructions"],
            json!({"name": name(), "description": description(), "instructions": instructions()}),
        )
    },
    run_create,
));

pub(super) const UPDATE: Tool<Own> = change(tool(
    "update_skill",
    "Change a skill",
    "Replaces what one of your own skills says. A person is asked each time, accepts the new text before it is loaded, and can take it back.",
    Effects::WRITES,
    || {
        object(
            &["name", "description", "instructions", "revision"],
            json!({
                "name": name(),
                "description": description(),
                "instructions": instructions(),
                "revision": revision_schema("list_my_skills with its name"),
            }),
        )
    },
    run_update,
));

pub(super) const DELETE: Tool<Own> = change(tool(
    "delete_skill",
    "Delete a skill",
    "Deletes one of your own skills. A person is asked each time and can take it back.",
    Effects::WRITES,
    || object(&["name"], json!({"name": name()})),
    run_delete,
));

fn name() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": MAX_NAME, "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "description": "The skill's name: lower-case words with hyphens, like `weekly-report`."})
}

fn description() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": MAX_DESCRIPTION, "description": "What it does and when to use it: all that is seen before it is loaded."})
}

fn instructions() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": MAX_INSTRUCTIONS, "description": "What to do, in Markdown."})
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Listing {
    name: Option<String>,
}

#[derive(Deserialize)]
struct Written {
    name: String,
    description: String,
    instructions: String,
    /// Only of a skill that is there already.
    #[serde(default)]
    revision: String,
}

fn run_list(own: &Own, given: Value) -> Result<Output, Failure> {
    let given: Listing = arguments(given)?;
    let format = format(own)?;
    if let Some(name) = given.name {
        let document = document(&name)?;
        let text = own.content(&document)?.ok_or_else(|| missing(&name))?;
        let read = format.read(&name, &text);
        let read = read.map_err(|problem| broken(&name, &problem))?;
        return Ok(answer(json!({
            "name": name,
            "description": read.description,
            "instructions": read.instructions,
            "revision": revision(&text),
        })));
    }
    let mut listed = Vec::new();
    for name in names(&own.skills_folder())? {
        let text = own.content(&Document::Skill(name.clone()))?;
        let Some(text) = text else { continue };
        listed.push(match format.read(&name, &text) {
            Ok(read) => json!({"name": name, "description": read.description}),
            Err(problem) => json!({"name": name, "problem": problem}),
        });
    }
    Ok(answer(json!({"skills": listed})))
}

fn run_create(own: &Own, given: Value) -> Result<Output, Failure> {
    let given: Written = arguments(given)?;
    let (format, document, text) = composed(own, &given)?;
    let name = &given.name;
    own.change(&document, |was| {
        if was.is_some() {
            return Err(Failure::refused(format!(
                "you have a skill `{name}` already; change it with update_skill"
            )));
        }
        if format.named_like(name).is_some() {
            return Err(Failure::refused(format!(
                "`{name}` is, or could be mistaken for, the name of a skill that is there already; choose another"
            )));
        }
        if names(&own.skills_folder())?.len() >= MAX_SKILLS {
            return Err(Failure::refused(format!(
                "you have {MAX_SKILLS} skills already; delete one with delete_skill"
            )));
        }
        Ok((Some(text.clone()), ()))
    })?;
    Ok(answer(
        json!({"created": name, "revision": revision(&text), "note": NOTE}),
    ))
}

fn run_update(own: &Own, given: Value) -> Result<Output, Failure> {
    let given: Written = arguments(given)?;
    let (_, document, text) = composed(own, &given)?;
    own.change(&document, |was| {
        let was = was.ok_or_else(|| missing(&given.name))?;
        still(&was, &given.revision, "list_my_skills")?;
        Ok((Some(text.clone()), ()))
    })?;
    Ok(answer(
        json!({"updated": given.name, "revision": revision(&text), "note": NOTE}),
    ))
}

fn run_delete(own: &Own, given: Value) -> Result<Output, Failure> {
    let given: Named = arguments(given)?;
    own.change(&document(&given.name)?, |was| {
        was.ok_or_else(|| missing(&given.name))?;
        Ok((None, ()))
    })?;
    Ok(answer(json!({"deleted": given.name})))
}

/// The `SKILL.md`, as the format has it.
fn composed<'a>(
    own: &'a Own,
    given: &Written,
) -> Result<(&'a dyn SkillFormat, Document, String), Failure> {
    let format = format(own)?;
    let document = document(&given.name)?;
    let description = Value::String(line("description", &given.description)?);
    let instructions = plain("instructions", &given.instructions)?;
    // A JSON string is a YAML one.
    let text = format!(
        "---\nname: {}\ndescription: {description}\n---\n\n{}\n",
        given.name,
        instructions.trim()
    );
    let read = format.read(&given.name, &text);
    read.map_err(|problem| broken(&given.name, &problem))?;
    Ok((format, document, text))
}

fn format(own: &Own) -> Result<&dyn SkillFormat, Failure> {
    let none = || Failure::refused("skills cannot be written here");
    own.skills.as_deref().ok_or_else(none)
}

fn document(name: &str) -> Result<Document, Failure> {
    match is_folder_name(name) {
        true => Ok(Document::Skill(name.to_owned())),
        false => Err(Failure::refused(format!(
            "`{name}` is no name of a skill; use lower-case words with hyphens"
        ))),
    }
}

fn missing(name: &str) -> Failure {
    Failure::refused(format!(
        "you wrote no skill `{name}`; list_my_skills says which there are"
    ))
}

fn broken(name: &str, problem: &str) -> Failure {
    Failure::refused(format!(
        "`{name}` is not a skill as it should be: {problem}"
    ))
}

/// The folders there are, by name.
fn names(folder: &Path) -> Result<Vec<String>, Failure> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let message = format!("`{}` cannot be listed: {error}", folder.display());
            return Err(Failure::provider(message));
        }
    };
    let names = entries.flatten().map(|it| it.file_name());
    let mut names: Vec<String> = names
        .filter_map(|it| it.into_string().ok())
        .filter(|it| is_folder_name(it))
        .collect();
    names.sort();
    Ok(names)
}
