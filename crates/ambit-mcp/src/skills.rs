//! Skills of a server that has MCP's skills extension, and their files: what is read is compared
//! with what the server listed, and what does not fit goes no further.

use ambit_core::observation::{Content, ErrorAnswer, Failure, Output};
use ambit_runtime::provider::Provider as _;
use ambit_runtime::skill::{MisfitReason, SkillEntry};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use parking_lot::Mutex;
use rmcp::model::{ErrorCode, JsonObject};
use serde_json::{Value, json};

use crate::map::Raw;
use crate::side::{Answer, Side, internal};

/// The extension's name.
const EXTENSION: &str = "io.modelcontextprotocol/skills";
const MAX_PAGES: usize = 256;
const MAX_ENTRIES: usize = 4096;
const MAX_BYTES: usize = 16 << 20;

/// The skills a server listed last; nothing, if it never did.
#[derive(Default)]
pub(crate) struct KnownSkills(Mutex<Option<Vec<SkillEntry>>>);

impl KnownSkills {
    fn put(&self, entries: Vec<SkillEntry>) {
        *self.0.lock() = Some(entries);
    }

    fn renew(&self, entry: &SkillEntry) {
        if let Some(known) = self.0.lock().as_mut() {
            known.retain(|it| it.uri != entry.uri);
            known.push(entry.clone());
        }
    }

    /// The innermost, where one skill's folder is inside another's.
    fn holding(&self, uri: &str) -> Option<SkillEntry> {
        let known = self.0.lock();
        let holding = known.iter().flatten().filter(|it| it.holds(uri));
        holding.max_by_key(|it| it.folder().len()).cloned()
    }

    /// Whether another look could find the skill of an address that none is known for.
    fn may_miss(&self, uri: &str) -> bool {
        self.0.lock().is_none() || uri.starts_with("skill://") || uri.ends_with("/SKILL.md")
    }
}

impl Side {
    /// What the server says of the extension, connecting if need be.
    async fn declared(&self) -> Answer<Option<JsonObject>> {
        let connection = self.connection().await?;
        let info = connection.peer().peer_info();
        let extensions = info.and_then(|it| it.capabilities.extensions.clone());
        Ok(extensions.and_then(|mut it| it.remove(EXTENSION)))
    }

    /// Every skill the server lists. An entry that describes none is left out.
    pub(crate) async fn list_skills(&self) -> Answer<Vec<SkillEntry>> {
        if self.declared().await?.is_none() {
            return Ok(Vec::new());
        }
        let listed = self.pages("skills/list", "skills", json!({})).await?;
        let entries: Vec<SkillEntry> = listed.into_iter().filter_map(sound).collect();
        self.0.skills.put(entries.clone());
        Ok(entries)
    }

    /// One skill.
    pub(crate) async fn get_skill(&self, uri: &str) -> Answer<Option<SkillEntry>> {
        if self.declared().await?.is_none() {
            return Ok(None);
        }
        let found = known(self.request("skills/get", json!({"uri": uri})).await)?;
        let entry = found.and_then(|it| sound(it.get("skill")?.clone()));
        let entry = entry.filter(|it| it.uri == uri);
        if let Some(entry) = &entry {
            self.0.skills.renew(entry);
        }
        Ok(entry)
    }

    /// What is directly in a folder of a skill. A server that cannot say has said it in its list.
    pub(crate) async fn list_folder(&self, uri: &str) -> Answer<Option<Vec<Value>>> {
        let Some(declared) = self.declared().await? else {
            return Ok(None);
        };
        let folder = uri.strip_suffix('/').unwrap_or(uri);
        if declared.get("directoryRead") != Some(&Value::Bool(true)) {
            let entries = self.list_skills().await?;
            return Ok(entries.iter().find_map(|it| it.children(folder)));
        }
        let params = json!({"uri": uri});
        let listed = self.pages("resources/directory/read", "resources", params);
        let children = known(listed.await)?;
        let inside = |child: &Value| {
            let uri = child.get("uri").and_then(Value::as_str);
            uri.and_then(|it| it.strip_prefix(folder))
                .is_some_and(|it| it.starts_with('/'))
        };
        Ok(children.map(|it| it.into_iter().filter(inside).collect()))
    }

    /// Every page of a list.
    async fn pages(&self, method: &str, key: &str, mut params: Value) -> Answer<Vec<Value>> {
        let too_long = || internal(format!("`{method}` gave more than anybody could use"));
        let (mut entries, mut bytes) = (Vec::new(), 0);
        for _ in 0..MAX_PAGES {
            let mut page = self.request(method, params.clone()).await?;
            let listed = page.get_mut(key).map(Value::take);
            let Some(Value::Array(listed)) = listed else {
                return Err(internal(format!("`{method}` was answered without `{key}`")));
            };
            bytes += listed.iter().map(|it| it.to_string().len()).sum::<usize>();
            entries.extend(listed);
            if entries.len() > MAX_ENTRIES || bytes > MAX_BYTES {
                return Err(too_long());
            }
            match (page.get_mut("nextCursor"), params.as_object_mut()) {
                (Some(Value::String(next)), Some(params)) => {
                    params.insert("cursor".to_owned(), json!(next));
                }
                _ => return Ok(entries),
            }
        }
        Err(too_long())
    }

    /// Compares what was read at an address with the entry of the skill it belongs to. The entry
    /// may be older than the file: it is asked for once more before the file is refused.
    pub(crate) async fn fitting(&self, uri: &str, output: Output) -> Result<Output, Failure> {
        if !matches!(self.declared().await, Ok(Some(_))) {
            return Ok(output);
        }
        let Some(entry) = self.entry_for(uri).await else {
            return Ok(output);
        };
        if check(&entry, uri, &output).is_ok() {
            return Ok(output);
        }
        let entry = match self.get_skill(&entry.uri).await {
            Ok(Some(renewed)) => renewed,
            _ => entry,
        };
        match check(&entry, uri, &output) {
            Ok(()) => Ok(output),
            Err(reason) => Err(Failure::provider(format!(
                "{reason}; it was not passed on. Whoever runs the server `{}` has to put that right",
                self.0.spec().name
            ))),
        }
    }

    /// The entry of the skill an address belongs to, listed now if it was not.
    async fn entry_for(&self, uri: &str) -> Option<SkillEntry> {
        let known = self.0.skills.holding(uri);
        if known.is_some() || !self.0.skills.may_miss(uri) {
            return known;
        }
        if let Err(error) = self.list_skills().await {
            tracing::debug!(?error, "its skills cannot be listed");
        }
        self.0.skills.holding(uri)
    }
}

/// The address of a resource that is read.
pub(crate) fn address<'a>(raw: &'a Raw, arguments: &'a Value) -> Option<&'a str> {
    match raw {
        Raw::Resource(uri) => Some(uri),
        Raw::Template => arguments.get("uri").and_then(Value::as_str),
        Raw::Tool(_) | Raw::Prompt(_) => None,
    }
}

fn sound(entry: Value) -> Option<SkillEntry> {
    let entry: Option<SkillEntry> = serde_json::from_value(entry).ok();
    let sound = entry.filter(SkillEntry::is_sound);
    if sound.is_none() {
        tracing::debug!("an entry that describes no skill is left out");
    }
    sound
}

/// That there is no such thing is an answer.
fn known<T>(answer: Answer<T>) -> Answer<Option<T>> {
    let none = [ErrorCode::INVALID_PARAMS, ErrorCode::RESOURCE_NOT_FOUND].map(|it| it.0);
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(ErrorAnswer { code, .. }) if none.contains(&code) => Ok(None),
        Err(error) => Err(error),
    }
}

/// All that came back was asked for at this address, whatever it calls itself.
fn check(entry: &SkillEntry, uri: &str, output: &Output) -> Result<(), MisfitReason> {
    for content in &output.content {
        let Content::Block(block) = content else {
            continue;
        };
        let part = |key: &str| block.get("resource")?.get(key)?.as_str();
        let bytes = match (part("text"), part("blob")) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (None, Some(blob)) => BASE64_STANDARD.decode(blob).unwrap_or_default(),
            (None, None) => Vec::new(),
        };
        entry.check(uri, &bytes)?;
    }
    Ok(())
}
