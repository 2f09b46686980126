//! What a capability does to the world, and how bad that can be.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One thing a call may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Effect {
    /// Looks at something.
    Reads = 1,
    /// Changes something.
    Writes = 2,
    /// Changes something in a way that cannot be taken back.
    Destructive = 4,
    /// Reaches things outside this machine and its configuration.
    OpenWorld = 8,
    /// Can carry data out.
    Egress = 16,
}

impl Effect {
    /// All of them, in order.
    pub const ALL: [Effect; 5] = [
        Effect::Reads,
        Effect::Writes,
        Effect::Destructive,
        Effect::OpenWorld,
        Effect::Egress,
    ];

    /// The word used in JSON and in rules.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::Reads => "reads",
            Effect::Writes => "writes",
            Effect::Destructive => "destructive",
            Effect::OpenWorld => "open-world",
            Effect::Egress => "egress",
        }
    }

    /// From the word.
    pub fn parse(text: &str) -> Option<Effect> {
        Effect::ALL.into_iter().find(|it| it.as_str() == text)
    }
}

/// A set of effects. In JSON, a list of words.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Effects(u8);

impl Effects {
    /// Only looks.
    pub const READS: Effects = Effects(Effect::Reads as u8);
    /// Looks and changes.
    pub const WRITES: Effects = Effects(Effect::Reads as u8 | Effect::Writes as u8);

    /// With one more.
    #[must_use]
    pub const fn with(self, effect: Effect) -> Effects {
        Effects(self.0 | effect as u8)
    }

    /// Whether this effect is among them.
    pub fn has(self, effect: Effect) -> bool {
        self.0 & effect as u8 != 0
    }

    /// Whether a call must be recorded durably before it runs: it changes something or can
    /// carry data out.
    pub fn is_effectful(self) -> bool {
        self.has(Effect::Writes) || self.has(Effect::Destructive) || self.has(Effect::Egress)
    }

    /// Whether it changes anything.
    pub fn changes(self) -> bool {
        self.has(Effect::Writes) || self.has(Effect::Destructive)
    }

    /// Those present, in order.
    pub fn iter(self) -> impl Iterator<Item = Effect> {
        Effect::ALL.into_iter().filter(move |it| self.has(*it))
    }
}

impl FromIterator<Effect> for Effects {
    fn from_iter<T: IntoIterator<Item = Effect>>(iter: T) -> Self {
        iter.into_iter().fold(Effects::default(), Effects::with)
    }
}

impl fmt::Debug for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.iter().map(Effect::as_str).collect();
        f.write_str(&words.join(" "))
    }
}

impl Serialize for Effects {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Effect::as_str))
    }
}

impl<'de> Deserialize<'de> for Effects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<Effect>::deserialize(deserializer).map(Effects::from_iter)
    }
}

/// How much harm one call can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// Looks at things this agent was given.
    Low,
    /// Changes things, or looks outside.
    Medium,
    /// Cannot be taken back, or changes things outside.
    High,
}

impl Risk {
    /// The risk that effects imply when a manifest declares none.
    pub fn of(effects: Effects) -> Risk {
        if effects.has(Effect::Destructive) || (effects.changes() && effects.has(Effect::OpenWorld))
        {
            Risk::High
        } else if effects.changes() || effects.has(Effect::Egress) || effects.has(Effect::OpenWorld)
        {
            Risk::Medium
        } else {
            Risk::Low
        }
    }

    /// The word used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &str, risk: Risk, effectful: bool) {
        let effects: Effects = words
            .split_whitespace()
            .map(|w| Effect::parse(w).unwrap())
            .collect();
        assert_eq!(
            (Risk::of(effects), effects.is_effectful()),
            (risk, effectful),
            "{words}"
        );
        let json = serde_json::to_string(&effects).unwrap();
        assert_eq!(serde_json::from_str::<Effects>(&json).unwrap(), effects);
    }

    #[test]
    fn effects_imply_risk_and_durability() {
        check("", Risk::Low, false);
        check("reads", Risk::Low, false);
        check("reads open-world", Risk::Medium, false);
        check("reads egress", Risk::Medium, true);
        check("writes", Risk::Medium, true);
        check("writes open-world", Risk::High, true);
        check("destructive", Risk::High, true);
    }
}
