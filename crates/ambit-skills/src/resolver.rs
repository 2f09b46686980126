//! Skills as capabilities: granted by the key `skills`, each with its line in the catalog, its
//! body loaded by a call.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ambit_core::effects::Effects;
use ambit_core::id::{CapabilityId, skeleton};
use ambit_core::intent::CallId;
use ambit_core::manifest::{Acceptance, CapabilityManifest, Hints};
use ambit_core::observation::{Content, Failure, Output};
use ambit_runtime::conversation::Conversation;
use ambit_runtime::delegate::{Delegate, DelegatedTask, Worker};
use ambit_runtime::executor::{CapabilityExecutor, StartedCall};
use ambit_runtime::provider::{Provider, ProviderNews};
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use ambit_runtime::skill::own_place;
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::entry::SkillsSide;
use crate::hints::RunIn;
use crate::load::{FileContent, LoadedSkill, Page, load};
use crate::scan::{Skill, SkillSet};
use crate::shelf::{Offered, Shelf};

/// The key skills are granted by.
pub const KEY: &str = "skills";

/// Makes the skills of some roots grantable.
pub struct SkillsResolver {
    shelf: Arc<Shelf>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Config {
    include: Option<BTreeSet<String>>,
    exclude: BTreeSet<String>,
    sources: Option<BTreeSet<String>>,
}

impl SkillsResolver {
    /// Of what a scan found.
    pub fn new(set: SkillSet) -> Self {
        SkillsResolver {
            shelf: Shelf::new(set, None),
        }
    }

    /// The same, and what agents below this folder have written. That is looked at whenever it is
    /// asked what there is.
    pub fn with_agents(set: SkillSet, agents: PathBuf) -> Self {
        SkillsResolver {
            shelf: Shelf::new(set, Some(agents)),
        }
    }

    /// Where the skill is that has this name, or one that could be mistaken for it.
    pub fn named_like(&self, name: &str) -> Option<PathBuf> {
        let looks = skeleton(name);
        let skills = self.shelf.look();
        let mut skills = skills.values().map(|it| &it.skill);
        skills
            .find(|it| skeleton(it.name()) == looks)
            .map(|it| it.folder.path())
    }
}

fn manifest(offered: &Offered) -> CapabilityManifest {
    let Offered { skill, content } = offered;
    let acceptance = if skill.trust().needs_approval() {
        Acceptance::PerDefinition
    } else {
        Acceptance::NotNeeded
    };
    let description = skill.frontmatter.description.clone();
    CapabilityManifest {
        input_schema: json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "minLength": 1, "maxLength": 1024, "description": "A file of the skill; without it, the skill itself."},
                "offset": {"type": "integer", "minimum": 0, "description": "The byte to start at."},
                "uri": {"type": "string", "maxLength": 4096, "description": "The address of a file of the skill, to be read whole."}
            },
            "additionalProperties": false
        }),
        hints: Hints {
            paths: skill.hints.paths.clone(),
            keywords: skill.hints.keywords.clone(),
        },
        acceptance,
        content: Some(*content),
        search_text: skill.index_text.clone(),
        ..CapabilityManifest::new(skill.id.clone(), description, Effects::READS)
    }
}

#[async_trait]
impl CapabilityResolver for SkillsResolver {
    fn key(&self) -> &str {
        KEY
    }

    fn summary(&self) -> &str {
        "Instructions for kinds of tasks, loaded when one comes up."
    }

    fn offer(&self) -> Offer {
        Offer::Declared(self.shelf.look().values().map(manifest).collect())
    }

    fn config_schema(&self) -> Value {
        let names = |description: &str| json!({"type": "array", "items": {"type": "string"}, "description": description});
        json!({
            "type": "object",
            "properties": {
                "include": names("Only these skills."),
                "exclude": names("All but these skills."),
                "sources": {
                    "type": "array",
                    "items": {"enum": ["managed", "user", "project", "plugin", "mcp", "agent"]},
                    "description": "Only skills from these kinds of roots."
                }
            },
            "additionalProperties": false
        })
    }

    async fn resolve(
        &self,
        config: &Value,
        context: &ResolverContext,
    ) -> Result<Resolution, ResolveError> {
        let config: Config =
            serde_json::from_value(config.clone()).map_err(|error| ResolveError {
                key: KEY.to_owned(),
                message: error.to_string(),
            })?;
        let wanted = |skill: &Skill| {
            let name = skill.name();
            skill.only_for().is_none_or(|it| it == context.agent)
                && config.include.as_ref().is_none_or(|it| it.contains(name))
                && !config.exclude.contains(name)
                && config
                    .sources
                    .as_ref()
                    .is_none_or(|it| it.contains(skill.trust().as_str()))
        };
        let ids: BTreeSet<CapabilityId> = self
            .shelf
            .now()
            .values()
            .filter(|it| wanted(&it.skill))
            .map(|it| it.skill.id.clone())
            .collect();
        if ids.is_empty() {
            return Ok(Resolution::Nothing {
                reason: "no skill was found that fits".to_owned(),
            });
        }
        let executor = Arc::new(SkillsExecutor {
            shelf: Arc::clone(&self.shelf),
            loaded: Arc::default(),
            delegate: context.callbacks.delegate.clone(),
            news: broadcast::Sender::new(1),
        });
        Ok(Resolution::Only { executor, ids })
    }
}

/// Loads skills, and remembers what was loaded: files are read only of a skill whose
/// instructions were seen.
#[derive(Clone)]
struct SkillsExecutor {
    shelf: Arc<Shelf>,
    loaded: Arc<Mutex<BTreeMap<CapabilityId, Arc<LoadedSkill>>>>,
    /// Runs skills that are to be run apart.
    delegate: Option<Arc<dyn Delegate>>,
    /// Nothing is ever said here.
    news: broadcast::Sender<ProviderNews>,
}

#[async_trait]
impl CapabilityExecutor for SkillsExecutor {
    async fn execute(&self, call: StartedCall) -> Result<Output, Failure> {
        let this = self.clone();
        let id = call.id().clone();
        let skill = id.clone();
        let asked = call.call().clone();
        let conversation = call.conversation().clone();
        let arguments = call.into_arguments();
        let whole = arguments.get("uri").is_none() && arguments.get("path").is_none();
        let offset = arguments.get("offset").and_then(Value::as_u64);
        let text = move |key: &str| {
            arguments
                .get(key)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let offset = offset.unwrap_or(0);
        let work = move || match (text("uri"), text("path")) {
            (Some(uri), _) => this.resource(&id, &uri),
            (None, Some(path)) => this.read(&id, &path, offset),
            (None, None) => this.load(&id).map(|it| Output::text(it.render())),
        };
        let output = tokio::task::spawn_blocking(work)
            .await
            .map_err(|error| Failure::provider(error.to_string()))??;
        match self.apart(&skill).filter(|_| whole) {
            Some(delegate) => run_apart(delegate, skill, asked, &output, &conversation).await,
            None => Ok(output),
        }
    }

    fn provider(&self) -> Option<Arc<dyn Provider>> {
        Some(Arc::new(SkillsSide {
            shelf: Arc::clone(&self.shelf),
            news: self.news.clone(),
        }))
    }
}

/// Has a sub-agent follow a skill, and hands back what it answers.
async fn run_apart(
    delegate: &dyn Delegate,
    id: CapabilityId,
    call: CallId,
    body: &Output,
    conversation: &Conversation,
) -> Result<Output, Failure> {
    let name = id.name().to_owned();
    let texts = body.content.iter().filter_map(Content::as_text);
    let worker = Worker::Skill {
        id,
        instructions: texts.collect(),
    };
    let task = DelegatedTask { call, worker };
    let done = delegate.delegate(task, conversation).await;
    let done = done.map_err(Failure::refused)?;
    let answer = match done.answer.trim() {
        "" => format!("it said nothing: {}", done.ended),
        answer => answer.to_owned(),
    };
    Ok(Output::text(format!(
        "[the skill `{name}` was followed apart from this conversation, in session {}]\n{answer}",
        done.session
    )))
}

impl SkillsExecutor {
    /// Whoever runs a skill apart, if it says so and somebody can.
    fn apart(&self, id: &CapabilityId) -> Option<&dyn Delegate> {
        let run_in = self.shelf.now().get(id)?.skill.hints.run_in;
        self.delegate
            .as_deref()
            .filter(|_| run_in == RunIn::SubAgent)
    }

    fn load(&self, id: &CapabilityId) -> Result<Arc<LoadedSkill>, Failure> {
        let skills = self.shelf.now();
        let offered = skills
            .get(id)
            .ok_or_else(|| Failure::unreachable("the skill is gone"))?;
        let loaded = load(&offered.skill).map_err(|error| Failure::provider(error.to_string()))?;
        if offered.skill.trust().needs_approval() && loaded.digest != offered.content {
            return Err(Failure::refused(
                "the skill changed since it was listed; it has to be accepted again as it is now",
            ));
        }
        let loaded = Arc::new(loaded);
        self.loaded
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id.clone(), Arc::clone(&loaded));
        Ok(loaded)
    }

    /// A file whole, for somebody who knows the skill's entry: it need not be loaded before.
    fn resource(&self, id: &CapabilityId, uri: &str) -> Result<Output, Failure> {
        let place = own_place(uri).filter(|(name, _)| *name == id.name());
        let Some((_, path)) = place else {
            return Err(Failure::refused(format!(
                "`{uri}` is no file of this skill"
            )));
        };
        // The file may well be there, so this is not to be taken for its absence.
        let loaded = self.load(id).map_err(|it| Failure::provider(it.message))?;
        let read = loaded.resource(uri, &path);
        read.map_err(|error| Failure::refused(error.to_string()))
    }

    fn read(&self, id: &CapabilityId, path: &str, offset: u64) -> Result<Output, Failure> {
        let loaded = self
            .loaded
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(id)
            .cloned();
        let loaded =
            loaded.ok_or_else(|| Failure::refused("load the skill first, with load_skill"))?;
        let page = loaded
            .read_file(
                path,
                Page {
                    offset,
                    ..Page::default()
                },
            )
            .map_err(|error| Failure::refused(error.to_string()))?;
        let FileContent::Text(text) = page.content else {
            return Err(Failure::refused(format!(
                "`{path}` is not text ({} bytes)",
                page.size
            )));
        };
        let more = page.next_offset.map(|next| {
            format!(
                "\n[{} bytes in all; the next page starts at offset {next}]",
                page.size
            )
        });
        Ok(Output::text(text + &more.unwrap_or_default()))
    }
}
