//! What cannot be visible, whatever speaks for it.

use crate::catalog::CatalogSnapshot;
use crate::descriptor::CapabilityDescriptor;
use crate::granted::Granted;
use crate::turn::TurnInput;
use crate::visible::HiddenReason;

/// Why a granted capability cannot be visible this turn.
pub fn hides(
    catalog: &CatalogSnapshot,
    turn: &TurnInput,
    capability: &CapabilityDescriptor,
) -> Option<HiddenReason> {
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
    let rule = turn.rules.forbidding(capability)?;
    Some(HiddenReason::RuleForbids {
        rule: rule.to_string(),
    })
}

/// Whether a search may find a capability: exactly when nothing but relevance could hide it.
pub fn eligible(
    catalog: &CatalogSnapshot,
    granted: &Granted,
    turn: &TurnInput,
    capability: &CapabilityDescriptor,
) -> bool {
    granted.contains(&capability.id) && hides(catalog, turn, capability).is_none()
}
