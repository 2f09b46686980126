//! What can be wrong with a skill, as data: how bad it is, what it says, what to do about it.
//!
//! An error skips the skill, a warning does not. The errors are the public validator's, plus
//! the bounds Ambit puts on what it reads; values in messages are clipped, since whoever wrote
//! the skill chose them.

use thiserror::Error;

use crate::frontmatter::Field;

/// Whether a problem stops a skill from being used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The skill works; something in it is ignored.
    Warning,
    /// The skill is skipped.
    Error,
}

/// One thing that is wrong with a skill folder or a root.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SkillProblem {
    /// The folder has no `SKILL.md`.
    #[error("missing required file `SKILL.md`")]
    MissingSkillMd,
    /// A skill, or a root, that is a file.
    #[error("`{0}` is not a folder")]
    NotAFolder(String),
    /// `SKILL.md` is a folder, a pipe or a device.
    #[error("`{0}` is not a regular file")]
    NotAFile(String),
    /// A symbolic link leads out of where it may lead.
    #[error("`{0}` is a link that leads outside")]
    LeavesFolder(String),
    /// The system would not let us read.
    #[error("cannot read: {0}")]
    Unreadable(String),
    /// `SKILL.md` is larger than any skill should be.
    #[error("`SKILL.md` has {bytes} bytes, more than {limit}")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The most that is read.
        limit: u64,
    },
    /// `SKILL.md` is not UTF-8.
    #[error("`SKILL.md` is not UTF-8 text")]
    NotUtf8,
    /// `SKILL.md` starts with a byte order mark.
    #[error("`SKILL.md` starts with a byte order mark instead of `---`")]
    ByteOrderMark,
    /// No `---` at the start.
    #[error("`SKILL.md` does not start with frontmatter (`---`)")]
    NoFrontmatter,
    /// No second `---`.
    #[error("the frontmatter is not closed with `---`")]
    UnclosedFrontmatter,
    /// The closing `---` stands inside a line: the text after it went to the body.
    #[error("the `---` inside line {line} ends the frontmatter")]
    FenceInsideLine {
        /// Counted from the top of the file.
        line: usize,
    },
    /// More frontmatter than is parsed.
    #[error("the frontmatter has {bytes} bytes, more than {limit}")]
    FrontmatterTooLarge {
        /// Its size.
        bytes: usize,
        /// The most that is parsed.
        limit: usize,
    },
    /// A character that text files do not have.
    #[error("the frontmatter has the control character U+{code:04X}")]
    ControlCharacter {
        /// Which.
        code: u32,
    },
    /// Not YAML.
    #[error("invalid YAML in line {line}: {message}")]
    Yaml {
        /// Counted from the top of the file.
        line: usize,
        /// What the parser said.
        message: String,
    },
    /// YAML, but beyond the plain mappings, lists and text the format is made of.
    #[error("line {line} uses {what}, which frontmatter does not have")]
    BeyondPlainYaml {
        /// Counted from the top of the file.
        line: usize,
        /// The construct.
        what: &'static str,
    },
    /// One key twice.
    #[error("the key `{key}` stands twice (again in line {line})")]
    DuplicateKey {
        /// The key.
        key: String,
        /// Of the second one.
        line: usize,
    },
    /// The frontmatter is a list or a text.
    #[error("the frontmatter is not a mapping of keys to values")]
    NotAMapping,
    /// Keys the format does not have.
    #[error("unknown keys {0}")]
    UnknownKeys(String),
    /// A required field is missing.
    #[error("missing required field `{0}`")]
    MissingField(Field),
    /// A required field has no text.
    #[error("the field `{0}` must be a non-empty text")]
    EmptyField(Field),
    /// A field that must be a text is not; the format forbids it.
    #[error("the field `{0}` must be a text")]
    FieldNotText(Field),
    /// An optional field has the wrong shape, which the public validator lets pass.
    #[error("the field `{field}` is ignored: it is not {expected}")]
    FieldIgnored {
        /// Which.
        field: Field,
        /// What it should be.
        expected: &'static str,
    },
    /// A field has too many characters.
    #[error("the field `{field}` has {chars} characters, more than {limit}")]
    FieldTooLong {
        /// Which.
        field: Field,
        /// How many it has.
        chars: usize,
        /// How many it may have.
        limit: usize,
    },
    /// The name has upper case letters.
    #[error("the name `{0}` is not lower case")]
    NameNotLowercase(String),
    /// The name starts or ends with a hyphen.
    #[error("the name `{0}` starts or ends with a hyphen")]
    NameEdgeHyphen(String),
    /// The name has `--` inside.
    #[error("the name `{0}` has two hyphens in a row")]
    NameDoubleHyphen(String),
    /// The name has something else than letters, digits and hyphens.
    #[error("the name `{0}` has characters other than letters, digits and hyphens")]
    NameCharacters(String),
    /// The name is not the folder's.
    #[error("the name `{name}` differs from its folder `{folder}`")]
    NameNotFolder {
        /// In the frontmatter.
        name: String,
        /// On disk.
        folder: String,
    },
    /// Values under `metadata` that are lists or mappings.
    #[error("the `metadata` keys {0} are ignored: their values are not texts")]
    MetadataIgnored(String),
    /// A hint of Ambit's own that says nothing usable.
    #[error("the hint `{key}` ignores `{value}`: {reason}")]
    HintIgnored {
        /// The `metadata` key.
        key: &'static str,
        /// The part that is ignored.
        value: String,
        /// Why.
        reason: &'static str,
    },
    /// A person could mistake its name for that of a skill with precedence.
    #[error("the name `{name}` looks like `{other}`, which has precedence")]
    LooksLike {
        /// This skill's.
        name: String,
        /// The other's.
        other: String,
    },
    /// A root holds more folders than are looked at.
    #[error("{left_out} folders beyond the first {limit} are left out")]
    TooManySkills {
        /// How many are looked at.
        limit: usize,
        /// How many are not.
        left_out: usize,
    },
}

impl SkillProblem {
    /// Whether it stops the skill.
    pub fn severity(&self) -> Severity {
        use SkillProblem as P;
        match self {
            P::FenceInsideLine { .. }
            | P::UnknownKeys(_)
            | P::FieldIgnored { .. }
            | P::MetadataIgnored(_)
            | P::HintIgnored { .. }
            | P::TooManySkills { .. } => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// What to do about it, where that is not the message read backwards.
    pub fn hint(&self) -> Option<&'static str> {
        use SkillProblem as P;
        Some(match self {
            P::MissingSkillMd => {
                "a skill is a folder with a `SKILL.md`; move other folders elsewhere"
            }
            P::LeavesFolder(_) => "copy what it points to into the folder",
            P::TooLarge { .. } => {
                "keep the body under 500 lines and move the rest into files beside it"
            }
            P::ByteOrderMark => "save the file as UTF-8 without a byte order mark",
            P::NoFrontmatter | P::UnclosedFrontmatter => {
                "put `name` and `description` between two lines of `---` at the top"
            }
            P::FenceInsideLine { .. } => "write an em dash, or two hyphens",
            P::Yaml { .. } => {
                "put values that contain `: ` or begin with a special character in quotes"
            }
            P::BeyondPlainYaml { .. } => {
                "write one `key: value` per line, lists with `- `, and quote texts that begin with `[`, `{`, `&`, `*` or `!`"
            }
            P::UnknownKeys(_) | P::MetadataIgnored(_) => {
                "put your own keys under `metadata`, as `key: text`"
            }
            P::NameNotFolder { .. } => "rename the folder or the skill",
            P::NameNotLowercase(_)
            | P::NameEdgeHyphen(_)
            | P::NameDoubleHyphen(_)
            | P::NameCharacters(_) => "use a name like `code-review`",
            P::LooksLike { .. } => "give it a name that cannot be mistaken",
            _ => return None,
        })
    }
}

/// At most 80 characters of a text somebody else chose, on one line.
pub(crate) fn clip(text: &str) -> String {
    const SHOWN: usize = 80;
    let mut chars = text.chars();
    let mut shown: String = chars
        .by_ref()
        .take(SHOWN)
        .map(|c| if c.is_control() { '\u{FFFD}' } else { c })
        .collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

/// Names in backticks, the first few of them.
pub(crate) fn clip_list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 8;
    let mut names = names.into_iter();
    let shown: Vec<_> = names
        .by_ref()
        .take(SHOWN)
        .map(|name| format!("`{}`", clip(name)))
        .collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
