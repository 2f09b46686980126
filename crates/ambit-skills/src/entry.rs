//! A skill as clients of MCP's skills extension see it: its entry, its folders, and its files byte
//! for byte.

use std::sync::Arc;

use ambit_core::id::CapabilityId;
use ambit_core::observation::{Content, ErrorAnswer, Output};
use ambit_runtime::provider::{Provider, ProviderNews};
use ambit_runtime::skill::{
    SKILL_MD, SkillEntry, SkillFile, SkillFiles, media_type, own_address, own_place,
};
use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};
use tokio::sync::broadcast;

use crate::error::SkillError;
use crate::load::{LoadedSkill, load};
use crate::shelf::Shelf;

/// Asked for something no skill has.
const METHOD_NOT_FOUND: i32 = -32601;
const INTERNAL_ERROR: i32 = -32603;

impl LoadedSkill {
    /// What is listed of it. `SKILL.md` goes by that name, whatever the file is called.
    pub fn entry(&self) -> SkillEntry {
        let name = &self.frontmatter.name;
        let head = self.files.get(&self.skill_md_path);
        let beside = self
            .files
            .iter()
            .filter(|(path, _)| **path != self.skill_md_path);
        let beside = beside.map(|(path, state)| (path.to_string_lossy(), state));
        let head = head.map(|state| (SKILL_MD.into(), state));
        let files = head
            .into_iter()
            .chain(beside)
            .map(|(path, state)| SkillFile {
                uri: own_address(name, &path),
                digest: state.digest,
                size: state.size,
            });
        SkillEntry {
            uri: own_address(name, SKILL_MD),
            frontmatter: self.head.clone(),
            resources: SkillFiles::Listed(files.collect()),
            more: Map::new(),
        }
    }

    /// A file at its address, whole.
    pub(crate) fn resource(&self, uri: &str, path: &str) -> Result<Output, SkillError> {
        let bytes = match path {
            SKILL_MD => self.whole_file(&self.skill_md_path.to_string_lossy())?,
            _ => self.whole_file(path)?,
        };
        let known = media_type(path);
        let resource = match String::from_utf8(bytes) {
            Ok(text) => {
                json!({"uri": uri, "mimeType": known.unwrap_or("text/plain"), "text": text})
            }
            Err(error) => {
                let blob = BASE64_STANDARD.encode(error.as_bytes());
                json!({"uri": uri, "mimeType": known.unwrap_or("application/octet-stream"), "blob": blob})
            }
        };
        Ok(Output {
            content: vec![Content::Block(
                json!({"type": "resource", "resource": resource}),
            )],
            ..Output::default()
        })
    }
}

/// Skills, seen from the side. Whoever asks names one that is visible to it.
pub(crate) struct SkillsSide {
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) news: broadcast::Sender<ProviderNews>,
}

impl SkillsSide {
    /// The skill an address is inside of, as it is now. One that cannot be read is none.
    async fn at(&self, uri: &str) -> Result<Option<SkillEntry>, ErrorAnswer> {
        let id = own_place(uri).and_then(|(name, _)| CapabilityId::skill(name).ok());
        let skills = self.shelf.now();
        let Some(id) = id.filter(|it| skills.contains_key(it)) else {
            return Ok(None);
        };
        let read = move || load(&skills.get(&id)?.skill).ok().map(|it| it.entry());
        tokio::task::spawn_blocking(read)
            .await
            .map_err(|error| answer(INTERNAL_ERROR, error.to_string()))
    }
}

#[async_trait]
impl Provider for SkillsSide {
    fn name(&self) -> &str {
        crate::resolver::KEY
    }

    async fn request(&self, method: &str, _: Value) -> Result<Value, ErrorAnswer> {
        let said = format!("skills do not answer `{method}`");
        Err(answer(METHOD_NOT_FOUND, said))
    }

    /// Skills are looked at when Ambit starts, so there is nothing to wait for.
    async fn watch(&self, _: &str) -> Result<(), ErrorAnswer> {
        Ok(())
    }

    async fn unwatch(&self, _: &str) -> Result<(), ErrorAnswer> {
        Ok(())
    }

    async fn log_from(&self, _: &str) {}

    async fn skill(&self, uri: &str) -> Result<Option<SkillEntry>, ErrorAnswer> {
        Ok(self.at(uri).await?.filter(|it| it.uri == uri))
    }

    async fn folder(&self, uri: &str) -> Result<Option<Vec<Value>>, ErrorAnswer> {
        Ok(self.at(uri).await?.and_then(|it| it.children(uri)))
    }

    fn news(&self) -> broadcast::Receiver<ProviderNews> {
        self.news.subscribe()
    }
}

fn answer(code: i32, message: String) -> ErrorAnswer {
    ErrorAnswer {
        code,
        message,
        data: None,
    }
}
