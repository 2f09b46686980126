//! Search gates, kept from turn to turn. A gate is a decision about every capability there is; it
//! changes with the catalog and with what bounds a session, and turns come far more often.

use std::collections::BTreeSet;
use std::fmt;

use ambit_core::catalog::CatalogSnapshot;
use ambit_core::digest::Digest;
use ambit_core::id::{CapabilityId, Kind};
use ambit_core::manifest::ChannelFeature;
use ambit_core::permission::{Bound, Mode, Rules};
use ambit_core::policy::hides;
use ambit_core::search::{Gate, SearchIndex};
use ambit_core::turn::TurnInput;
use ambit_core::visible::HiddenReason;
use ambit_core::wire::is_injection;
use parking_lot::Mutex;

use crate::discovery::Bounds;

/// What a search is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A turn's selection. What a rule forbids takes part, so that forbidding it does not lift
    /// what ranks below.
    Selecting,
    /// Somebody looks for something, perhaps of one kind. Injections are always there, so nobody
    /// has to find them.
    Finding {
        /// Only this kind.
        kind: Option<Kind>,
    },
}

/// Everything a gate depends on.
#[derive(PartialEq)]
struct Basis {
    purpose: Purpose,
    catalog: Digest,
    granted: Digest,
    mode: Mode,
    rules: Rules,
    channel: BTreeSet<ChannelFeature>,
    excludes: BTreeSet<CapabilityId>,
    within: Vec<Bound>,
}

/// The newest gate of each purpose.
#[derive(Default)]
pub(crate) struct Gates(Mutex<Vec<(Basis, Gate)>>);

impl Gates {
    /// The gate of an index, made anew only if anything it depends on has changed.
    pub(crate) fn of(
        &self,
        purpose: Purpose,
        index: &SearchIndex,
        catalog: &CatalogSnapshot,
        bounds: &Bounds,
        input: &TurnInput,
    ) -> Gate {
        let basis = Basis {
            purpose,
            catalog: catalog.digest(),
            granted: bounds.granted.digest(),
            mode: input.mode,
            rules: input.rules.clone(),
            channel: input.channel.clone(),
            excludes: input.excludes.clone(),
            within: input.within.clone(),
        };
        let mut gates = self.0.lock();
        if let Some((_, gate)) = gates.iter().find(|it| it.0 == basis && index.made(&it.1)) {
            return gate.clone();
        }
        let passes = |reason: Option<HiddenReason>| match purpose {
            Purpose::Selecting => {
                matches!(reason, None | Some(HiddenReason::RuleForbids { .. }))
            }
            Purpose::Finding { .. } => reason.is_none(),
        };
        let sought = |id: &CapabilityId| match purpose {
            Purpose::Selecting => true,
            Purpose::Finding { kind } => !is_injection(id) && kind.is_none_or(|it| it == id.kind()),
        };
        let gate = index.gate(|id| {
            sought(id)
                && bounds.granted.contains(id)
                && catalog
                    .get(id)
                    .is_some_and(|it| passes(hides(catalog, input, it)))
        });
        gates.retain(|it| it.0.purpose != purpose);
        gates.push((basis, gate.clone()));
        gate
    }
}

/// A copy has decided nothing yet.
impl Clone for Gates {
    fn clone(&self) -> Self {
        Gates::default()
    }
}

impl fmt::Debug for Gates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gates")
    }
}
