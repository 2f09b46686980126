//! Only the schema makes a validated intent.
use std::sync::Arc;

use ambit_core::intent::{ToolIntent, ValidatedIntent};
use ambit_core::loaded::LoadedCapability;

fn around(intent: ToolIntent, capability: Arc<LoadedCapability>) -> ValidatedIntent {
    ValidatedIntent { intent, capability }
}

fn main() {}
