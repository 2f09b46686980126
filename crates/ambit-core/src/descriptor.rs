//! The light catalog entry made from a manifest: enough to list, filter, rank and budget.
//! Detail is fetched later, by digest.

use std::collections::BTreeSet;

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::effects::{Effects, Risk};
use crate::id::{CapabilityId, Kind};
use crate::manifest::{Acceptance, CapabilityManifest, ChannelFeature, Hints, Permission, Tag};
use crate::visible::Layer;
use crate::wire::Naming;

/// What an entry costs a model's context, per layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCosts {
    /// The index line: name and one sentence.
    pub index: u32,
    /// The card: what it does and what it takes, in a few lines.
    #[serde(default)]
    pub card: u32,
    /// Everything: the schema, or a skill's body.
    pub full: u32,
}

impl TokenCosts {
    /// Of one layer.
    pub fn of(&self, layer: Layer) -> u32 {
        match layer {
            Layer::Unlisted => 0,
            Layer::Index => self.index,
            Layer::Card => self.card,
            Layer::Full => self.full,
        }
    }
}

/// One entry of the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CapabilityDescriptor {
    /// Who it is.
    pub id: CapabilityId,
    /// What sort of thing it is.
    pub kind: Kind,
    /// A short human name.
    pub title: String,
    /// One sentence.
    pub summary: String,
    /// The provider it comes from, `local:files`; one source comes and goes as a whole.
    pub source: String,
    /// How much harm a call can do.
    pub risk: Risk,
    /// What it does to the world.
    pub effects: Effects,
    /// What it needs, for rules to speak about.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub permissions: BTreeSet<Permission>,
    /// What it is filed under.
    #[serde(default)]
    pub tags: BTreeSet<Tag>,
    /// What the entry point must be able to do.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub needs: BTreeSet<ChannelFeature>,
    /// When it is worth showing.
    #[serde(default, skip_serializing_if = "Hints::is_empty")]
    pub hints: Hints,
    /// Whether a person has to accept it first.
    #[serde(default, skip_serializing_if = "Acceptance::is_not_needed")]
    pub acceptance: Acceptance,
    /// How it is called towards a model.
    #[serde(default, skip_serializing_if = "Naming::is_prefixed")]
    pub naming: Naming,
    /// The provider's version of it.
    pub version: Version,
    /// What it costs in context.
    pub tokens: TokenCosts,
    /// The definition's digest; the manifest is fetched by it.
    pub digest: Digest,
}

impl CapabilityDescriptor {
    /// The entry for a manifest whose cost has been counted.
    pub fn new(manifest: &CapabilityManifest, source: &str, tokens: TokenCosts) -> Self {
        CapabilityDescriptor {
            id: manifest.id.clone(),
            kind: manifest.id.kind(),
            title: manifest.title.clone(),
            summary: manifest.summary(),
            source: source.to_owned(),
            risk: manifest.risk,
            effects: manifest.effects,
            permissions: manifest.permissions.clone(),
            tags: manifest.tags.clone(),
            needs: manifest.needs.clone(),
            hints: manifest.hints.clone(),
            acceptance: manifest.acceptance,
            naming: manifest.naming,
            version: manifest.version.clone(),
            tokens,
            digest: manifest.digest(),
        }
    }
}
