//! What a provider declares about one capability.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::Digest;
use crate::effects::{Effects, Risk};
use crate::id::CapabilityId;
use crate::placeholder::SecretField;
use crate::printable::is_bidirectional;
use crate::wire::Naming;

/// A namespaced permission a manifest declares: `fs:write`, `net:egress`, `mcp:github`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Permission(String);

impl Permission {
    /// The text, `namespace:name`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Permission {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let word = |part: &str| {
            !part.is_empty()
                && part
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
        };
        match text.split_once(':') {
            Some((namespace, name)) if word(namespace) && word(name) => {
                Ok(Permission(text.to_owned()))
            }
            _ => Err(format!(
                "`{text}` is not a permission (`namespace:name`, such as `fs:write`)"
            )),
        }
    }
}

impl TryFrom<String> for Permission {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Permission> for String {
    fn from(it: Permission) -> String {
        it.0
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A word a capability is filed under.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tag(String);

impl Tag {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Tag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fine = (1..=64).contains(&text.len())
            && text.chars().all(|c| {
                c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.' | ':')
            })
            && text.starts_with(|c: char| c.is_ascii_alphanumeric());
        if fine {
            Ok(Tag(text.to_owned()))
        } else {
            Err(format!(
                "`{text}` is not a tag (lower-case letters, digits, `-_.:`)"
            ))
        }
    }
}

impl TryFrom<String> for Tag {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Tag> for String {
    fn from(it: Tag) -> String {
        it.0
    }
}

/// What an entry point must be able to do for a capability to make sense there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChannelFeature {
    /// Ask the person something.
    AskUser,
    /// Show images.
    ShowImages,
    /// Hand over files.
    SendFiles,
    /// Go on while nobody watches.
    RunInBackground,
}

impl ChannelFeature {
    /// The word used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ChannelFeature::AskUser => "ask-user",
            ChannelFeature::ShowImages => "show-images",
            ChannelFeature::SendFiles => "send-files",
            ChannelFeature::RunInBackground => "run-in-background",
        }
    }
}

/// When a capability is worth showing, in its provider's own words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hints {
    /// Globs of files it is about, relative to the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Words of tasks it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
}

impl Hints {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.keywords.is_empty()
    }
}

/// Whether a person has to say yes before it is used, whatever rules and earlier answers say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Acceptance {
    /// It comes from the user, or with Ambit.
    #[default]
    NotNeeded,
    /// It is somebody else's: once per definition, whatever the mode.
    PerDefinition,
    /// It changes what an agent is: every call while the mode is `ask`, and after content from
    /// outside was seen in `auto`, too.
    EveryCall,
}

impl Acceptance {
    /// Whether a person has to accept the definition.
    pub fn is_needed(&self) -> bool {
        *self == Acceptance::PerDefinition
    }

    pub(crate) fn is_not_needed(&self) -> bool {
        *self == Acceptance::NotNeeded
    }
}

/// What a provider declares: everything needed to describe, check and call one capability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CapabilityManifest {
    /// Who it is.
    pub id: CapabilityId,
    /// A short human name.
    pub title: String,
    /// What it does, for a model to read. The first sentence is its index line.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    /// JSON Schema of its structured result, if it promises one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What it does to the world.
    pub effects: Effects,
    /// How much harm a call can do.
    pub risk: Risk,
    /// What it needs, for rules to speak about.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub permissions: BTreeSet<Permission>,
    /// What it is filed under.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<Tag>,
    /// The provider's version of it.
    pub version: Version,
    /// What the entry point must be able to do.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub needs: BTreeSet<ChannelFeature>,
    /// Arguments whose entries may hold secrets in the form of placeholders: an object of names
    /// and texts each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secret_fields: BTreeMap<String, SecretField>,
    /// When it is worth showing.
    #[serde(default, skip_serializing_if = "Hints::is_empty")]
    pub hints: Hints,
    /// Whether a person has to accept it first.
    #[serde(default, skip_serializing_if = "Acceptance::is_not_needed")]
    pub acceptance: Acceptance,
    /// How it is called towards a model.
    #[serde(default, skip_serializing_if = "Naming::is_prefixed")]
    pub naming: Naming,
    /// Of what is behind the definition, where that can change by itself: a skill's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Digest>,
    /// What its provider says about it in its own protocol and nothing here has a word for, kept
    /// for whoever speaks that protocol: icons, annotations, a resource's address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Value>,
    /// What the whole provider is for; search sees it, a model does not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pack_summary: String,
    /// Text search may find it by and nobody is shown: a skill's body.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub search_text: String,
}

impl CapabilityManifest {
    /// A capability that takes an object and has these effects, and declares nothing else. The
    /// rest is filled in by struct update.
    pub fn new(id: CapabilityId, description: impl Into<String>, effects: Effects) -> Self {
        CapabilityManifest {
            title: id.name().to_owned(),
            description: description.into(),
            input_schema: serde_json::json!({"type": "object"}),
            output_schema: None,
            effects,
            risk: Risk::of(effects),
            permissions: BTreeSet::new(),
            tags: BTreeSet::new(),
            version: Version::new(1, 0, 0),
            needs: BTreeSet::new(),
            secret_fields: BTreeMap::new(),
            hints: Hints::default(),
            acceptance: Acceptance::default(),
            naming: Naming::default(),
            content: None,
            given: None,
            pack_summary: String::new(),
            search_text: String::new(),
            id,
        }
    }

    /// The digest of the whole definition: what is pinned, and what detail is fetched by.
    pub fn digest(&self) -> Digest {
        // Serializing strings, sets and JSON values cannot fail.
        Digest::of(self).unwrap_or(Digest::ZERO)
    }

    /// Where a resource is, or the template of where resources of its family are.
    pub fn address(&self) -> Option<&str> {
        let given = self.given.as_ref()?;
        given
            .get("uri")
            .or_else(|| given.get("uriTemplate"))?
            .as_str()
    }

    /// One sentence: the first of the description, or the title where there is none.
    pub fn summary(&self) -> String {
        first_sentence(if self.description.trim().is_empty() {
            &self.title
        } else {
            &self.description
        })
    }
}

const MAX_SUMMARY: usize = 200;

/// The first sentence of a text, on one line, what controls the display out, at most 200
/// characters.
pub fn first_sentence(text: &str) -> String {
    let line = text.trim_start().split("\n\n").next().unwrap_or("");
    let mut out = String::new();
    let mut count = 0;
    let mut words = line
        .split(|c: char| c.is_whitespace() || c.is_control() || is_bidirectional(c))
        .filter(|w| !w.is_empty())
        .peekable();
    while let Some(word) = words.next() {
        let length = word.chars().count();
        if count > 0 && count + 1 + length > MAX_SUMMARY {
            out.push('…');
            break;
        }
        if count > 0 {
            out.push(' ');
            count += 1;
        }
        if length > MAX_SUMMARY {
            out.extend(word.chars().take(MAX_SUMMARY - 1));
            out.push('…');
            break;
        }
        out.push_str(word);
        count += length;
        let ends = word.ends_with(['.', '!', '?']) && !matches!(word, "e.g." | "i.e." | "etc.");
        if ends
            && words
                .peek()
                .is_some_and(|next| next.starts_with(char::is_uppercase))
        {
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_is_the_index_line() {
        for (text, line) in [
            ("Reads a file. Then more.", "Reads a file."),
            ("Reads\n  a file", "Reads a file"),
            ("One, e.g. two. Three", "One, e.g. two."),
            ("v1.2 is read. ok", "v1.2 is read. ok"),
            ("  Para one\n\nPara two", "Para one"),
            ("", ""),
            ("Good\u{1b}[2J \u{202e}live\u{2066}", "Good [2J live"),
        ] {
            assert_eq!(first_sentence(text), line);
        }
        assert!(first_sentence(&"x".repeat(50_000)).chars().count() <= MAX_SUMMARY);
        assert!(first_sentence(&"word ".repeat(50_000)).chars().count() <= MAX_SUMMARY + 1);
    }

    #[test]
    fn permissions_and_tags_have_a_shape() {
        for good in ["fs:write", "net:egress", "mcp:github"] {
            assert!(good.parse::<Permission>().is_ok());
        }
        for bad in ["fs", ":x", "x:", "a b:c", ""] {
            assert!(bad.parse::<Permission>().is_err(), "{bad}");
        }
        assert!("code-search".parse::<Tag>().is_ok());
        for bad in ["", "Upper", "-x", "a b"] {
            assert!(bad.parse::<Tag>().is_err(), "{bad}");
        }
    }
}
