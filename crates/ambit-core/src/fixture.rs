//! Catalog entries written as lines, for the tests of this crate.

use std::collections::BTreeSet;

use crate::descriptor::{CapabilityDescriptor, TokenCosts};
use crate::effects::{Effect, Effects};
use crate::id::CapabilityId;
use crate::manifest::{CapabilityManifest, Permission};

/// `id effect… [permission…]`, such as `local__files__write_file writes fs:write`.
pub(crate) fn manifest(line: &str) -> CapabilityManifest {
    let mut words = line.split_whitespace();
    let id: CapabilityId = words.next().unwrap().parse().unwrap();
    let mut effects = Effects::default();
    let mut permissions = BTreeSet::new();
    for word in words {
        match Effect::parse(word) {
            Some(effect) => effects = effects.with(effect),
            None => {
                permissions.insert(word.parse::<Permission>().unwrap());
            }
        }
    }
    let description = format!("Does {}.", id.name());
    CapabilityManifest {
        permissions,
        ..CapabilityManifest::new(id, description, effects)
    }
}

/// The descriptor of [`manifest`], from the source its id names.
pub(crate) fn descriptor(line: &str) -> CapabilityDescriptor {
    let manifest = manifest(line);
    let source = format!("{}:{}", manifest.id.source().as_str(), manifest.id.owner());
    CapabilityDescriptor::new(
        &manifest,
        &source,
        TokenCosts {
            index: 10,
            card: 30,
            full: 100,
        },
    )
}
