//! The rules of the format, in the order and with the outcome of its public validator.
//!
//! Two differences, both on purpose: unknown keys are warnings, and what is read is bounded.
//! Where the validator looks at nothing (the shape of `license`, `metadata` and
//! `allowed-tools`), a value that cannot be used is a warning.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::frontmatter::{Field, Frontmatter, split, unify_lines};
use crate::hints::Hints;
use crate::list::split_list;
use crate::problem::{Severity, SkillProblem, clip, clip_list};
use crate::yaml::{self, Node};

/// A `SKILL.md` larger than this is refused unread.
pub const MAX_SKILL_MD: u64 = 1 << 20;
/// Frontmatter larger than this is refused unparsed.
pub const MAX_FRONTMATTER: usize = 64 << 10;
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;
const MAX_COMPATIBILITY: usize = 500;

/// A `SKILL.md` without errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidSkillMd {
    /// What the skill says about itself.
    pub frontmatter: Frontmatter,
    /// Ambit's own part of `metadata`.
    pub hints: Hints,
    /// The instructions.
    pub body: String,
}

/// The outcome for one `SKILL.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The skill, if no problem is an error.
    pub valid: Option<ValidSkillMd>,
    /// Everything found, in the validator's order.
    pub problems: Vec<SkillProblem>,
}

/// Judges the bytes of a `SKILL.md` that stands in a folder of this name.
pub fn check_skill_md(bytes: &[u8], folder: &str) -> Checked {
    let mut problems = Vec::new();
    let parsed = parse(bytes, folder, &mut problems)
        .map_err(|problem| problems.push(problem))
        .ok();
    let broken = problems.iter().any(|it| it.severity() == Severity::Error);
    Checked {
        valid: parsed.filter(|_| !broken),
        problems,
    }
}

fn parse(
    bytes: &[u8],
    folder: &str,
    problems: &mut Vec<SkillProblem>,
) -> Result<ValidSkillMd, SkillProblem> {
    let text = std::str::from_utf8(bytes).map_err(|_| SkillProblem::NotUtf8)?;
    let text = unify_lines(text);
    let parts = split(&text)?;
    if parts.frontmatter.len() > MAX_FRONTMATTER {
        return Err(SkillProblem::FrontmatterTooLarge {
            bytes: parts.frontmatter.len(),
            limit: MAX_FRONTMATTER,
        });
    }
    if let Some(control) = parts.frontmatter.chars().find(|c| !is_printable(*c)) {
        return Err(SkillProblem::ControlCharacter {
            code: control.into(),
        });
    }
    if let Some(line) = parts.fence_inside_line {
        problems.push(SkillProblem::FenceInsideLine { line });
    }
    let Some(Node::Map(mut fields)) = yaml::parse(parts.frontmatter)? else {
        return Err(SkillProblem::NotAMapping);
    };
    let unknown = |key: &&String| !Field::ALL.iter().any(|it| it.as_str() == key.as_str());
    if fields.keys().any(|key| unknown(&key)) {
        let keys = fields.keys().filter(unknown).map(String::as_str);
        problems.push(SkillProblem::UnknownKeys(clip_list(keys)));
    }
    let mut take = |field: Field| fields.remove(field.as_str());
    let frontmatter = Frontmatter {
        name: name(take(Field::Name), folder, problems),
        description: description(take(Field::Description), problems),
        compatibility: compatibility(take(Field::Compatibility), problems),
        license: license(take(Field::License), problems),
        metadata: metadata(take(Field::Metadata), problems),
        allowed_tools: allowed_tools(take(Field::AllowedTools), problems),
    };
    let (hints, hint_problems) = Hints::from_metadata(&frontmatter.metadata);
    problems.extend(hint_problems);
    Ok(ValidSkillMd {
        frontmatter,
        hints,
        body: parts.body.to_owned(),
    })
}

/// The characters YAML text may hold unescaped.
fn is_printable(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\u{85}')
        || (!c.is_control() && !matches!(c, '\u{FFFE}' | '\u{FFFF}'))
}

/// The text of a required field, untrimmed; what is wrong otherwise.
fn required(node: Option<Node>, field: Field) -> Result<String, SkillProblem> {
    match node {
        None => Err(SkillProblem::MissingField(field)),
        Some(Node::Text(text)) if !text.trim().is_empty() => Ok(text),
        Some(_) => Err(SkillProblem::EmptyField(field)),
    }
}

fn check_length(text: &str, field: Field, limit: usize, problems: &mut Vec<SkillProblem>) {
    let chars = text.chars().count();
    if chars > limit {
        problems.push(SkillProblem::FieldTooLong {
            field,
            chars,
            limit,
        });
    }
}

fn name(node: Option<Node>, folder: &str, problems: &mut Vec<SkillProblem>) -> String {
    let text = match required(node, Field::Name) {
        Ok(text) => text,
        Err(problem) => {
            problems.push(problem);
            return String::new();
        }
    };
    let name: String = text.trim().nfkc().collect();
    check_length(&name, Field::Name, MAX_NAME, problems);
    if name != name.to_lowercase() {
        problems.push(SkillProblem::NameNotLowercase(clip(&name)));
    }
    if name.starts_with('-') || name.ends_with('-') {
        problems.push(SkillProblem::NameEdgeHyphen(clip(&name)));
    }
    if name.contains("--") {
        problems.push(SkillProblem::NameDoubleHyphen(clip(&name)));
    }
    if !name.chars().all(|c| c == '-' || is_letter_or_digit(c)) {
        problems.push(SkillProblem::NameCharacters(clip(&name)));
    }
    if !name.chars().eq(folder.nfkc()) {
        problems.push(SkillProblem::NameNotFolder {
            name: clip(&name),
            folder: clip(folder),
        });
    }
    name
}

/// Letters and numbers by general category. Rust's notion also has vowel signs and squared
/// letters, which the validator refuses.
fn is_letter_or_digit(c: char) -> bool {
    c.is_alphanumeric() && !is_combining_mark(c) && !('\u{1F130}'..='\u{1F189}').contains(&c)
}

fn description(node: Option<Node>, problems: &mut Vec<SkillProblem>) -> String {
    match required(node, Field::Description) {
        Ok(text) => {
            check_length(&text, Field::Description, MAX_DESCRIPTION, problems);
            text.trim().to_owned()
        }
        Err(problem) => {
            problems.push(problem);
            String::new()
        }
    }
}

fn compatibility(node: Option<Node>, problems: &mut Vec<SkillProblem>) -> Option<String> {
    match node? {
        Node::Text(text) => {
            check_length(&text, Field::Compatibility, MAX_COMPATIBILITY, problems);
            Some(text).filter(|it| !it.is_empty())
        }
        _ => {
            problems.push(SkillProblem::FieldNotText(Field::Compatibility));
            None
        }
    }
}

fn license(node: Option<Node>, problems: &mut Vec<SkillProblem>) -> Option<String> {
    match node? {
        Node::Text(text) => Some(text).filter(|it| !it.is_empty()),
        _ => {
            problems.push(SkillProblem::FieldIgnored {
                field: Field::License,
                expected: "a text",
            });
            None
        }
    }
}

fn metadata(node: Option<Node>, problems: &mut Vec<SkillProblem>) -> BTreeMap<String, String> {
    let entries = match node {
        None => return BTreeMap::new(),
        Some(Node::Text(text)) if text.is_empty() => return BTreeMap::new(),
        Some(Node::Map(entries)) => entries,
        Some(_) => {
            problems.push(SkillProblem::FieldIgnored {
                field: Field::Metadata,
                expected: "a mapping of keys to texts",
            });
            return BTreeMap::new();
        }
    };
    let mut metadata = BTreeMap::new();
    let mut ignored = Vec::new();
    for (key, value) in entries {
        match value {
            Node::Text(text) => {
                metadata.insert(key, text);
            }
            _ => ignored.push(key),
        }
    }
    if !ignored.is_empty() {
        let keys = ignored.iter().map(String::as_str);
        problems.push(SkillProblem::MetadataIgnored(clip_list(keys)));
    }
    metadata
}

/// Separated by spaces says the format; commas and lists are what people write.
fn allowed_tools(node: Option<Node>, problems: &mut Vec<SkillProblem>) -> Vec<String> {
    let mut ignored = || {
        problems.push(SkillProblem::FieldIgnored {
            field: Field::AllowedTools,
            expected: "a list of texts",
        });
        Vec::new()
    };
    match node {
        None => Vec::new(),
        Some(Node::Text(text)) => split_list(&text),
        Some(Node::Map(_)) => ignored(),
        Some(Node::List(items)) => items
            .into_iter()
            .map(|item| match item {
                Node::Text(text) => Some(text),
                _ => None,
            })
            .collect::<Option<Vec<_>>>()
            .unwrap_or_else(ignored),
    }
}
