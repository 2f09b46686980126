//! What a model or client calls a capability: `owner__name`, at most 48 characters of
//! `[a-zA-Z0-9_-]`, since clients add a prefix of their own.
//!
//! A name depends on its id alone, so adding a server renames nothing. Where a name has to be
//! changed, a hash of the id keeps it unique, and the way back is a table, never parsing.

use std::collections::BTreeMap;

use crate::digest::Digest;
use crate::id::{CapabilityId, Kind, Source};

/// Longest wire name.
pub const MAX_WIRE_NAME: usize = 48;

/// The owner of the runtime's own injections, which are called by their bare name.
pub const INJECTION_OWNER: &str = "ambit";

/// Whether the runtime wires it.
pub fn is_injection(id: &CapabilityId) -> bool {
    id.source() == Source::Local && id.owner() == INJECTION_OWNER
}

/// The wire name an id has on its own.
pub fn wire_name(id: &CapabilityId) -> String {
    let plain = match id.source() {
        // Nobody calls these by name, and no wire name has a colon.
        _ if matches!(id.kind(), Kind::Resource | Kind::Prompt) => return id.to_string(),
        Source::Skill => id.as_str().to_owned(),
        _ if is_injection(id) => id.name().to_owned(),
        _ => format!("{}__{}", id.owner(), id.name()),
    };
    if plain.len() <= MAX_WIRE_NAME && plain.chars().all(is_wire_char) {
        plain
    } else {
        hashed(&plain, id)
    }
}

fn is_wire_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn hashed(plain: &str, id: &CapabilityId) -> String {
    let hash = Digest::of_bytes(id.as_str().as_bytes()).short();
    let room = MAX_WIRE_NAME - hash.len() - 1;
    let stem: String = plain
        .chars()
        .take(room)
        .map(|c| if is_wire_char(c) { c } else { '_' })
        .collect();
    format!("{stem}-{hash}")
}

/// The names of a set of ids, and the exact way back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WireNames {
    by_name: BTreeMap<String, CapabilityId>,
    by_id: BTreeMap<CapabilityId, String>,
}

impl WireNames {
    /// Names for these ids. Of two ids that would share a name, the later by id order is changed.
    pub fn assign<'a>(ids: impl IntoIterator<Item = &'a CapabilityId>) -> Self {
        let mut sorted: Vec<_> = ids.into_iter().collect();
        sorted.sort();
        sorted.dedup();
        let mut names = WireNames::default();
        for id in sorted {
            let mut name = wire_name(id);
            if names.by_name.contains_key(&name) {
                name = hashed(&name, id);
            }
            names.by_name.insert(name.clone(), id.clone());
            names.by_id.insert(id.clone(), name);
        }
        names
    }

    /// The id behind a wire name.
    pub fn id_of(&self, name: &str) -> Option<&CapabilityId> {
        self.by_name.get(name)
    }

    /// The id itself, if it is one of these.
    pub fn known(&self, id: &str) -> Option<&CapabilityId> {
        let id: CapabilityId = id.parse().ok()?;
        self.by_id.get_key_value(&id).map(|(known, _)| known)
    }

    /// The wire name of an id.
    pub fn name_of(&self, id: &CapabilityId) -> Option<&str> {
        self.by_id.get(id).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(id: &str, expected: &str) {
        assert_eq!(wire_name(&id.parse().unwrap()), expected);
    }

    #[test]
    fn short_plain_names_stay() {
        check("mcp__github__search_issues", "github__search_issues");
        check("local__files__read_file", "files__read_file");
        check("local__ambit__read_result", "read_result");
        check("skill__code-review", "skill__code-review");
    }

    #[test]
    fn long_and_foreign_names_get_a_stable_suffix() {
        let long: CapabilityId = format!("mcp__srv__{}", "x".repeat(60)).parse().unwrap();
        assert_eq!(wire_name(&long).len(), MAX_WIRE_NAME);
        assert_eq!(wire_name(&long), wire_name(&long));
        let dotted: CapabilityId = "mcp__srv__a.b".parse().unwrap();
        let plain: CapabilityId = "mcp__srv__a_b".parse().unwrap();
        assert_ne!(wire_name(&dotted), wire_name(&plain));
    }

    proptest! {
        #[test]
        fn the_way_back_is_exact(names in prop::collection::btree_set("[ab._]{1,60}", 1..20), owners in prop::collection::vec("[ab]", 20)) {
            let sources = [Source::Mcp, Source::Local, Source::Http];
            let ids: Vec<_> = names.iter().zip(owners.iter().cycle()).enumerate()
                .filter_map(|(n, (name, owner))| CapabilityId::tool(sources[n % 3], owner, name).ok()).collect();
            let wire = WireNames::assign(&ids);
            for id in &ids {
                let name = wire.name_of(id).unwrap();
                prop_assert!(name.len() <= MAX_WIRE_NAME && name.chars().all(is_wire_char));
                prop_assert_eq!(wire.id_of(name), Some(id));
            }
        }

        #[test]
        fn adding_a_server_renames_nothing(name in "[a-z_.]{1,60}", other in "[a-z_.]{1,60}") {
            let a = CapabilityId::tool(Source::Mcp, "one", &name).unwrap();
            let b = CapabilityId::tool(Source::Mcp, "two", &other).unwrap();
            let alone = WireNames::assign([&a]);
            let both = WireNames::assign([&a, &b]);
            prop_assert_eq!(alone.name_of(&a), both.name_of(&a));
        }
    }
}
