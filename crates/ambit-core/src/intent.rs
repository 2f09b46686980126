//! A call before the gates: what was asked, and that it makes sense.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::code::Code;
use crate::digest::{Digest, write_canonical};
use crate::loaded::LoadedCapability;
use crate::observation::Denial;
use crate::schema::{SchemaProblem, describe};

/// One call, wherever it goes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

/// What a model or a person asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolIntent {
    /// Names this call in the journal.
    pub call: CallId,
    /// An id or a wire name, as the caller wrote it.
    pub target: String,
    /// The dispatching tool it came through, such as `load_skill`. The gates are asked about the
    /// target, never about the dispatcher.
    pub via: Option<String>,
    /// The arguments, unchecked.
    pub arguments: Value,
}

/// How large arguments may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputLimit {
    /// Bytes of text and structure.
    pub bytes: usize,
    /// Levels of nesting.
    pub depth: usize,
}

/// An intent whose arguments fit the input schema of a loaded capability.
#[derive(Debug)]
pub struct ValidatedIntent {
    intent: ToolIntent,
    capability: Arc<LoadedCapability>,
}

/// Why arguments do not pass.
#[derive(Clone, Debug, PartialEq)]
pub enum InvalidInput {
    /// Larger or deeper than accepted; the schema was not even asked.
    TooLarge(String),
    /// The schema says no.
    Problems(Vec<SchemaProblem>),
}

impl InvalidInput {
    /// As the caller sees it.
    pub fn denial(&self) -> Denial {
        match self {
            InvalidInput::TooLarge(reason) => Denial::new(Code::InputTooLarge, reason.clone()),
            InvalidInput::Problems(problems) => Denial::new(
                Code::InputInvalid,
                format!(
                    "the arguments do not fit the input schema: {}",
                    describe(problems)
                ),
            ),
        }
    }
}

/// Checks an intent's arguments. The only way to make a [`ValidatedIntent`].
pub fn validate(
    intent: ToolIntent,
    capability: Arc<LoadedCapability>,
    limit: InputLimit,
) -> Result<ValidatedIntent, InvalidInput> {
    if let Some(reason) = too_large(&intent.arguments, limit) {
        return Err(InvalidInput::TooLarge(reason));
    }
    capability
        .input()
        .check(&intent.arguments)
        .map_err(InvalidInput::Problems)?;
    Ok(ValidatedIntent { intent, capability })
}

impl ValidatedIntent {
    /// What was asked.
    pub fn intent(&self) -> &ToolIntent {
        &self.intent
    }

    /// Of what.
    pub fn capability(&self) -> &Arc<LoadedCapability> {
        &self.capability
    }

    /// What an approval is bound to: the capability as it is defined now, these arguments, and
    /// the policy that asked. Spent on nothing else.
    pub fn digest(&self, policy: Digest) -> Digest {
        let mut arguments = String::new();
        write_canonical(&self.intent.arguments, &mut arguments);
        let descriptor = self.capability.descriptor();
        Digest::of_fields([
            descriptor.id.as_str().as_bytes(),
            descriptor.digest.as_bytes(),
            arguments.as_bytes(),
            policy.as_bytes(),
        ])
    }

    pub(crate) fn into_parts(self) -> (ToolIntent, Arc<LoadedCapability>) {
        (self.intent, self.capability)
    }
}

/// Why a value is larger or deeper than accepted.
fn too_large(value: &Value, limit: InputLimit) -> Option<String> {
    match weigh(value, limit) {
        Ok(_) => None,
        Err(Excess::Depth) => Some(format!(
            "the arguments are nested deeper than {} levels",
            limit.depth
        )),
        Err(Excess::Bytes) => Some(format!(
            "the arguments are larger than {} bytes",
            limit.bytes
        )),
    }
}

/// Roughly how many bytes a value takes up.
pub fn rough_bytes(value: &Value) -> usize {
    let (bytes, depth) = (usize::MAX, usize::MAX);
    weigh(value, InputLimit { bytes, depth }).unwrap_or(usize::MAX)
}

/// Whether it is more than so many.
pub(crate) fn is_larger(value: &Value, most: usize) -> bool {
    let depth = usize::MAX;
    weigh(value, InputLimit { bytes: most, depth }).is_err()
}

enum Excess {
    Depth,
    Bytes,
}

/// Walks with its own stack, so depth costs nothing, and stops at the first limit passed.
fn weigh(value: &Value, limit: InputLimit) -> Result<usize, Excess> {
    let mut bytes = 0usize;
    let mut stack = vec![(value, 1)];
    while let Some((value, depth)) = stack.pop() {
        if depth > limit.depth {
            return Err(Excess::Depth);
        }
        bytes += match value {
            Value::String(text) => text.len() + 2,
            Value::Array(items) => {
                stack.extend(items.iter().map(|it| (it, depth + 1)));
                2 + items.len()
            }
            Value::Object(map) => {
                stack.extend(map.values().map(|it| (it, depth + 1)));
                2 + map.keys().map(|key| key.len() + 4).sum::<usize>()
            }
            _ => 4,
        };
        if bytes > limit.bytes {
            return Err(Excess::Bytes);
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn size_and_depth_are_bounded() {
        let limit = InputLimit {
            bytes: 100,
            depth: 4,
        };
        assert_eq!(too_large(&json!({"a": [1, 2, {"b": "c"}]}), limit), None);
        assert!(
            too_large(&json!({"a": "x".repeat(200)}), limit)
                .unwrap()
                .contains("100 bytes")
        );
        assert!(
            too_large(&json!([[[[[1]]]]]), limit)
                .unwrap()
                .contains("4 levels")
        );
    }
}
