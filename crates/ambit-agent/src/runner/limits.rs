//! How far a run may go: turns, tokens and money. What a sub-agent uses up counts for everybody
//! who waits for it.

use std::sync::Arc;

use ambit_core::run::ModelUsage;
use parking_lot::Mutex;

use crate::usage::{Cost, Usage};

/// How many turns of a model a run has where nobody says.
pub const TURNS: u32 = 50;

/// How far a run may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// Most turns of the model.
    pub turns: u32,
    /// Most tokens, read and written.
    pub tokens: Option<u64>,
    /// Most money, in the currency of the model's prices.
    pub cost: Option<Cost>,
}

impl Default for RunLimits {
    fn default() -> Self {
        RunLimits {
            turns: TURNS,
            tokens: None,
            cost: None,
        }
    }
}

/// What a run has used up.
#[derive(Debug)]
pub(crate) struct Meter {
    limits: RunLimits,
    used: Mutex<Usage>,
    /// Whoever waits for it.
    above: Option<Arc<Meter>>,
}

impl Meter {
    pub(crate) fn new(limits: RunLimits, above: Option<Arc<Meter>>) -> Arc<Self> {
        Arc::new(Meter {
            limits,
            used: Mutex::default(),
            above,
        })
    }

    /// One more answer was paid for.
    pub(crate) fn add(&self, usage: Usage) {
        *self.used.lock() += usage;
        if let Some(above) = &self.above {
            above.add(usage);
        }
    }

    pub(crate) fn used(&self) -> Usage {
        *self.used.lock()
    }

    /// Whether nothing is left, here or with anybody who waits.
    pub(crate) fn is_empty(&self) -> bool {
        let used = self.used();
        let tokens = used.read().saturating_add(used.output);
        let is_over = self.limits.tokens.is_some_and(|most| tokens >= most)
            || (self.limits.cost.zip(used.cost)).is_some_and(|(most, cost)| cost >= most);
        is_over || self.above.as_ref().is_some_and(|it| it.is_empty())
    }
}

/// As the journal writes it.
pub(crate) fn recorded(usage: &Usage) -> ModelUsage {
    ModelUsage {
        input: usage.input,
        cached_input: usage.cached_input,
        cache_write: usage.cache_write,
        output: usage.output,
        cost: usage.cost.map(Cost::units),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(output: u64) -> Usage {
        Usage {
            output,
            ..Usage::default()
        }
    }

    #[test]
    fn a_sub_agent_spends_what_its_parent_has() {
        let limits = |tokens| RunLimits {
            tokens: Some(tokens),
            ..RunLimits::default()
        };
        let parent = Meter::new(limits(100), None);
        let child = Meter::new(limits(80), Some(Arc::clone(&parent)));
        parent.add(usage(50));
        assert!(!parent.is_empty() && !child.is_empty());
        child.add(usage(50));
        assert_eq!(child.used().output, 50);
        assert!(parent.is_empty() && child.is_empty());
        let other = Meter::new(limits(10), None);
        other.add(usage(10));
        assert!(other.is_empty());
    }
}
