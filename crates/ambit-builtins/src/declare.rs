//! How a built-in tool says what it is: the few things that differ from tool to tool.

use ambit_core::effects::Effects;
use ambit_core::id::{CapabilityId, Source};
use ambit_core::manifest::CapabilityManifest;
use ambit_core::observation::Failure;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The version of these definitions. Not the crate's: a release that changes no definition
/// must not look like a changed definition.
const VERSION: &str = "1.0.0";

/// One tool, declared.
pub(crate) struct Declaration {
    /// The capability key it belongs to.
    pub(crate) owner: &'static str,
    /// Its name within that.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) effects: Effects,
    pub(crate) permissions: &'static [&'static str],
    pub(crate) tags: &'static [&'static str],
    pub(crate) input: Value,
    pub(crate) output: Option<Value>,
    /// What the whole key is for.
    pub(crate) pack_summary: &'static str,
}

impl Declaration {
    /// The manifest. Nothing here comes from outside, so it is only ever `None` for a
    /// misspelt constant, which the crate's tests would show.
    pub(crate) fn manifest(self) -> Option<CapabilityManifest> {
        let id = CapabilityId::tool(Source::Local, self.owner, self.name).ok()?;
        Some(CapabilityManifest {
            title: self.title.to_owned(),
            input_schema: self.input,
            output_schema: self.output,
            permissions: parse_all(self.permissions)?,
            tags: parse_all(self.tags)?,
            version: VERSION.parse().ok()?,
            pack_summary: self.pack_summary.to_owned(),
            ..CapabilityManifest::new(id, self.description, self.effects)
        })
    }
}

fn parse_all<T, C>(words: &[&str]) -> Option<C>
where
    T: std::str::FromStr,
    C: FromIterator<T>,
{
    words.iter().map(|it| it.parse().ok()).collect()
}

/// An object schema that takes these properties and no others.
pub(crate) fn object(required: &[&str], properties: Value) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// The arguments as their type. They fit the input schema already; what the schema cannot say
/// is refused here.
pub(crate) fn arguments<T: DeserializeOwned>(value: Value) -> Result<T, Failure> {
    serde_json::from_value(value)
        .map_err(|error| Failure::refused(format!("the arguments cannot be used: {error}")))
}
