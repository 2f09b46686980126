//! What the model sees this turn, each entry with its reasons, and what it does not, with one.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::CapabilityId;
use crate::manifest::ChannelFeature;
use crate::quarantine::QuarantineReason;
use crate::wire::{BareNames, WireNames};

/// Something that speaks for a capability, or against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Signal {
    /// The runtime wires it.
    Injected,
    /// Config pins it.
    Pinned,
    /// It fits the task.
    Goal,
    /// A search asked for it.
    Candidate,
    /// What was observed mentions it.
    Evidence,
    /// It is about files that were touched.
    Touched,
    /// It fits the kind of project.
    Project,
    /// It was called in this session.
    Called,
    /// It is a skill that was loaded.
    Loaded,
    /// It was visible before.
    Stays,
    /// It is granted, and either at hand anyway or nothing says what is wanted.
    Base,
    /// It keeps failing.
    Failing,
}

impl Signal {
    /// The word used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Signal::Injected => "injected",
            Signal::Pinned => "pinned",
            Signal::Goal => "goal",
            Signal::Candidate => "candidate",
            Signal::Evidence => "evidence",
            Signal::Touched => "touched",
            Signal::Project => "project",
            Signal::Called => "called",
            Signal::Loaded => "loaded",
            Signal::Stays => "stays",
            Signal::Base => "base",
            Signal::Failing => "failing",
        }
    }
}

/// Why an entry is visible: a signal and its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct VisibleReason {
    /// Which signal.
    pub signal: Signal,
    /// How many points.
    pub weight: i32,
}

impl fmt::Display for VisibleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:+}", self.signal.as_str(), self.weight)
    }
}

/// Why an entry is not visible.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "camelCase")]
pub enum HiddenReason {
    /// The agent's config does not list it.
    NotGranted,
    /// Its source cannot serve at the moment.
    SourceDown {
        /// Why.
        why: String,
    },
    /// It is held back until a person has accepted it as it is now.
    Quarantined {
        /// What about it.
        why: QuarantineReason,
    },
    /// The mode forbids what it does.
    ModeForbids,
    /// A rule forbids it.
    RuleForbids {
        /// Which.
        rule: String,
    },
    /// The entry point lacks a feature it needs.
    ChannelCannot {
        /// Which.
        feature: ChannelFeature,
    },
    /// Config excludes it.
    Excluded,
    /// It keeps failing, and nothing outweighs that.
    Failing {
        /// Failures in a row.
        failures: u32,
    },
    /// Nothing speaks for it this turn.
    NotRelevant,
    /// There are already as many as may be.
    OverLimit,
    /// It does not fit into what is left of the budget.
    OverBudget,
}

impl HiddenReason {
    /// The word used in JSON.
    pub fn as_str(&self) -> &'static str {
        match self {
            HiddenReason::NotGranted => "notGranted",
            HiddenReason::SourceDown { .. } => "sourceDown",
            HiddenReason::Quarantined { .. } => "quarantined",
            HiddenReason::ModeForbids => "modeForbids",
            HiddenReason::RuleForbids { .. } => "ruleForbids",
            HiddenReason::ChannelCannot { .. } => "channelCannot",
            HiddenReason::Excluded => "excluded",
            HiddenReason::Failing { .. } => "failing",
            HiddenReason::NotRelevant => "notRelevant",
            HiddenReason::OverLimit => "overLimit",
            HiddenReason::OverBudget => "overBudget",
        }
    }

    /// What would make it visible.
    pub fn remedy(&self) -> &'static str {
        match self {
            HiddenReason::NotGranted => "list it in the agent's `capabilities`",
            HiddenReason::SourceDown { .. } => "mend its source; `ambit doctor` looks at it",
            HiddenReason::Quarantined { .. } => {
                "look at it with `ambit trust ls`, and accept it with `ambit trust accept`"
            }
            HiddenReason::ModeForbids => "choose another mode",
            HiddenReason::RuleForbids { .. } => "change the rule",
            HiddenReason::ChannelCannot { .. } => "use an entry point that can",
            HiddenReason::Excluded => "take it out of `discovery.exclude`",
            HiddenReason::Failing { .. } => "let it succeed once, or pin it",
            HiddenReason::NotRelevant => "search for it, mention it, or pin it in `discovery.pin`",
            HiddenReason::OverLimit => "raise `discovery.limit`, or pin it",
            HiddenReason::OverBudget => "raise the budget, or pin it",
        }
    }
}

impl fmt::Display for HiddenReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HiddenReason::NotGranted => f.write_str("the agent's `capabilities` do not list it"),
            HiddenReason::SourceDown { why } => write!(f, "its source is down: {why}"),
            HiddenReason::Quarantined { why } => write!(f, "it is quarantined: {why}"),
            HiddenReason::ModeForbids => f.write_str("the mode forbids what it does"),
            HiddenReason::RuleForbids { rule } => write!(f, "the rule `{rule}` forbids it"),
            HiddenReason::ChannelCannot { feature } => {
                write!(f, "this entry point cannot `{}`", feature.as_str())
            }
            HiddenReason::Excluded => f.write_str("config excludes it"),
            HiddenReason::Failing { failures } => write!(f, "it failed {failures} times in a row"),
            HiddenReason::NotRelevant => f.write_str("nothing speaks for it this turn"),
            HiddenReason::OverLimit => f.write_str("there are as many entries as may be"),
            HiddenReason::OverBudget => f.write_str("it does not fit into the budget"),
        }
    }
}

/// How much of an entry a model sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Nothing: it is not for a model to plan with, but whoever knows of it may ask for it.
    Unlisted,
    /// Its name and one sentence.
    Index,
    /// What it does and what it takes, in a few lines.
    Card,
    /// Its whole definition.
    Full,
}

impl Layer {
    /// The word used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Layer::Unlisted => "unlisted",
            Layer::Index => "index",
            Layer::Card => "card",
            Layer::Full => "full",
        }
    }
}

/// One visible entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisibleEntry {
    /// Which.
    pub id: CapabilityId,
    /// How much of it.
    pub layer: Layer,
    /// What that costs.
    pub tokens: u32,
    /// Why.
    pub reasons: Vec<VisibleReason>,
}

/// The result of one selection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VisibleSet {
    entries: Vec<VisibleEntry>,
    hidden: Vec<(CapabilityId, HiddenReason)>,
    names: WireNames,
    bare: BareNames,
}

impl VisibleSet {
    /// Entries in the order a model sees them, reasons for the rest, by id, and who of all that is
    /// granted goes by a bare name.
    pub(crate) fn new(
        entries: Vec<VisibleEntry>,
        hidden: Vec<(CapabilityId, HiddenReason)>,
        bare: BareNames,
    ) -> Self {
        let names = WireNames::assign(entries.iter().map(|it| &it.id), &bare);
        VisibleSet {
            entries,
            hidden,
            names,
            bare,
        }
    }

    /// The entries, in the order a model sees them.
    pub fn entries(&self) -> &[VisibleEntry] {
        &self.entries
    }

    /// What is not visible, and why, by id.
    pub fn hidden(&self) -> &[(CapabilityId, HiddenReason)] {
        &self.hidden
    }

    /// Why one capability is not visible.
    pub fn hidden_reason(&self, id: &CapabilityId) -> Option<&HiddenReason> {
        let at = self
            .hidden
            .binary_search_by(|(known, _)| known.cmp(id))
            .ok()?;
        self.hidden.get(at).map(|(_, reason)| reason)
    }

    /// How visible entries are called by a model or client.
    pub fn names(&self) -> &WireNames {
        &self.names
    }

    /// What a capability is called, or would be if it were visible.
    pub fn name_of(&self, id: &CapabilityId) -> String {
        let visible = self.names.name_of(id).map(str::to_owned);
        visible.unwrap_or_else(|| self.bare.name(id))
    }

    /// The visible capability a caller means by an id or a wire name.
    pub fn find(&self, target: &str) -> Option<&CapabilityId> {
        self.names
            .id_of(target)
            .or_else(|| self.names.known(target))
    }

    /// The hidden capability that an id or a wire name would mean, and why it is hidden.
    pub fn find_hidden(&self, target: &str) -> Option<(&CapabilityId, &HiddenReason)> {
        let mut hidden = self.hidden.iter();
        let found = hidden.find(|(id, _)| id.as_str() == target || self.bare.name(id) == target)?;
        Some((&found.0, &found.1))
    }

    /// What all of it costs.
    pub fn tokens(&self) -> u32 {
        self.entries
            .iter()
            .map(|it| it.tokens)
            .fold(0, u32::saturating_add)
    }

    /// Of the entries, their order, layers and reasons.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.entries).unwrap_or(Digest::ZERO)
    }
}
