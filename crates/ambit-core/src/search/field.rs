//! Which fields a document has and how much a word in each is worth.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One field of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// The capability's own name.
    Name,
    /// Its title for people.
    Title,
    /// What it says it does.
    Description,
    /// Tags.
    Tags,
    /// Names of its parameters.
    ParameterNames,
    /// What its parameters say.
    ParameterDescriptions,
    /// The server or pack it comes with.
    Pack,
    /// What that server says of itself.
    PackSummary,
    /// A skill's body: indexed, never shown.
    Body,
}

/// Fixed-point one of weights and frequencies.
pub(crate) const ONE: u32 = 1000;

/// How a field counts.
pub(crate) struct Tuning {
    /// What one occurrence in a text of normal length is worth, of [`ONE`].
    pub(crate) weight: u32,
    /// How strongly a longer text dilutes it, of [`ONE`].
    pub(crate) dilution: u32,
    /// The length, in words that say something, that counts as normal. A constant and not
    /// the average of the corpus: one server's long texts never change the scores of
    /// another's tools, and a word's worth can be computed once.
    pub(crate) normal_length: u32,
}

impl Field {
    /// All fields, in the order of their bits in a [`FieldSet`].
    pub const ALL: [Field; 9] = [
        Field::Name,
        Field::Title,
        Field::Description,
        Field::Tags,
        Field::ParameterNames,
        Field::ParameterDescriptions,
        Field::Pack,
        Field::PackSummary,
        Field::Body,
    ];

    pub(crate) const fn tuning(self) -> Tuning {
        let (weight, dilution, normal_length) = match self {
            Field::Name => (2500, 500, 3),
            Field::Title => (1000, 300, 3),
            Field::Description => (1200, 400, 8),
            Field::Tags => (1000, 300, 4),
            Field::ParameterNames => (1000, 300, 4),
            // Full of examples ("e.g. San Francisco") that requests also mention.
            Field::ParameterDescriptions => (600, 300, 20),
            Field::Pack => (1200, 300, 2),
            Field::PackSummary => (300, 300, 20),
            Field::Body => (800, 750, 250),
        };
        Tuning {
            weight,
            dilution,
            normal_length,
        }
    }

    fn bit(self) -> u16 {
        1 << (self as u16)
    }

    /// The word used in JSON and in explanations.
    pub fn as_str(self) -> &'static str {
        match self {
            Field::Name => "name",
            Field::Title => "title",
            Field::Description => "description",
            Field::Tags => "tags",
            Field::ParameterNames => "parameter_names",
            Field::ParameterDescriptions => "parameter_descriptions",
            Field::Pack => "pack",
            Field::PackSummary => "pack_summary",
            Field::Body => "body",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldSet(u16);

impl FieldSet {
    /// The same set with one more field.
    #[must_use]
    pub fn with(self, field: Field) -> FieldSet {
        FieldSet(self.0 | field.bit())
    }

    /// Whether the field is in the set.
    pub fn contains(self, field: Field) -> bool {
        self.0 & field.bit() != 0
    }

    /// The fields in order.
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.into_iter().filter(move |it| self.contains(*it))
    }
}
