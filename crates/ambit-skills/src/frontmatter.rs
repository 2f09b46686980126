//! What a skill says about itself, and where in `SKILL.md` it says it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::problem::SkillProblem;

const FENCE: &str = "---";

/// The fields of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// `name`
    Name,
    /// `description`
    Description,
    /// `license`
    License,
    /// `compatibility`
    Compatibility,
    /// `metadata`
    Metadata,
    /// `allowed-tools`
    AllowedTools,
}

impl Field {
    /// All of them: any other key is unknown.
    pub const ALL: [Field; 6] = [
        Field::Name,
        Field::Description,
        Field::License,
        Field::Compatibility,
        Field::Metadata,
        Field::AllowedTools,
    ];

    /// The key as written.
    pub fn as_str(self) -> &'static str {
        match self {
            Field::Name => "name",
            Field::Description => "description",
            Field::License => "license",
            Field::Compatibility => "compatibility",
            Field::Metadata => "metadata",
            Field::AllowedTools => "allowed-tools",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The frontmatter of a valid skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Frontmatter {
    /// Unique, lower case, the folder's; in NFKC.
    pub name: String,
    /// What the skill does and when to use it.
    pub description: String,
    /// Under which terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// What it needs around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// Anything else, by client.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// Tools it would like to use. A wish: it can narrow an agent's bound, never widen it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
}

/// `SKILL.md` in its two parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    /// YAML. Starts right after the first fence, so that line numbers are the file's.
    pub(crate) frontmatter: &'a str,
    /// Markdown, trimmed.
    pub(crate) body: &'a str,
    /// The line the closing fence stands in, if it does not have that line for itself.
    pub(crate) fence_inside_line: Option<usize>,
}

/// Line ends as the format's tools see them: `\r\n` and `\r` are `\n`.
pub(crate) fn unify_lines(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Splits as the public validator does: at the first `---` after the one the text starts
/// with, wherever that is. A fence that is not a line of its own is surely an accident, but
/// reading on would show a model a description that no other client shows.
pub(crate) fn split(text: &str) -> Result<Parts<'_>, SkillProblem> {
    if text.starts_with('\u{FEFF}') {
        return Err(SkillProblem::ByteOrderMark);
    }
    let rest = text
        .strip_prefix(FENCE)
        .ok_or(SkillProblem::NoFrontmatter)?;
    let (frontmatter, body) = rest
        .split_once(FENCE)
        .ok_or(SkillProblem::UnclosedFrontmatter)?;
    let alone = frontmatter.ends_with('\n')
        && body
            .lines()
            .next()
            .is_none_or(|rest_of_line| rest_of_line.trim().is_empty());
    Ok(Parts {
        frontmatter,
        body: body.trim(),
        fence_inside_line: (!alone).then(|| frontmatter.matches('\n').count() + 1),
    })
}
