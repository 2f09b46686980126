//! The table of functions that come with Ambit: a name, what it declares, and a plain function.
//! The signature is the promise: arguments and a budget go in, a result comes out. There is no
//! clock, no randomness, no file and no network to reach for.

use ambit_core::effects::Effects;
use ambit_core::manifest::CapabilityManifest;
use ambit_core::observation::{Failure, Output};
use serde_json::Value;

use super::budget::Budget;
use super::{KEY, SUMMARY};
use crate::declare::Declaration;

/// One function of the table.
pub struct Builtin {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) tags: &'static [&'static str],
    pub(super) input: fn() -> Value,
    /// The shape of its structured result, where it has one.
    pub(super) output: Option<fn() -> Value>,
    pub(super) run: fn(Value, &mut Budget<'_>) -> Result<Output, Failure>,
}

impl Builtin {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it declares. It looks at nothing but its arguments: no permission is needed.
    pub fn manifest(&self) -> Option<CapabilityManifest> {
        let declaration = Declaration {
            owner: KEY,
            name: self.name,
            title: self.title,
            description: self.description,
            effects: Effects::READS,
            permissions: &[],
            tags: self.tags,
            input: (self.input)(),
            output: self.output.map(|it| it()),
            pack_summary: SUMMARY,
        };
        declaration.manifest()
    }

    /// Its result for arguments that fit its input schema: the same for the same, always.
    pub fn run(&self, arguments: Value, budget: &mut Budget<'_>) -> Result<Output, Failure> {
        (self.run)(arguments, budget)
    }
}

/// Functions by name.
#[derive(Clone, Copy)]
pub struct BuiltinTable(&'static [Builtin]);

impl BuiltinTable {
    pub(super) const fn new(functions: &'static [Builtin]) -> Self {
        BuiltinTable(functions)
    }

    /// All of them, in the order they are listed.
    pub fn iter(&self) -> impl Iterator<Item = &'static Builtin> {
        self.0.iter()
    }

    /// The one of this name.
    pub fn get(&self, name: &str) -> Option<&'static Builtin> {
        self.0.iter().find(|it| it.name == name)
    }
}
