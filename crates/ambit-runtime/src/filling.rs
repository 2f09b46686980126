//! Secrets come into a call last: when it has passed both gates and its start is on record. What
//! was judged, shown and written down has a placeholder; only the executor gets the value, and
//! only in fields its definition declares for that.

use std::sync::Arc;

use ambit_core::id::CapabilityId;
use ambit_core::loaded::LoadedCapability;
use ambit_core::observation::Failure;
use ambit_core::placeholder::{SecretField, split};
use ambit_core::redact::Redactor;
use async_trait::async_trait;
use serde_json::Value;

use crate::start::StartedCall;

/// Values shorter than this cannot be kept out of results: they could be any word.
const SHORTEST: usize = 6;

/// Where a secret is to be filled in.
#[derive(Clone, Copy, Debug)]
pub struct FillPlace<'a> {
    /// Whose call.
    pub capability: &'a CapabilityId,
    /// What kind of field.
    pub field: SecretField,
    /// The variable's or header's name.
    pub name: &'a str,
}

/// Knows what placeholders of a session stand for.
#[async_trait]
pub trait SecretFiller: Send + Sync {
    /// The value behind a placeholder, if it is one of this session's; refused where the secret is
    /// not bound to that place.
    async fn value(
        &self,
        placeholder: &str,
        place: FillPlace<'_>,
    ) -> Result<Option<String>, Failure>;
}

/// Fills in every placeholder of a call's declared fields. Values that are filled in are known to
/// the redactor from then on.
pub(crate) async fn fill(
    call: &mut StartedCall,
    capability: &LoadedCapability,
    fillers: &[Arc<dyn SecretFiller>],
    redactor: &Redactor,
) -> Result<(), Failure> {
    let id = call.id().clone();
    for (name, field) in &capability.manifest().secret_fields {
        let Some(Value::Object(entries)) = call.arguments_mut().get_mut(name) else {
            continue;
        };
        for (name, value) in entries.iter_mut() {
            let Value::String(text) = value else { continue };
            let place = FillPlace {
                capability: &id,
                field: *field,
                name,
            };
            if let Some(filled) = filled(text, place, fillers, redactor).await? {
                *text = filled;
            }
        }
    }
    Ok(())
}

async fn filled(
    text: &str,
    place: FillPlace<'_>,
    fillers: &[Arc<dyn SecretFiller>],
    redactor: &Redactor,
) -> Result<Option<String>, Failure> {
    let (placeholders, rest) = split(text);
    if placeholders.is_empty() {
        return Ok(None);
    }
    let mut out = String::new();
    for (before, placeholder) in placeholders {
        let value = value_of(placeholder, place, fillers).await?;
        if value.len() < SHORTEST {
            return Err(Failure::refused(format!(
                "the secret for `{}` is too short to be kept out of results; a person has to set one of at least {SHORTEST} characters",
                place.name
            )));
        }
        redactor.learn([value.as_str()]);
        out.push_str(before);
        out.push_str(&value);
    }
    out.push_str(rest);
    Ok(Some(out))
}

async fn value_of(
    placeholder: &str,
    place: FillPlace<'_>,
    fillers: &[Arc<dyn SecretFiller>],
) -> Result<String, Failure> {
    for filler in fillers {
        if let Some(value) = filler.value(placeholder, place).await? {
            return Ok(value);
        }
    }
    Err(Failure::refused(format!(
        "the placeholder given for `{}` is not one of this session; get one with use_secret",
        place.name
    )))
}
