//! Tools that stand for others. `load_skill {"name": "x"}` is a call of `skill__x`: both gates,
//! the approval and the journal are about the skill, never about the tool that names it.

use ambit_core::id::{CapabilityId, Kind};
use ambit_core::visible::VisibleSet;
use ambit_core::wire::is_injection;
use serde_json::{Map, Value};

use crate::driver::CallRequest;
use crate::injection::{LOAD_SKILL, READ_SKILL_FILE};

/// What is really called.
pub(crate) struct Dispatched {
    pub(crate) target: String,
    pub(crate) via: Option<String>,
    pub(crate) arguments: Value,
}

/// Looks through a dispatching tool. Arguments that name nothing are left alone: the tool's own
/// schema says what is wrong with them.
pub(crate) fn dispatch(request: CallRequest, visible: &VisibleSet) -> Dispatched {
    let CallRequest { target, arguments } = request;
    let dispatcher = visible
        .find(&target)
        .filter(|id| is_injection(id))
        .map(CapabilityId::name)
        .filter(|name| [LOAD_SKILL, READ_SKILL_FILE].contains(name));
    let inner = dispatcher.and_then(|dispatcher| inner_call(dispatcher, &arguments));
    match (dispatcher, inner) {
        (Some(dispatcher), Some((id, arguments))) => Dispatched {
            target: id.to_string(),
            via: Some(dispatcher.to_owned()),
            arguments,
        },
        _ => Dispatched {
            target,
            via: None,
            arguments,
        },
    }
}

fn inner_call(dispatcher: &str, arguments: &Value) -> Option<(CapabilityId, Value)> {
    let mut rest: Map<String, Value> = arguments.as_object()?.clone();
    let name = rest.remove("name")?;
    let name = name.as_str()?;
    // With or without the prefix: models copy both.
    let id = CapabilityId::skill(name.strip_prefix("skill__").unwrap_or(name)).ok()?;
    let fits = id.kind() == Kind::Skill
        && match dispatcher {
            LOAD_SKILL => rest.is_empty(),
            _ => rest.get("path").is_some_and(Value::is_string),
        };
    fits.then_some((id, Value::Object(rest)))
}
