//! The discovery policy: which capabilities does the model see this turn? Pure, total, and
//! every answer has its reason.

use std::collections::BTreeMap;

use crate::catalog::CatalogSnapshot;
use crate::descriptor::CapabilityDescriptor;
use crate::turn::TurnInput;
use crate::visible::{HiddenReason, VisibleEntry, VisibleReason, VisibleSet};

/// Recorded with every turn: replay refuses to compare across versions.
pub const POLICY_VERSION: u32 = 1;

/// Selects what is visible.
pub fn select(catalog: &CatalogSnapshot, turn: &TurnInput) -> VisibleSet {
    let mut entries = Vec::new();
    let mut hidden = BTreeMap::new();
    for capability in catalog.iter() {
        match hides(catalog, turn, capability) {
            Some(reason) => {
                hidden.insert(capability.id.clone(), reason);
            }
            None => entries.push(VisibleEntry {
                id: capability.id.clone(),
                reasons: vec![VisibleReason::Granted],
            }),
        }
    }
    VisibleSet::new(entries, hidden)
}

/// Why a capability cannot be visible this turn, whatever its relevance.
pub fn hides(
    catalog: &CatalogSnapshot,
    turn: &TurnInput,
    capability: &CapabilityDescriptor,
) -> Option<HiddenReason> {
    if !turn.granted.contains(&capability.id) {
        return Some(HiddenReason::NotGranted);
    }
    if let Some(why) = catalog.unavailable(capability) {
        return Some(HiddenReason::SourceDown {
            why: why.to_owned(),
        });
    }
    if !turn.mode.shows(capability) {
        return Some(HiddenReason::ModeForbids);
    }
    if let Some(rule) = turn.rules.forbidding(capability) {
        return Some(HiddenReason::RuleForbids {
            rule: rule.to_string(),
        });
    }
    let missing = capability
        .needs
        .iter()
        .find(|feature| !turn.channel.contains(feature));
    missing.map(|feature| HiddenReason::ChannelCannot { feature: *feature })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::SourceSnapshot;
    use crate::fixture::descriptor;
    use crate::permission::{Mode, Rule, Rules, Verdict};

    const CATALOG: &str = "
        local__files__read_file   reads
        local__files__edit_file   writes
        mcp__ci__job_log          reads
        mcp__ci__cancel           writes open-world";

    fn catalog(down: Option<&str>) -> CatalogSnapshot {
        let mut catalog = CatalogSnapshot::default();
        for source in ["local:files", "mcp:ci"] {
            let descriptors = CATALOG
                .lines()
                .filter(|it| !it.trim().is_empty())
                .map(descriptor)
                .filter(|it| it.source == source)
                .map(std::sync::Arc::new)
                .collect();
            let unavailable = (down == Some(source)).then(|| "exited".to_owned());
            catalog = catalog
                .with_source(SourceSnapshot {
                    source: source.into(),
                    descriptors,
                    unavailable,
                })
                .0;
        }
        catalog
    }

    #[track_caller]
    fn check(
        catalog: &CatalogSnapshot,
        mode: Mode,
        without: &[&str],
        rules: Rules,
        expected: &str,
    ) {
        let granted = catalog
            .iter()
            .map(|it| it.id.clone())
            .filter(|id| !without.contains(&id.as_str()))
            .collect();
        let turn = TurnInput {
            granted,
            mode,
            rules,
            ..Default::default()
        };
        let visible = select(catalog, &turn);
        let names: Vec<_> = visible.entries().iter().map(|it| it.id.as_str()).collect();
        assert_eq!(names, expected.split_whitespace().collect::<Vec<_>>());
        assert_eq!(
            visible.entries().len() + visible.hidden().len(),
            catalog.len(),
            "everything has an answer"
        );
    }

    #[test]
    fn filters_hide_with_reasons() {
        let all = catalog(None);
        let none = Rules::default;
        check(
            &all,
            Mode::ReadOnly,
            &[],
            none(),
            "local__files__read_file mcp__ci__job_log",
        );
        check(
            &all,
            Mode::Auto,
            &[],
            none(),
            "local__files__edit_file local__files__read_file mcp__ci__job_log",
        );
        check(
            &all,
            Mode::Ask,
            &["mcp__ci__cancel", "mcp__ci__job_log"],
            none(),
            "local__files__edit_file local__files__read_file",
        );
        check(
            &catalog(Some("mcp:ci")),
            Mode::Ask,
            &[],
            none(),
            "local__files__edit_file local__files__read_file",
        );
        let deny = Rules::new([Rule {
            verdict: Verdict::Deny,
            subject: "writes".parse().unwrap(),
        }]);
        check(
            &all,
            Mode::Ask,
            &[],
            deny,
            "local__files__read_file mcp__ci__job_log",
        );
    }
}
