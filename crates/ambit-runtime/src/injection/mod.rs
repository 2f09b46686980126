//! Tools the runtime wires from the execution context, never listed in an agent's config. They
//! travel the same pipeline as everything else.

mod behind;
mod describe;
mod notify;
mod read_result;
mod search;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ambit_core::effects::Effects;
use ambit_core::id::{CapabilityId, Kind, Source};
use ambit_core::manifest::CapabilityManifest;
use ambit_core::observation::{Failure, Output};
use ambit_core::wire::INJECTION_OWNER;
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::discovery::Exposure;
use crate::executor::{CapabilityExecutor, StartedCall};
use crate::resolver::Notify;
use crate::session::SessionScope;
pub(crate) use behind::{RESERVED, is_extended};
use describe::Describe;
use notify::NotifyUser;
use read_result::ReadResult;
use search::Search;

/// The source all injections belong to.
pub const INJECTION_SOURCE: &str = "local:ambit";

/// Loads a skill.
pub const LOAD_SKILL: &str = "load_skill";
/// Reads a file of a loaded skill.
pub const READ_SKILL_FILE: &str = "read_skill_file";
/// Calls another tool.
pub const CALL_TOOL: &str = "call_tool";
const DESCRIBE_TOOL: &str = "describe_tool";
/// Finds tools.
pub const TOOL_SEARCH: &str = "tool_search";
/// Finds skills.
pub const SKILL_SEARCH: &str = "skill_search";
const READ_RESULT: &str = "read_result";
const NOTIFY_USER: &str = "notify_user";
/// Reads a resource.
pub const READ_RESOURCE: &str = "read_resource";

/// What injections look like, before any session.
pub fn manifests() -> Vec<CapabilityManifest> {
    let query = json!({"type": "string", "minLength": 1, "maxLength": 2000, "description": "What you need, in words. Several needs may be named at once."});
    let limit = json!({"type": "integer", "minimum": 1, "maximum": 20, "default": 5, "description": "Most results."});
    let name = json!({"type": "string", "minLength": 1, "maxLength": 128, "description": "The skill's name, as its line says."});
    [
        declare(
            TOOL_SEARCH,
            "Search for tools",
            "Finds tools that are not listed here. Say what you need; what fits best becomes callable in the next turn.",
            json!({
                "query": query,
                "server": {"type": "string", "maxLength": 64, "description": "A server or pack whose tools should come first."},
                "limit": limit
            }),
            &["query"],
        ),
        declare(
            SKILL_SEARCH,
            "Search for skills",
            "Finds skills (instructions for kinds of tasks) by what they are about, including what their pages say. Load one with load_skill.",
            json!({"query": query, "limit": limit}),
            &["query"],
        ),
        declare(
            LOAD_SKILL,
            "Load a skill",
            "Returns a skill's instructions and the list of files that come with it. Load a skill before doing the kind of task it is about.",
            json!({"name": name}),
            &["name"],
        ),
        declare(
            READ_SKILL_FILE,
            "Read a skill's file",
            "Reads one file of a skill that was loaded, a page at a time.",
            json!({
                "name": name,
                "path": {"type": "string", "minLength": 1, "maxLength": 1024, "description": "The file, as the loaded skill lists it."},
                "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "The byte to start at."}
            }),
            &["name", "path"],
        ),
        declare(
            READ_RESOURCE,
            "Read a resource",
            "Reads a resource of a connected server by its address, such as one that a result links to or that is listed among the resources.",
            json!({
                "uri": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "The resource's address."},
                "server": {"type": "string", "maxLength": 64, "description": "Whose it is, where several servers could have it."}
            }),
            &["uri"],
        ),
        read_result::manifest(),
        describe::manifest(),
        notify::manifest(),
        declare(
            CALL_TOOL,
            "Call a tool",
            "Calls a tool that is not listed here, with the arguments describe_tool says it takes. Whether it may run is decided for that tool.",
            json!({
                "name": {"type": "string", "minLength": 1, "maxLength": 256, "description": "The tool's name, as tool_search gives it."},
                "arguments": {"type": "object", "default": {}, "description": "The tool's own arguments."}
            }),
            &["name"],
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A read-only injection.
fn declare(
    name: &str,
    title: &str,
    description: &str,
    properties: Value,
    required: &[&str],
) -> Option<CapabilityManifest> {
    let id = CapabilityId::tool(Source::Local, INJECTION_OWNER, name).ok()?;
    Some(CapabilityManifest {
        title: title.to_owned(),
        input_schema: json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}),
        ..CapabilityManifest::new(id, description, Effects::READS)
    })
}

/// The injections that make sense beside what is granted: those about skills only where there are
/// skills, those that stand for tools only where tools are not listed, no search for tools where
/// all of them are, and messages to the person only from where nobody watches.
pub(crate) fn wanted<'a>(
    granted: impl Iterator<Item = &'a CapabilityId>,
    exposure: Exposure,
    notify: Option<&Notify>,
) -> Vec<CapabilityManifest> {
    let kinds: BTreeSet<Kind> = granted.into_iter().map(CapabilityId::kind).collect();
    let has_skills = kinds.contains(&Kind::Skill);
    let about_skills = [SKILL_SEARCH, LOAD_SKILL, READ_SKILL_FILE];
    manifests()
        .into_iter()
        .filter(|it| match it.id.name() {
            CALL_TOOL | DESCRIBE_TOOL => exposure == Exposure::Dispatched,
            TOOL_SEARCH => exposure != Exposure::Everything,
            READ_RESOURCE => kinds.contains(&Kind::Resource),
            NOTIFY_USER => notify.is_some(),
            name => has_skills || !about_skills.contains(&name),
        })
        .collect()
}

/// Wires injections to their session.
pub(crate) fn resolve_injections(
    scope: &Arc<SessionScope>,
    wanted: Vec<CapabilityManifest>,
    notify: Option<&Notify>,
) -> BTreeMap<CapabilityId, Arc<dyn CapabilityExecutor>> {
    wanted
        .into_iter()
        .map(|manifest| {
            let executor: Arc<dyn CapabilityExecutor> = match (manifest.id.name(), notify) {
                (READ_RESULT, _) => Arc::new(ReadResult::new(scope)),
                (TOOL_SEARCH, _) => Arc::new(Search::new(scope, Kind::Tool)),
                (DESCRIBE_TOOL, _) => Arc::new(Describe::new(scope)),
                (SKILL_SEARCH, _) => Arc::new(Search::new(scope, Kind::Skill)),
                (NOTIFY_USER, Some(notify)) => {
                    Arc::new(NotifyUser::new(scope, Arc::clone(notify)))
                }
                (READ_RESOURCE, _) => Arc::new(Dispatcher(
                    "no resource is known at that address, or several servers could have it: say whose it is with `server`",
                )),
                _ => Arc::new(Dispatcher("the name is not one this tool can stand for")),
            };
            (manifest.id, executor)
        })
        .collect()
}

/// Stands for other capabilities; calls are looked through before the first gate.
struct Dispatcher(&'static str);

#[async_trait]
impl CapabilityExecutor for Dispatcher {
    async fn execute(&self, _: StartedCall) -> Result<Output, Failure> {
        Err(Failure::refused(self.0))
    }
}
