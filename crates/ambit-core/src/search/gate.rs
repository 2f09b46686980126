//! The gate: which documents of one index may be found, decided once and asked often.
//!
//! A decision about a capability is a walk through grants, modes and rules; a search looks at
//! thousands. So the decision is made once per document and kept as a bit.

use std::fmt;
use std::sync::Arc;

use super::index::SearchIndex;
use super::segment::Segment;
use crate::id::CapabilityId;

/// Which documents of one index may be found. Cloning shares.
///
/// It belongs to the index value it was made by. In any other index, an older or newer one of
/// the same sources too, nothing passes it.
#[derive(Clone)]
pub struct Gate {
    /// What it was made for; holding it keeps its address from being used again.
    segments: Arc<[Arc<Segment>]>,
    /// One bit per document.
    bits: Arc<[u64]>,
    passing: u32,
}

impl Gate {
    pub(super) fn new<'a>(
        segments: Arc<[Arc<Segment>]>,
        ids: impl Iterator<Item = &'a CapabilityId>,
        allows: impl Fn(&CapabilityId) -> bool,
    ) -> Gate {
        let mut bits = Vec::new();
        let mut word = 0;
        let mut passing = 0;
        for (at, id) in (0_u32..).zip(ids) {
            if at % u64::BITS == 0 && at > 0 {
                bits.push(word);
                word = 0;
            }
            let passes = allows(id);
            word |= u64::from(passes) << (at % u64::BITS);
            passing += u32::from(passes);
        }
        bits.push(word);
        Gate {
            segments,
            bits: bits.into(),
            passing,
        }
    }

    /// How many documents pass.
    pub fn passing(&self) -> usize {
        self.passing as usize
    }

    pub(super) fn is_for(&self, segments: &Arc<[Arc<Segment>]>) -> bool {
        Arc::ptr_eq(&self.segments, segments)
    }

    /// Whether a document of its index passes.
    pub(super) fn passes(&self, document: u32) -> bool {
        let word = self.bits.get((document / u64::BITS) as usize);
        word.is_some_and(|it| it >> (document % u64::BITS) & 1 == 1)
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("passing", &self.passing)
            .finish_non_exhaustive()
    }
}

impl SearchIndex {
    /// Decides about every document, for the searches to come.
    pub fn gate(&self, allows: impl Fn(&CapabilityId) -> bool) -> Gate {
        let entries = self.segments().flat_map(|(it, _)| &it.entries);
        Gate::new(self.identity(), entries.map(|it| &it.id), allows)
    }
}
