//! What cannot be visible, whatever speaks for it.

use crate::catalog::CatalogSnapshot;
use crate::descriptor::CapabilityDescriptor;
use crate::turn::TurnInput;
use crate::visible::HiddenReason;

/// Why a granted capability cannot be visible this turn.
pub fn hides(
    catalog: &CatalogSnapshot,
    turn: &TurnInput,
    capability: &CapabilityDescriptor,
) -> Option<HiddenReason> {
    if let Some(held) = catalog.quarantine(&capability.id) {
        return Some(HiddenReason::Quarantined { why: held.reason });
    }
    if let Some(why) = catalog.unavailable(capability) {
        return Some(HiddenReason::SourceDown {
            why: why.to_owned(),
        });
    }
    if !turn.mode.shows(capability) {
        return Some(HiddenReason::ModeForbids);
    }
    if let Some(feature) = capability
        .needs
        .iter()
        .find(|feature| !turn.channel.contains(feature))
    {
        return Some(HiddenReason::ChannelCannot { feature: *feature });
    }
    if turn.excludes.contains(&capability.id) {
        return Some(HiddenReason::Excluded);
    }
    if let Some(rule) = turn.rules.forbidding(capability) {
        return Some(HiddenReason::RuleForbids {
            rule: rule.to_string(),
        });
    }
    turn.within.iter().find_map(|it| it.hides(capability))
}
