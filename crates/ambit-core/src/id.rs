//! Who a capability is: `source__owner__name`, or `skill__name`. What is not a tool says so in its
//! name: `mcp__docs__prompt:review`, `mcp__docs__resource:index-1f3a…`, `mcp__docs__template:page-…`.
//!
//! Permission, audit and search speak only in ids, so an id keeps its origin and cannot be
//! made from a bare name. The text splits back exactly: an owner has no `__` inside and no
//! `_` at its ends, so the first two separators are always the real ones, whatever the name.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use crate::digest::Digest;

const SEPARATOR: &str = "__";
/// Longest id accepted. Long enough for any real server, short enough to log and index.
const MAX_ID: usize = 256;
const MAX_OWNER: usize = 64;
/// How much of a foreign name is kept where it has to be changed.
const MAX_STEM: usize = 96;

const PROMPT: &str = "prompt:";
const RESOURCE: &str = "resource:";
const TEMPLATE: &str = "template:";
const ANY_RESOURCE: &str = "template:any";

/// What sort of thing a capability is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Something to call.
    Tool,
    /// Instructions to load.
    Skill,
    /// Content to read.
    Resource,
    /// A prompt template to expand.
    Prompt,
    /// A feature of the entry point.
    Channel,
}

impl Kind {
    /// The word used in JSON and on the terminal.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Tool => "tool",
            Kind::Skill => "skill",
            Kind::Resource => "resource",
            Kind::Prompt => "prompt",
            Kind::Channel => "channel",
        }
    }
}

/// Where a capability comes from: the first segment of its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// Built into this process.
    Local,
    /// A skill folder.
    Skill,
    /// An MCP server.
    Mcp,
    /// An HTTP API.
    Http,
    /// Another agent.
    A2a,
    /// A plugin process or component.
    Plugin,
    /// Another Ambit.
    Remote,
    /// A stream.
    Stream,
    /// Registered at run time by whoever embeds Ambit.
    Extension,
}

impl Source {
    const ALL: [Source; 9] = [
        Source::Local,
        Source::Skill,
        Source::Mcp,
        Source::Http,
        Source::A2a,
        Source::Plugin,
        Source::Remote,
        Source::Stream,
        Source::Extension,
    ];

    /// The segment as written in ids.
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Local => "local",
            Source::Skill => "skill",
            Source::Mcp => "mcp",
            Source::Http => "http",
            Source::A2a => "a2a",
            Source::Plugin => "plugin",
            Source::Remote => "remote",
            Source::Stream => "stream",
            Source::Extension => "ext",
        }
    }

    fn parse(text: &str) -> Option<Source> {
        Source::ALL.into_iter().find(|it| it.as_str() == text)
    }
}

/// Why a text is not a capability id.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IdError {
    /// No `source__owner__name` shape: the origin is missing.
    #[error("`{0}` has no origin: an id is `source__owner__name`, or `skill__name`")]
    NoOrigin(String),
    /// The first segment is not a known source.
    #[error("`{id}` begins with `{source_name}`, which is not a source")]
    UnknownSource {
        /// The whole text.
        id: String,
        /// Its first segment.
        source_name: String,
    },
    /// A segment is empty, too long or has a character ids do not have.
    #[error("`{id}`: `{segment}` is not a valid {which}")]
    BadSegment {
        /// The whole text.
        id: String,
        /// The offending part.
        segment: String,
        /// `owner` or `name`.
        which: &'static str,
    },
    /// Longer than any id may be.
    #[error("an id of {0} bytes is longer than {MAX_ID}")]
    TooLong(usize),
}

/// The full identity of one capability of one provider.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CapabilityId {
    text: Arc<str>,
    source: Source,
    /// Where the owner starts; equal to `name_at` for skills, which have none.
    owner_at: u16,
    name_at: u16,
}

impl CapabilityId {
    /// A tool's id. The name may hold `__`; the owner may not.
    pub fn tool(source: Source, owner: &str, name: &str) -> Result<Self, IdError> {
        [source.as_str(), owner, name].join(SEPARATOR).parse()
    }

    /// A skill's id.
    pub fn skill(name: &str) -> Result<Self, IdError> {
        [Source::Skill.as_str(), name].join(SEPARATOR).parse()
    }

    /// A tool's id for a name chosen by someone who does not know our alphabet. Characters an
    /// id cannot hold are replaced, and a hash of the original keeps two such names apart.
    pub fn foreign_tool(source: Source, owner: &str, raw: &str) -> Result<Self, IdError> {
        if is_plain_name(raw)
            && let Ok(id) = Self::tool(source, owner, raw)
        {
            return Ok(id);
        }
        Self::tool(source, owner, &hashed(raw, raw, "tool"))
    }

    /// A prompt's id, for a name of somebody else's.
    pub fn foreign_prompt(source: Source, owner: &str, raw: &str) -> Result<Self, IdError> {
        let name = match is_plain_name(raw) && raw.len() <= MAX_STEM {
            true => raw.to_owned(),
            false => hashed(raw, raw, "prompt"),
        };
        Self::tool(source, owner, &format!("{PROMPT}{name}"))
    }

    /// A resource's id. It is the address that counts; what the resource is called is there for
    /// a reader.
    pub fn resource(source: Source, owner: &str, title: &str, uri: &str) -> Result<Self, IdError> {
        let name = hashed(title, uri, "resource");
        Self::tool(source, owner, &format!("{RESOURCE}{name}"))
    }

    /// The id of a family of resources, by the template of their addresses.
    pub fn template(source: Source, owner: &str, title: &str, uri: &str) -> Result<Self, IdError> {
        let name = hashed(title, uri, "template");
        Self::tool(source, owner, &format!("{TEMPLATE}{name}"))
    }

    /// The id under which resources are read that no list and no template of an owner has.
    pub fn any_resource(source: Source, owner: &str) -> Result<Self, IdError> {
        Self::tool(source, owner, ANY_RESOURCE)
    }

    /// Whether it is such an id. No other template's name is without a hash.
    pub fn is_any_resource(&self) -> bool {
        self.name() == ANY_RESOURCE
    }

    /// Whether it stands for a family of resources.
    pub fn is_template(&self) -> bool {
        self.name().starts_with(TEMPLATE)
    }

    /// Whether it is the resource at this address.
    pub fn is_resource_at(&self, uri: &str) -> bool {
        self.name().starts_with(RESOURCE)
            && self
                .name()
                .rsplit_once('-')
                .is_some_and(|(_, hash)| hash == Digest::of_bytes(uri.as_bytes()).short())
    }

    /// The text, `source__owner__name`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What sort of thing it is.
    pub fn kind(&self) -> Kind {
        let is = |prefix| self.name().starts_with(prefix);
        match self.source {
            Source::Skill => Kind::Skill,
            _ if is(PROMPT) => Kind::Prompt,
            _ if is(RESOURCE) || is(TEMPLATE) => Kind::Resource,
            _ => Kind::Tool,
        }
    }

    /// Where it comes from.
    pub fn source(&self) -> Source {
        self.source
    }

    /// The provider within its source; empty for skills.
    pub fn owner(&self) -> &str {
        let end = usize::from(self.name_at).saturating_sub(SEPARATOR.len());
        self.text.get(usize::from(self.owner_at)..end).unwrap_or("")
    }

    /// The last segment: the provider's own name for it, or its replacement.
    pub fn name(&self) -> &str {
        self.text.get(usize::from(self.name_at)..).unwrap_or("")
    }

    /// What two names share when a person could mistake one for the other: case and
    /// look-alike letters folded.
    pub fn skeleton(&self) -> String {
        skeleton(self.as_str())
    }
}

/// Folds case and look-alike letters (`l`, `1`, `I`; `0`, `O`; `rn`, `m`; other alphabets).
pub fn skeleton(text: &str) -> String {
    // Ids are ASCII and checked by the thousand; the tables are only for foreign names.
    if text.is_ascii() {
        return fold_ascii(text);
    }
    let folded: String = unicode_security::skeleton(&text.to_lowercase()).collect();
    fold_ascii(&folded.to_lowercase())
}

fn fold_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 4);
    for c in text.chars() {
        match c.to_ascii_lowercase() {
            '0' => out.push('o'),
            '1' | 'i' | '|' => out.push('l'),
            'm' => out.push_str("rn"),
            other => out.push(other),
        }
    }
    out
}

fn is_owner_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn is_name_char(c: char) -> bool {
    is_owner_char(c) || c == '.'
}

/// Whether a text can stand as an owner: a capability key or a server's name in config.
pub fn is_owner(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_OWNER
        && text.chars().all(is_owner_char)
        && !text.contains(SEPARATOR)
        && !text.starts_with(['_', '-'])
        && !text.ends_with('_')
}

fn is_name(text: &str) -> bool {
    let rest = [PROMPT, RESOURCE, TEMPLATE]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix));
    is_plain_name(rest.unwrap_or(text))
}

fn is_plain_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_name_char)
}

/// What can be kept of a name, and a hash that tells it from all others.
fn hashed(name: &str, hashed: &str, otherwise: &str) -> String {
    let kept: String = name
        .chars()
        .take(MAX_STEM)
        .map(|c| if is_name_char(c) { c } else { '_' })
        .collect();
    let stem = kept.trim_matches('_');
    let stem = if stem.is_empty() { otherwise } else { stem };
    format!("{stem}-{}", Digest::of_bytes(hashed.as_bytes()).short())
}

impl FromStr for CapabilityId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        if text.len() > MAX_ID {
            return Err(IdError::TooLong(text.len()));
        }
        let no_origin = || IdError::NoOrigin(text.to_owned());
        let (first, rest) = text.split_once(SEPARATOR).ok_or_else(no_origin)?;
        let source = Source::parse(first).ok_or_else(|| IdError::UnknownSource {
            id: text.to_owned(),
            source_name: first.to_owned(),
        })?;
        let bad = |which, segment: &str| IdError::BadSegment {
            id: text.to_owned(),
            segment: segment.to_owned(),
            which,
        };
        let owner_at = first.len() + SEPARATOR.len();
        let (name_at, name) = if source == Source::Skill {
            (owner_at, rest)
        } else {
            let (owner, name) = rest.split_once(SEPARATOR).ok_or_else(no_origin)?;
            if !is_owner(owner) {
                return Err(bad("owner", owner));
            }
            (owner_at + owner.len() + SEPARATOR.len(), name)
        };
        let fits = match source {
            Source::Skill => is_plain_name(name),
            _ => is_name(name),
        };
        if !fits {
            return Err(bad("name", name));
        }
        // Both offsets are below MAX_ID, so they fit.
        Ok(CapabilityId {
            text: Arc::from(text),
            source,
            owner_at: owner_at as u16,
            name_at: name_at as u16,
        })
    }
}

impl fmt::Display for CapabilityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for CapabilityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CapabilityId({})", self.text)
    }
}

impl Serialize for CapabilityId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for CapabilityId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, kind: Kind, owner: &str, name: &str) {
        let id: CapabilityId = text.parse().unwrap();
        assert_eq!((id.kind(), id.owner(), id.name()), (kind, owner, name));
        assert_eq!(id.as_str(), text);
    }

    #[test]
    fn ids_split_back_exactly() {
        check("local__files__read_file", Kind::Tool, "files", "read_file");
        check(
            "mcp__github__search_issues",
            Kind::Tool,
            "github",
            "search_issues",
        );
        check("mcp__my-server__a__b", Kind::Tool, "my-server", "a__b");
        check("mcp__gh___private", Kind::Tool, "gh", "_private");
        check("skill__code-review", Kind::Skill, "", "code-review");
        check(
            "mcp__docs__prompt:review",
            Kind::Prompt,
            "docs",
            "prompt:review",
        );
        check(
            "mcp__docs__resource:a-1f",
            Kind::Resource,
            "docs",
            "resource:a-1f",
        );
        check(
            "mcp__docs__template:a-1f",
            Kind::Resource,
            "docs",
            "template:a-1f",
        );
        check(
            "http__api.x__y".replace("api.x", "api").as_str(),
            Kind::Tool,
            "api",
            "y",
        );
    }

    #[test]
    fn without_an_origin_there_is_no_id() {
        for text in [
            "search",
            "read_file",
            "files__read_file",
            "local__files",
            "",
            "__",
            "local____x",
            "local__a__",
            "tool__a__b",
            "local__a b__c",
            "mcp___a__b",
            "skill__",
            "mcp__ä__x",
        ] {
            assert!(text.parse::<CapabilityId>().is_err(), "{text:?}");
        }
        assert!(
            format!("mcp__a__{}", "x".repeat(300))
                .parse::<CapabilityId>()
                .is_err()
        );
    }

    #[test]
    fn foreign_names_stay_apart() {
        let id = |raw| CapabilityId::foreign_tool(Source::Mcp, "s", raw).unwrap();
        assert_eq!(id("plain").as_str(), "mcp__s__plain");
        assert_ne!(id("do it"), id("do/it"));
        assert_ne!(id("日本"), id("本日"));
        assert_eq!(id("do it"), id("do it"));
    }

    #[test]
    fn skeletons_fold_case_and_look_alikes() {
        for (a, b) in [
            ("Read", "read"),
            ("l1st", "list"),
            ("g0", "go"),
            ("pаy", "pay"),
            ("List", "1ist"),
        ] {
            assert_eq!(skeleton(a), skeleton(b), "{a} {b}");
        }
        assert_ne!(skeleton("read"), skeleton("write"));
    }

    proptest! {
        #[test]
        fn parsing_round_trips(owner in "[a-z0-9][a-z0-9-]{0,8}", name in "[a-zA-Z0-9_.-]{1,20}") {
            let id = CapabilityId::tool(Source::Mcp, &owner, &name).unwrap();
            prop_assert_eq!(id.owner(), owner.as_str());
            prop_assert_eq!(id.name(), name.as_str());
            prop_assert_eq!(&id.as_str().parse::<CapabilityId>().unwrap(), &id);
        }

        #[test]
        fn parsing_never_panics(text in any::<String>()) {
            let _ = text.parse::<CapabilityId>();
        }
    }
}
