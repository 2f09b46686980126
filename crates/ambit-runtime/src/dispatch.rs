//! Tools that stand for others. `load_skill {"name": "x"}` is a call of `skill__x`,
//! `read_resource {"uri": "x"}` one of the resource at `x`, and `call_tool {"name": "y", "arguments": …}` one of `y`: both gates, the approval and the journal
//! are about what is named, never about the tool that names it.

use ambit_core::id::{CapabilityId, Kind};
use ambit_core::visible::VisibleSet;
use ambit_core::wire::is_injection;
use serde_json::{Map, Value, json};

use crate::driver::CallRequest;
use crate::injection::{CALL_TOOL, LOAD_SKILL, READ_RESOURCE, READ_SKILL_FILE};
use crate::resources;

/// What is really called.
pub(crate) struct Dispatched {
    pub(crate) target: String,
    pub(crate) via: Option<String>,
    pub(crate) arguments: Value,
}

/// Looks through a dispatching tool. Arguments that name nothing are left alone: the tool's own
/// schema says what is wrong with them.
pub(crate) fn dispatch(
    request: CallRequest,
    visible: &VisibleSet,
    template: impl Fn(&CapabilityId) -> Option<String>,
) -> Dispatched {
    let CallRequest { target, arguments } = request;
    let dispatcher = visible
        .find(&target)
        .filter(|id| is_injection(id))
        .map(CapabilityId::name)
        .filter(|name| [CALL_TOOL, LOAD_SKILL, READ_SKILL_FILE, READ_RESOURCE].contains(name));
    let inner = dispatcher.and_then(|dispatcher| match dispatcher {
        CALL_TOOL => called_tool(&arguments, visible),
        READ_RESOURCE => resource_read(&arguments, visible, template),
        _ => skill_call(dispatcher, &arguments),
    });
    match (dispatcher, inner) {
        (Some(dispatcher), Some((target, arguments))) => Dispatched {
            target,
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

/// A name nobody knows is passed on: that it is not visible is for the gate to say. What is
/// called another way is not called this way: skills are loaded, and the runtime's own tools are
/// listed.
fn called_tool(arguments: &Value, visible: &VisibleSet) -> Option<(String, Value)> {
    let arguments = arguments.as_object()?;
    let known = ["name", "arguments"];
    if arguments.keys().any(|it| !known.contains(&it.as_str())) {
        return None;
    }
    let name = arguments.get("name")?.as_str()?;
    let inner = match arguments.get("arguments") {
        None => Value::Object(Map::new()),
        Some(inner) if inner.is_object() => inner.clone(),
        Some(_) => return None,
    };
    visible
        .find(name)
        .is_none_or(|id| id.kind() == Kind::Tool && !is_injection(id))
        .then(|| (name.to_owned(), inner))
}

/// An address nobody knows is left to the tool, which says so.
fn resource_read(
    arguments: &Value,
    visible: &VisibleSet,
    template: impl Fn(&CapabilityId) -> Option<String>,
) -> Option<(String, Value)> {
    let uri = arguments.get("uri")?.as_str()?;
    let server = arguments.get("server").and_then(Value::as_str);
    let id = resources::at(visible, uri, server, template)?;
    Some((id.to_string(), json!({"uri": uri})))
}

fn skill_call(dispatcher: &str, arguments: &Value) -> Option<(String, Value)> {
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
    fits.then(|| (id.to_string(), Value::Object(rest)))
}
