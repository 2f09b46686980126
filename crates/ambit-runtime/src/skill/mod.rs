//! A skill as MCP's skills extension describes it: where its `SKILL.md` is, what stands at the head
//! of that, and every file with its digest and size. Whoever reads a file compares it with that.

mod address;

use ambit_core::digest::Digest;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use address::decoded;
pub use address::{media_type, own_address, own_place};

/// The file every skill has.
pub const SKILL_MD: &str = "SKILL.md";
/// More than any frontmatter needs.
const MAX_FRONTMATTER: usize = 64 << 10;

/// One skill, as it is listed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillEntry {
    /// Where its `SKILL.md` is.
    pub uri: String,
    /// What stands at the head of `SKILL.md`, in JSON.
    pub frontmatter: Map<String, Value>,
    /// All its files.
    pub resources: SkillFiles,
    /// What else is said of it.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// The files of a skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SkillFiles {
    /// These, and no others.
    Listed(Vec<SkillFile>),
    /// They are made when they are read, so nothing can be said beforehand.
    Made(Made),
}

/// The word for files that are made when they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Made {
    /// That word.
    #[serde(rename = "dynamic")]
    Dynamic,
}

/// One file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillFile {
    /// Where it is.
    pub uri: String,
    /// Of its bytes.
    pub digest: Digest,
    /// How many they are.
    pub size: u64,
}

/// Why something that was read is not what its skill's entry says.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MisfitReason {
    /// The entry has no such file.
    #[error("`{0}` is not among the files its skill lists")]
    NotListed(String),
    /// It is longer or shorter.
    #[error("`{uri}` has {found} bytes where its skill lists {listed}")]
    Size {
        /// Which file.
        uri: String,
        /// What it has.
        found: u64,
        /// What it should have.
        listed: u64,
    },
    /// The bytes are others.
    #[error("`{0}` does not have the digest its skill lists")]
    Digest(String),
    /// The head of `SKILL.md` says something else.
    #[error("`{field}` at the head of `{uri}` is not what its skill's entry says")]
    Frontmatter {
        /// Which file.
        uri: String,
        /// The first field that differs.
        field: String,
    },
    /// `SKILL.md` has no head that could be read.
    #[error("`{0}` has no frontmatter that can be read")]
    NoFrontmatter(String),
}

/// What stands at the head of a `SKILL.md`, in JSON.
pub fn frontmatter(text: &str) -> Option<Map<String, Value>> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let rest = text.strip_prefix("---")?;
    let (head, _) = rest.split_once("\n---")?;
    if head.len() > MAX_FRONTMATTER {
        return None;
    }
    serde_saphyr::from_str(head).ok()
}

impl SkillEntry {
    /// Where its folder is, without a slash at the end.
    pub fn folder(&self) -> &str {
        let folder = self.uri.strip_suffix(SKILL_MD).unwrap_or(&self.uri);
        folder.strip_suffix('/').unwrap_or(folder)
    }

    /// Whether an address is inside its folder.
    pub fn holds(&self, uri: &str) -> bool {
        uri.strip_prefix(self.folder())
            .is_some_and(|it| it.starts_with('/'))
    }

    /// Whether it describes a skill at all: its name is its folder's, and each of its files is
    /// inside the folder, once, `SKILL.md` among them.
    pub fn is_sound(&self) -> bool {
        let text = |key: &str| self.frontmatter.get(key).and_then(Value::as_str);
        let folder = self.folder();
        let named = text("name").is_some_and(|name| folder.rsplit('/').next() == Some(name));
        let described = text("description").is_some_and(|it| !it.is_empty());
        let ends = self.uri.ends_with("/SKILL.md");
        let complete = match &self.resources {
            SkillFiles::Made(_) => true,
            SkillFiles::Listed(files) => {
                let uris: std::collections::BTreeSet<&str> =
                    files.iter().map(|it| it.uri.as_str()).collect();
                uris.len() == files.len()
                    && uris.contains(self.uri.as_str())
                    && uris.iter().all(|it| self.holds(it))
            }
        };
        named && described && ends && complete
    }

    /// Compares what was read at an address inside its folder with what it lists.
    pub fn check(&self, uri: &str, bytes: &[u8]) -> Result<(), MisfitReason> {
        if let SkillFiles::Listed(files) = &self.resources {
            let file = files.iter().find(|it| it.uri == uri);
            let file = file.ok_or_else(|| MisfitReason::NotListed(uri.to_owned()))?;
            let found = bytes.len() as u64;
            if found != file.size {
                return Err(MisfitReason::Size {
                    uri: uri.to_owned(),
                    found,
                    listed: file.size,
                });
            }
            if Digest::of_bytes(bytes) != file.digest {
                return Err(MisfitReason::Digest(uri.to_owned()));
            }
        }
        match uri == self.uri {
            true => self.check_frontmatter(bytes),
            false => Ok(()),
        }
    }

    fn check_frontmatter(&self, bytes: &[u8]) -> Result<(), MisfitReason> {
        let text = std::str::from_utf8(bytes).ok();
        let read = text.and_then(frontmatter);
        let read = read.ok_or_else(|| MisfitReason::NoFrontmatter(self.uri.clone()))?;
        let keys = self.frontmatter.keys().chain(read.keys());
        let other = keys
            .into_iter()
            .find(|key| field(&self.frontmatter, key) != field(&read, key));
        match other {
            None => Ok(()),
            Some(field) => Err(MisfitReason::Frontmatter {
                uri: self.uri.clone(),
                field: field.clone(),
            }),
        }
    }

    /// What is directly in a folder of the skill, if it lists its files and one is in there:
    /// resources as the protocol has them, folders among them, by address.
    pub fn children(&self, folder: &str) -> Option<Vec<Value>> {
        let SkillFiles::Listed(files) = &self.resources else {
            return None;
        };
        let folder = folder.strip_suffix('/').unwrap_or(folder);
        if folder != self.folder() && !self.holds(folder) {
            return None;
        }
        let children: std::collections::BTreeMap<&str, Value> = files
            .iter()
            .filter_map(|file| {
                let rest = file.uri.strip_prefix(folder)?.strip_prefix('/')?;
                let (name, child) = match rest.split_once('/') {
                    Some((name, _)) => (name, child(folder, name, Some(DIRECTORY))),
                    None => {
                        let mut child = child(folder, rest, media_type(rest));
                        if let Some(child) = child.as_object_mut() {
                            child.insert("size".to_owned(), file.size.into());
                        }
                        (rest, child)
                    }
                };
                Some((name, child))
            })
            .collect();
        (!children.is_empty()).then(|| children.into_values().collect())
    }
}

/// Nothing and null are the same.
fn field<'a>(map: &'a Map<String, Value>, key: &str) -> &'a Value {
    map.get(key).unwrap_or(&Value::Null)
}

/// The media type of a folder.
const DIRECTORY: &str = "inode/directory";

fn child(folder: &str, name: &str, media_type: Option<&str>) -> Value {
    let mut child = Map::new();
    let shown = decoded(name).unwrap_or_else(|| name.to_owned());
    child.insert("uri".to_owned(), format!("{folder}/{name}").into());
    child.insert("name".to_owned(), shown.into());
    if let Some(media_type) = media_type {
        child.insert("mimeType".to_owned(), media_type.into());
    }
    Value::Object(child)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const HEAD: &str = "---\nname: a\ndescription: Does a\nversion: 1.5\n---\n\nDo a.\n";

    fn entry(files: Value) -> SkillEntry {
        let frontmatter = json!({"name": "a", "description": "Does a", "version": 1.5});
        let entry = json!({"uri": "skill://x/a/SKILL.md", "frontmatter": frontmatter, "resources": files, "new": 1});
        let parsed: SkillEntry = serde_json::from_value(entry.clone()).unwrap();
        assert_eq!(serde_json::to_value(&parsed).unwrap(), entry);
        parsed
    }

    fn file(path: &str, content: &str) -> Value {
        let digest = Digest::of_bytes(content.as_bytes());
        json!({"uri": format!("skill://x/a/{path}"), "digest": digest, "size": content.len()})
    }

    #[test]
    fn what_was_read_has_to_fit() {
        let head = "skill://x/a/SKILL.md";
        let other = HEAD.replace("Does a", "Does b");
        let (listed, lying) = (
            json!([file("SKILL.md", HEAD), file("b.txt", "b")]),
            json!([file("SKILL.md", &other)]),
        );
        let made = json!("dynamic");
        for (files, uri, content, expected) in [
            (&listed, head, HEAD, ""),
            (&listed, "skill://x/a/b.txt", "b", ""),
            (
                &listed,
                "skill://x/a/b.txt",
                "c",
                "`skill://x/a/b.txt` does not have the digest its skill lists",
            ),
            (
                &listed,
                "skill://x/a/b.txt",
                "bb",
                "`skill://x/a/b.txt` has 2 bytes where its skill lists 1",
            ),
            (
                &listed,
                "skill://x/a/c.txt",
                "c",
                "`skill://x/a/c.txt` is not among the files its skill lists",
            ),
            (
                &lying,
                head,
                other.as_str(),
                "`description` at the head of `skill://x/a/SKILL.md` is not what its skill's entry says",
            ),
            (&made, head, HEAD, ""),
            (&made, "skill://x/a/c.txt", "anything", ""),
            (
                &made,
                head,
                "no head",
                "`skill://x/a/SKILL.md` has no frontmatter that can be read",
            ),
        ] {
            let checked = entry(files.clone()).check(uri, content.as_bytes());
            let said = checked.err().map(|it| it.to_string()).unwrap_or_default();
            assert_eq!(said, expected, "{uri} {content}");
        }
    }

    #[test]
    fn an_entry_describes_a_skill() {
        let own = file("SKILL.md", HEAD);
        let outside = json!({"uri": "skill://x/b", "digest": Digest::ZERO, "size": 0});
        for (files, sound) in [
            (json!("dynamic"), true),
            (json!([own]), true),
            (json!([]), false),
            (json!([own, own]), false),
            (json!([own, outside]), false),
        ] {
            assert_eq!(entry(files.clone()).is_sound(), sound, "{files}");
        }
        let mut unnamed = entry(json!("dynamic"));
        unnamed.frontmatter.insert("name".to_owned(), json!("b"));
        assert!(!unnamed.is_sound());
    }

    #[test]
    fn a_folder_lists_what_is_directly_in_it() {
        let files = json!([
            file("SKILL.md", HEAD),
            file("r/deep/x.bin", ""),
            file("r/b.md", "b")
        ]);
        let entry = entry(files);
        for (folder, names) in [
            ("skill://x/a", Some("SKILL.md r/")),
            ("skill://x/a/", Some("SKILL.md r/")),
            ("skill://x/a/r", Some("b.md deep/")),
            ("skill://x/a/r/deep", Some("x.bin")),
            ("skill://x/a/SKILL.md", None),
            ("skill://x/a/none", None),
            ("skill://x", None),
            ("skill://x/ab", None),
        ] {
            let named = entry.children(folder).map(|children| {
                let names = children.iter().map(|it| {
                    let name = it["name"].as_str().unwrap();
                    match it["mimeType"] == DIRECTORY {
                        true => format!("{name}/"),
                        false => name.to_owned(),
                    }
                });
                names.collect::<Vec<_>>().join(" ")
            });
            assert_eq!(named.as_deref(), names, "{folder}");
        }
    }
}
