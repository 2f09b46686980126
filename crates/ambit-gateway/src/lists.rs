//! What a client may list besides tools: prompts, resources and their templates, and skills. These
//! are for whoever uses the client, so all that is granted is there, whatever the model is shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_core::id::{CapabilityId, Kind};
use ambit_core::manifest::CapabilityManifest;
use ambit_core::visible::VisibleSet;
use ambit_core::wire::Naming;
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::skill::own_place;
use serde_json::Value;

/// A skill as a client sees it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShownSkill {
    pub(crate) id: CapabilityId,
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) summary: String,
    /// Whole, where the summary may be cut.
    pub(crate) description: String,
}

/// A prompt, resource or template as its server gave it.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) id: CapabilityId,
    manifest: Arc<CapabilityManifest>,
}

impl Given {
    /// The definition, in the protocol's words.
    pub(crate) fn definition(&self) -> Value {
        self.manifest.given.clone().unwrap_or_default()
    }

    /// Where it is, or the template of where it is.
    pub(crate) fn address(&self) -> Option<&str> {
        self.manifest.address()
    }
}

impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.manifest.given == other.manifest.given
    }
}

/// All lists but that of tools.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    pub(crate) skills: Vec<ShownSkill>,
    pub(crate) prompts: BTreeMap<String, Given>,
    pub(crate) resources: Vec<Given>,
    pub(crate) templates: Vec<Given>,
}

impl Lists {
    /// Of what is visible.
    pub(crate) fn of(market: &CapabilityMarketplace, visible: &VisibleSet) -> Self {
        let catalog = market.catalog();
        let mut lists = Lists::default();
        let mut ids: Vec<&CapabilityId> = visible.entries().iter().map(|it| &it.id).collect();
        // In an order that nothing before decides about; skills first, since they keep their names.
        ids.sort_by_key(|id| (id.kind() != Kind::Skill, *id));
        for id in ids {
            let Some(descriptor) = catalog.get(id) else {
                continue;
            };
            let given = || {
                let manifest = market.definition(&descriptor.digest)?;
                manifest.given.as_ref()?;
                let id = id.clone();
                Some(Given { id, manifest })
            };
            match id.kind() {
                Kind::Skill => lists.skills.push(ShownSkill {
                    id: id.clone(),
                    name: id.name().to_owned(),
                    title: descriptor.title.clone(),
                    summary: descriptor.summary.clone(),
                    description: market
                        .definition(&descriptor.digest)
                        .map_or_else(|| descriptor.summary.clone(), |it| it.description.clone()),
                }),
                Kind::Prompt => lists.add_prompt(given(), descriptor.naming),
                Kind::Resource if id.is_template() => lists.templates.extend(given()),
                Kind::Resource => {
                    let given =
                        given().filter(|it| !it.address().is_some_and(|it| lists.is_own(it)));
                    lists.resources.extend(given);
                }
                Kind::Tool | Kind::Channel => {}
            }
        }
        lists
    }

    fn add_prompt(&mut self, given: Option<Given>, naming: Naming) {
        let Some(given) = given else {
            return;
        };
        let definition = given.definition();
        let Some(raw) = definition.get("name").and_then(Value::as_str) else {
            return;
        };
        let prefixed = format!("{}__{raw}", given.id.owner());
        let is_free = !self.prompts.contains_key(raw) && !self.is_skill(raw);
        let name = match naming {
            Naming::Bare if is_free => raw.to_owned(),
            _ => prefixed,
        };
        self.prompts.entry(name).or_insert(given);
    }

    /// The prompt of a name.
    pub(crate) fn prompt(&self, name: &str) -> Option<&CapabilityId> {
        self.prompts.get(name).map(|it| &it.id)
    }

    /// Whether a skill is called so.
    pub(crate) fn is_skill(&self, name: &str) -> bool {
        self.skills.iter().any(|it| it.name == name)
    }

    /// Whether an address is inside an own skill.
    pub(crate) fn is_own(&self, uri: &str) -> bool {
        own_place(uri).is_some_and(|(name, _)| self.is_skill(name))
    }

    pub(crate) fn has_same_prompts(&self, other: &Lists) -> bool {
        self.prompts == other.prompts && self.skills == other.skills
    }

    pub(crate) fn has_same_resources(&self, other: &Lists) -> bool {
        self.resources == other.resources
            && self.templates == other.templates
            && self.skills == other.skills
    }
}
