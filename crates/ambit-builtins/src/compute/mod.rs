//! `compute`: pure functions. They get arguments and a budget and nothing else, so they need no
//! permission, work in every mode and give the same answer everywhere, always.

mod base64_text;
mod budget;
mod calculate;
mod dates;
mod document;
mod encoding;
mod exact;
mod hash;
mod json_change;
mod json_path;
mod json_query;
mod pointer;
mod regexes;
mod statistics;
mod table;
mod text_diff;
mod unit_table;
mod units;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod properties;

pub use budget::Budget;
pub use table::{Builtin, BuiltinTable};

use std::sync::Arc;

use ambit_core::observation::{Failure, Output};
use ambit_runtime::executor::{CapabilityExecutor, StartedCall};
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::declare::object;
use crate::stop;

const KEY: &str = "compute";
const SUMMARY: &str =
    "Calculate, and work on dates, JSON, text and bytes, exactly and without side effects.";

/// Every function, in the order it is listed.
pub const TABLE: BuiltinTable = BuiltinTable::new(&[
    calculate::CALCULATE,
    statistics::STATISTICS,
    units::CONVERT_UNITS,
    dates::DATE_CONVERT,
    dates::DATE_ADD,
    dates::DATE_DIFFERENCE,
    json_query::JSON_QUERY,
    json_change::JSON_PATCH,
    json_change::JSON_MERGE,
    text_diff::TEXT_DIFF,
    regexes::REGEX_FIND,
    regexes::REGEX_REPLACE,
    regexes::REGEX_SPLIT,
    hash::HASH,
    base64_text::BASE64_ENCODE,
    base64_text::BASE64_DECODE,
]);

/// Makes `compute` grantable.
#[derive(Clone, Copy, Debug, Default)]
pub struct ComputeResolver;

#[async_trait]
impl CapabilityResolver for ComputeResolver {
    fn key(&self) -> &str {
        KEY
    }

    fn summary(&self) -> &str {
        SUMMARY
    }

    fn offer(&self) -> Offer {
        Offer::Declared(TABLE.iter().filter_map(Builtin::manifest).collect())
    }

    fn config_schema(&self) -> Value {
        object(&[], json!({}))
    }

    async fn resolve(
        &self,
        _config: &Value,
        _context: &ResolverContext,
    ) -> Result<Resolution, ResolveError> {
        Ok(Resolution::Ready(Arc::new(ComputeExecutor)))
    }
}

struct ComputeExecutor;

#[async_trait]
impl CapabilityExecutor for ComputeExecutor {
    async fn execute(&self, call: StartedCall) -> Result<Output, Failure> {
        let name = call.id().name();
        let Some(function) = TABLE.get(name) else {
            return Err(Failure::refused(format!("`{KEY}` has no tool `{name}`")));
        };
        let arguments = call.into_arguments();
        stop::blocking(move |stop| function.run(arguments, &mut Budget::new(stop))).await
    }
}
