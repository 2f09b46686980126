//! Where the SDK's types end: tools become manifests, results become outputs. Everything that
//! comes from a server is bounded here, and what cannot be named or told apart is left out with
//! its reason.

use std::collections::{BTreeMap, HashMap};

use ambit_core::digest::Digest;
use ambit_core::effects::Risk;
use ambit_core::id::{CapabilityId, Source, skeleton};
use ambit_core::manifest::CapabilityManifest;
use ambit_core::observation::{Content, Failure, Output};
use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorCode, Tool};
use semver::Version;
use serde_json::{Map, Value};

use crate::effects::{Hints, effects};
use crate::pin::Definition;
use crate::spec::ServerSpec;

const MAX_NAME: usize = 256;
const MAX_TITLE: usize = 200;
const MAX_DESCRIPTION: usize = 16 * 1024;
const MAX_PACK_SUMMARY: usize = 2048;
const MAX_SCHEMA: usize = 256 * 1024;
const MAX_ERROR: usize = 8 * 1024;

/// Why a listed tool is not offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusedReason {
    /// No id can be made of its name.
    BadName,
    /// Another tool of the same server has a name a person could mistake for it.
    LooksLike(String),
    /// Another tool of the same server has the same name.
    ListedTwice,
    /// Its schemas are larger than any model should be shown.
    SchemaTooLarge,
}

/// A listed tool that is not offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedTool {
    /// What the server calls it, cut.
    pub name: String,
    /// Why.
    pub reason: RefusedReason,
}

/// What a server offers, as it was listed last.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolTable {
    pub(crate) manifests: Vec<CapabilityManifest>,
    pub(crate) refused: Vec<RefusedTool>,
    told: HashMap<CapabilityId, Told>,
}

/// What a server says of a tool and a manifest does not hold.
#[derive(Clone, Debug)]
struct Told {
    /// An id is never taken apart again: calls go out under the name the server gave.
    name: String,
    title: Option<String>,
    annotations: Option<Value>,
}

impl Told {
    fn of(tool: &Tool) -> Self {
        Told {
            name: tool.name.to_string(),
            title: tool.title.as_deref().map(|it| cut(it, MAX_TITLE)),
            // Serializing what was just parsed cannot fail.
            annotations: tool
                .annotations
                .as_ref()
                .map(|it| serde_json::to_value(it).unwrap_or_default()),
        }
    }

    /// Of all a model or a person goes by. Not of the server's version: an upgrade that changes
    /// nothing else is no news.
    fn definition(&self, spec: &ServerSpec, manifest: &CapabilityManifest) -> Definition {
        Definition {
            server: spec.label(),
            name: self.name.clone(),
            title: self.title.clone(),
            description: manifest.description.clone(),
            input_schema: manifest.input_schema.clone(),
            output_schema: manifest.output_schema.clone(),
            annotations: self.annotations.clone(),
        }
    }
}

impl ToolTable {
    /// What the server calls a capability.
    pub(crate) fn raw_name(&self, id: &CapabilityId) -> Option<&str> {
        self.told.get(id).map(|it| it.name.as_str())
    }

    /// Every tool as the server defines it.
    pub(crate) fn definitions(&self, spec: &ServerSpec) -> Vec<(CapabilityId, Definition)> {
        let manifests = self.manifests.iter();
        manifests
            .filter_map(|it| Some((it.id.clone(), self.told.get(&it.id)?.definition(spec, it))))
            .collect()
    }

    /// Whether a capability is still defined as it was when this digest was taken.
    pub(crate) fn is_defined_as(&self, id: &CapabilityId, definition: Digest) -> bool {
        let found = self.manifests.iter().find(|it| it.id == *id);
        found.is_some_and(|it| it.content == Some(definition))
    }
}

/// What a server says about itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    pub(crate) version: String,
    pub(crate) protocol: String,
    pub(crate) instructions: String,
}

/// Maps all tools of a server.
pub(crate) fn table(spec: &ServerSpec, about: &About, tools: Vec<Tool>) -> ToolTable {
    let mut alike: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for tool in &tools {
        alike
            .entry(skeleton(&tool.name))
            .or_default()
            .push(tool.name.to_string());
    }
    let mut table = ToolTable::default();
    for tool in tools {
        let name = tool.name.to_string();
        let twin = alike
            .get(&skeleton(&name))
            .and_then(|group| group.iter().find(|it| **it != name));
        let told = Told::of(&tool);
        let mapped = match twin {
            Some(twin) => Err(RefusedReason::LooksLike(cut(twin, MAX_TITLE))),
            None => manifest(spec, about, tool),
        };
        let mapped = mapped.and_then(|it| {
            let taken = table.told.contains_key(&it.id);
            (!taken).then_some(it).ok_or(RefusedReason::ListedTwice)
        });
        match mapped {
            Ok(mut manifest) => {
                manifest.content = Some(told.definition(spec, &manifest).digest());
                table.told.insert(manifest.id.clone(), told);
                table.manifests.push(manifest);
            }
            Err(reason) => table.refused.push(RefusedTool {
                name: cut(&name, MAX_TITLE),
                reason,
            }),
        }
    }
    table
}

fn manifest(
    spec: &ServerSpec,
    about: &About,
    tool: Tool,
) -> Result<CapabilityManifest, RefusedReason> {
    if tool.name.is_empty() || tool.name.len() > MAX_NAME {
        return Err(RefusedReason::BadName);
    }
    let id = CapabilityId::foreign_tool(Source::Mcp, &spec.name, &tool.name)
        .map_err(|_| RefusedReason::BadName)?;
    let input_schema = schema(&tool.input_schema)?;
    let output_schema = tool.output_schema.as_deref().map(schema).transpose()?;
    let annotations = tool.annotations.unwrap_or_default();
    let hints = Hints {
        read_only: annotations.read_only_hint,
        destructive: annotations.destructive_hint,
        open_world: annotations.open_world_hint,
    };
    let said = || effects(&tool.name, hints, spec.provenance, &spec.transport);
    let effects = spec.effects.of(&tool.name).unwrap_or_else(said);
    let title = tool
        .title
        .or(annotations.title)
        .filter(|it| !it.trim().is_empty())
        .unwrap_or_else(|| tool.name.to_string());
    Ok(CapabilityManifest {
        title: cut(&title, MAX_TITLE),
        description: cut(tool.description.as_deref().unwrap_or(""), MAX_DESCRIPTION),
        input_schema,
        output_schema,
        effects,
        risk: Risk::of(effects),
        permissions: format!("mcp:{}", spec.name).parse().into_iter().collect(),
        tags: Default::default(),
        version: about.version.parse().unwrap_or(Version::new(0, 0, 0)),
        needs: Default::default(),
        hints: Default::default(),
        acceptance: Default::default(),
        naming: spec.naming,
        content: None,
        pack_summary: cut(&about.instructions, MAX_PACK_SUMMARY),
        search_text: String::new(),
        id,
    })
}

fn schema(schema: &Map<String, Value>) -> Result<Value, RefusedReason> {
    let value = Value::Object(schema.clone());
    if value.to_string().len() > MAX_SCHEMA {
        return Err(RefusedReason::SchemaTooLarge);
    }
    Ok(value)
}

/// What a call brought back.
pub(crate) fn answer(response: CallToolResponse) -> Result<Output, Failure> {
    match response {
        CallToolResponse::Complete(result) => completed(result),
        CallToolResponse::InputRequired(_) => Err(Failure::provider(
            "the server asks for more input, which nobody here can give",
        )),
        _ => Err(Failure::provider(
            "the server answered with a task to be waited for, which was not asked for",
        )),
    }
}

fn completed(result: CallToolResult) -> Result<Output, Failure> {
    if result.is_error == Some(true) {
        let texts: Vec<&str> = result
            .content
            .iter()
            .filter_map(|it| it.as_text())
            .map(|it| it.text.as_str())
            .collect();
        let said = texts.join("\n");
        return Err(Failure::provider(
            match (said.trim(), &result.structured_content) {
                ("", Some(value)) => cut(&value.to_string(), MAX_ERROR),
                ("", None) => "the server reported an error and did not say which".to_owned(),
                (said, _) => cut(said, MAX_ERROR),
            },
        ));
    }
    Ok(Output {
        content: result.content.into_iter().map(block).collect(),
        structured: result.structured_content,
    })
}

fn block(block: ContentBlock) -> Content {
    match block {
        ContentBlock::Text(it) => Content::text(it.text),
        // Serializing a block that was just parsed cannot fail.
        other => Content::Block(serde_json::to_value(other).unwrap_or_default()),
    }
}

/// An error answer of the protocol.
pub(crate) fn refusal(error: &ErrorData) -> Failure {
    let said = cut(&error.message, MAX_ERROR);
    if error.code == ErrorCode::INVALID_PARAMS {
        Failure::refused(said)
    } else {
        Failure::provider(said)
    }
}

/// At most so many bytes, at a character's end.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut out = String::with_capacity(limit + '…'.len_utf8());
    for c in text.chars() {
        if out.len() + c.len_utf8() > limit {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}
