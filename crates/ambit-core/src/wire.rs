//! What a model or client calls a capability: `owner__name`, at most 48 characters of
//! `[a-zA-Z0-9_-]`, since clients add a prefix of their own.
//!
//! A name depends on its id alone, so adding a server renames nothing. Where a name has to be
//! changed, a hash of the id keeps it unique, and the way back is a table, never parsing.
//!
//! A provider may be given bare names, its own. They are a wish: whatever else is called that
//! way keeps the name, and the wish falls back to `owner__name`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::{CapabilityId, Kind, Source};

/// Longest wire name.
pub const MAX_WIRE_NAME: usize = 48;

/// Longest bare name: what MCP allows, since it is the user's wish to have the provider's own.
const MAX_BARE_NAME: usize = 128;

/// How the tools of a provider are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Naming {
    /// `owner__name`.
    #[default]
    Prefixed,
    /// The provider's own names, where nothing else has them.
    Bare,
}

impl Naming {
    pub(crate) fn is_prefixed(&self) -> bool {
        *self == Naming::Prefixed
    }
}

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

/// Which ids are called by their bare name. Decided over all that an agent was granted, visible
/// or not: a name must not go from one tool to another between two turns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BareNames(BTreeSet<CapabilityId>);

impl BareNames {
    /// Decides among these. What is or could be another's prefixed name, or an injection's, is
    /// nobody's bare name; of two ids that want the same, the earlier by id order has it.
    pub fn among<'a, I>(entries: I) -> Self
    where
        I: IntoIterator<Item = (&'a CapabilityId, Naming)>,
    {
        let (mut taken, mut wanting) = (BTreeSet::new(), BTreeSet::new());
        for (id, naming) in entries {
            taken.insert(wire_name(id));
            if naming == Naming::Bare && id.kind() == Kind::Tool && id.name().len() <= MAX_BARE_NAME
            {
                wanting.insert(id);
            }
        }
        let free = |id: &&&CapabilityId| taken.insert(id.name().to_owned());
        BareNames(
            wanting
                .iter()
                .filter(free)
                .map(|id| (*id).clone())
                .collect(),
        )
    }

    /// The name an id has with these, before it meets its equals.
    pub fn name(&self, id: &CapabilityId) -> String {
        match self.0.contains(id) {
            true => id.name().to_owned(),
            false => wire_name(id),
        }
    }
}

/// The names of a set of ids, and the exact way back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WireNames {
    by_name: BTreeMap<String, CapabilityId>,
    by_id: BTreeMap<CapabilityId, String>,
}

impl WireNames {
    /// Names for these ids. Of two ids that would share a name, the later by id order is changed,
    /// and a bare name before any other.
    pub fn assign<'a>(ids: impl IntoIterator<Item = &'a CapabilityId>, bare: &BareNames) -> Self {
        let mut sorted: Vec<_> = ids
            .into_iter()
            .map(|id| (bare.0.contains(id), id))
            .collect();
        sorted.sort();
        sorted.dedup();
        let mut names = WireNames::default();
        for (_, id) in sorted {
            let mut name = bare.name(id);
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

    /// `id` wants its bare name, `id*` does not; the names they get, in that order.
    #[track_caller]
    fn check_bare(ids: &[&str], expected: &[&str]) {
        let entries: Vec<(CapabilityId, Naming)> = ids
            .iter()
            .map(|it| match it.strip_suffix('*') {
                Some(id) => (id.parse().unwrap(), Naming::Prefixed),
                None => (it.parse().unwrap(), Naming::Bare),
            })
            .collect();
        let bare = BareNames::among(entries.iter().map(|(id, naming)| (id, *naming)));
        let names = WireNames::assign(entries.iter().map(|(id, _)| id), &bare);
        let found: Vec<_> = entries
            .iter()
            .map(|(id, _)| names.name_of(id).unwrap())
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_bare_name_gives_way() {
        check_bare(&["mcp__a__x", "mcp__b__y*"], &["x", "b__y"]);
        check_bare(&["mcp__a__x", "mcp__b__x"], &["x", "b__x"]);
        check_bare(&["mcp__b__x", "mcp__a__x"], &["b__x", "x"]);
        check_bare(&["mcp__a__b__x", "mcp__b__x*"], &["a__b__x", "b__x"]);
        check_bare(&["mcp__a__b__x", "mcp__b__x"], &["a__b__x", "x"]);
        check_bare(
            &["mcp__a__tool_search", "local__ambit__tool_search*"],
            &["a__tool_search", "tool_search"],
        );
        check_bare(&["mcp__a__x.y"], &["x.y"]);
        let long = "x".repeat(MAX_BARE_NAME);
        check_bare(&[&format!("mcp__a__{long}")], &[&long]);
        let longer: CapabilityId = format!("mcp__a__{long}x").parse().unwrap();
        check_bare(&[longer.as_str()], &[&wire_name(&longer)]);
    }

    proptest! {
        #[test]
        fn the_way_back_is_exact(names in prop::collection::btree_set("[ab._]{1,60}", 1..20), owners in prop::collection::vec("[ab]", 20)) {
            let sources = [Source::Mcp, Source::Local, Source::Http];
            let ids: Vec<_> = names.iter().zip(owners.iter().cycle()).enumerate()
                .filter_map(|(n, (name, owner))| CapabilityId::tool(sources[n % 3], owner, name).ok()).collect();
            let wire = WireNames::assign(&ids, &BareNames::default());
            for id in &ids {
                let name = wire.name_of(id).unwrap();
                prop_assert!(name.len() <= MAX_WIRE_NAME && name.chars().all(is_wire_char));
                prop_assert_eq!(wire.id_of(name), Some(id));
            }
        }

        #[test]
        fn bare_names_take_nothing_from_others(names in prop::collection::btree_set("[ab._]{1,6}", 1..20), owners in prop::collection::vec("[abc]", 20), shown in any::<u32>()) {
            // `a` and `b` want bare names, `c` does not.
            let ids: Vec<_> = names.iter().zip(owners.iter().cycle())
                .filter_map(|(name, owner)| CapabilityId::tool(Source::Mcp, owner, name).ok()).collect();
            let naming = |id: &CapabilityId| if id.owner() == "c" { Naming::Prefixed } else { Naming::Bare };
            let bare = BareNames::among(ids.iter().map(|it| (it, naming(it))));
            // Whatever part of them is shown, the way back is exact and a name stays whose it is.
            let part: Vec<_> = ids.iter().enumerate().filter(|(n, _)| shown & (1 << (n % 32)) != 0).map(|(_, it)| it).collect();
            let all = WireNames::assign(&ids, &bare);
            let some = WireNames::assign(part.iter().copied(), &bare);
            for id in part {
                let name = some.name_of(id).unwrap();
                prop_assert_eq!(some.id_of(name), Some(id));
                prop_assert_eq!(all.id_of(name), Some(id));
                if naming(id) == Naming::Prefixed {
                    prop_assert_eq!(name, wire_name(id));
                }
            }
        }

        #[test]
        fn adding_a_server_renames_nothing(name in "[a-z_.]{1,60}", other in "[a-z_.]{1,60}") {
            let a = CapabilityId::tool(Source::Mcp, "one", &name).unwrap();
            let b = CapabilityId::tool(Source::Mcp, "two", &other).unwrap();
            let alone = WireNames::assign([&a], &BareNames::default());
            let both = WireNames::assign([&a, &b], &BareNames::default());
            prop_assert_eq!(alone.name_of(&a), both.name_of(&a));
        }
    }
}
