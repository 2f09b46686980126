//! The JSON of `ls` and `show`. Types and not JSON values: a catalog has thousands of entries,
//! and a value of each would cost more memory than the catalog itself.

use std::collections::BTreeSet;

use ambit_core::descriptor::{CapabilityDescriptor, TokenCosts};
use ambit_core::digest::Digest;
use ambit_core::effects::{Effects, Risk};
use ambit_core::id::{CapabilityId, Kind};
use ambit_core::manifest::{ChannelFeature, Permission, Tag};
use serde::Serialize;
use serde_json::Value;

/// `ls --json`.
#[derive(Serialize)]
pub(crate) struct List<'a> {
    pub(crate) revision: u64,
    pub(crate) capabilities: Vec<Listed<'a>>,
    /// Sources that cannot serve, with or without capabilities.
    pub(crate) unavailable: Vec<Unavailable<'a>>,
}

/// A source that cannot serve.
#[derive(Serialize)]
pub(crate) struct Unavailable<'a> {
    pub(crate) source: &'a str,
    pub(crate) reason: &'a str,
}

/// One entry of it.
#[derive(Serialize)]
pub(crate) struct Listed<'a> {
    id: &'a CapabilityId,
    kind: Kind,
    title: &'a str,
    summary: &'a str,
    source: &'a str,
    risk: Risk,
    effects: Effects,
    tags: &'a BTreeSet<Tag>,
    version: String,
    tokens: TokenCosts,
    digest: Digest,
    available: bool,
    reason: Option<&'a str>,
}

impl<'a> Listed<'a> {
    pub(crate) fn new(entry: &'a CapabilityDescriptor, reason: Option<&'a str>) -> Self {
        Listed {
            id: &entry.id,
            kind: entry.kind,
            title: &entry.title,
            summary: &entry.summary,
            source: &entry.source,
            risk: entry.risk,
            effects: entry.effects,
            tags: &entry.tags,
            version: entry.version.to_string(),
            tokens: entry.tokens,
            digest: entry.digest,
            available: reason.is_none(),
            reason,
        }
    }
}

/// `show --json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shown<'a> {
    #[serde(flatten)]
    pub(crate) listed: Listed<'a>,
    pub(crate) wire_name: String,
    pub(crate) description: &'a str,
    pub(crate) permissions: &'a BTreeSet<Permission>,
    pub(crate) needs: &'a BTreeSet<ChannelFeature>,
    pub(crate) input_schema: &'a Value,
    pub(crate) output_schema: Option<&'a Value>,
}
