//! A capability in full: its manifest and schemas ready to check values. Only what is visible
//! is ever loaded.

use std::sync::Arc;

use crate::descriptor::CapabilityDescriptor;
use crate::manifest::CapabilityManifest;
use crate::schema::{CompiledSchema, SchemaError};

/// The full layer of one capability.
#[derive(Clone, Debug)]
pub struct LoadedCapability {
    descriptor: Arc<CapabilityDescriptor>,
    manifest: Arc<CapabilityManifest>,
    input: CompiledSchema,
    output: Option<CompiledSchema>,
}

impl LoadedCapability {
    /// Loads a manifest. Fails when one of its schemas cannot be used.
    pub fn new(
        descriptor: Arc<CapabilityDescriptor>,
        manifest: Arc<CapabilityManifest>,
    ) -> Result<Self, SchemaError> {
        let input = CompiledSchema::compile(&manifest.input_schema)?;
        let output = manifest
            .output_schema
            .as_ref()
            .map(CompiledSchema::compile)
            .transpose()?;
        Ok(LoadedCapability {
            descriptor,
            manifest,
            input,
            output,
        })
    }

    /// The catalog entry.
    pub fn descriptor(&self) -> &CapabilityDescriptor {
        &self.descriptor
    }

    /// What the provider declares.
    pub fn manifest(&self) -> &CapabilityManifest {
        &self.manifest
    }

    /// Checks arguments.
    pub fn input(&self) -> &CompiledSchema {
        &self.input
    }

    /// Checks a structured result, where one is promised.
    pub fn output(&self) -> Option<&CompiledSchema> {
        self.output.as_ref()
    }
}
