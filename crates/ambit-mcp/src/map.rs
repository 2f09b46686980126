//! Where the SDK's types end: tools become manifests, results become outputs. Everything that
//! comes from a server is bounded here, and what cannot be named or told apart is left out with
//! its reason.

use std::collections::{BTreeMap, HashMap};

use ambit_core::digest::Digest;
use ambit_core::effects::Risk;
use ambit_core::id::{CapabilityId, Source, skeleton};
use ambit_core::manifest::CapabilityManifest;
use ambit_core::observation::{Content, ErrorAnswer, Failure, Output};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, Tool};
use semver::Version;
use serde_json::{Map, Value};

use crate::effects::{Hints, effects};
use crate::listing::Listed;
use crate::offers;
use crate::pin::Definition;
use crate::spec::ServerSpec;

pub(crate) const MAX_NAME: usize = 256;
pub(crate) const MAX_TITLE: usize = 200;
pub(crate) const MAX_DESCRIPTION: usize = 16 * 1024;
pub(crate) const MAX_PACK_SUMMARY: usize = 2048;
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

/// What a server calls something it offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Raw {
    Tool(String),
    Prompt(String),
    /// At this address.
    Resource(String),
    /// At the address the call names.
    Template,
}

/// What a server offers, as it was listed last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) manifests: Vec<CapabilityManifest>,
    pub(crate) refused: Vec<RefusedTool>,
    /// An id is never taken apart again: calls go out under the name the server gave.
    offered: HashMap<CapabilityId, (Raw, Option<Digest>)>,
    told: HashMap<CapabilityId, Told>,
}

/// What a server says of a tool and a manifest does not hold.
#[derive(Clone, Debug)]
struct Told {
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

impl Table {
    /// What the server calls a capability, and the digest of its definition.
    pub(crate) fn find(&self, id: &CapabilityId) -> Option<(&Raw, Option<Digest>)> {
        self.offered.get(id).map(|(raw, content)| (raw, *content))
    }

    /// How many of it are tools.
    pub(crate) fn tools(&self) -> usize {
        self.told.len()
    }

    /// Every tool as the server defines it.
    pub(crate) fn definitions(&self, spec: &ServerSpec) -> Vec<(CapabilityId, Definition)> {
        let manifests = self.manifests.iter();
        manifests
            .filter_map(|it| Some((it.id.clone(), self.told.get(&it.id)?.definition(spec, it))))
            .collect()
    }

    /// Takes one in, unless its id is taken.
    pub(crate) fn add(
        &mut self,
        manifest: CapabilityManifest,
        raw: Raw,
    ) -> Result<(), RefusedReason> {
        if self.offered.contains_key(&manifest.id) {
            return Err(RefusedReason::ListedTwice);
        }
        let offered = (raw, manifest.content);
        self.offered.insert(manifest.id.clone(), offered);
        self.manifests.push(manifest);
        Ok(())
    }

    /// Notes that something is left out.
    pub(crate) fn refuse(&mut self, name: &str, reason: RefusedReason) {
        self.refused.push(RefusedTool {
            name: cut(name, MAX_TITLE),
            reason,
        });
    }
}

/// What a server says about itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    pub(crate) version: String,
    pub(crate) protocol: String,
    pub(crate) instructions: String,
    /// Whether it has resources at all.
    pub(crate) resources: bool,
    /// Whether every request stands for itself.
    pub(crate) stateless: bool,
}

/// Maps all a server offers.
pub(crate) fn table(spec: &ServerSpec, about: &About, listed: Listed) -> Table {
    let mut table = Table::default();
    add_tools(&mut table, spec, about, listed.tools);
    offers::add_prompts(&mut table, spec, about, listed.prompts);
    if about.resources {
        offers::add_resources(&mut table, spec, about, listed.resources, listed.templates);
    }
    table
}

/// Maps tools from a listing that was written down. What is not a tool is left out.
pub(crate) fn shipped_table(spec: &ServerSpec, about: &About, tools: Vec<Value>) -> Table {
    let tools = tools.into_iter();
    let listed = Listed {
        tools: tools
            .filter_map(|it| serde_json::from_value(it).ok())
            .collect(),
        ..Listed::default()
    };
    table(spec, about, listed)
}

fn add_tools(table: &mut Table, spec: &ServerSpec, about: &About, tools: Vec<Tool>) {
    let mut alike: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for tool in &tools {
        alike
            .entry(skeleton(&tool.name))
            .or_default()
            .push(tool.name.to_string());
    }
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
        let added = mapped.and_then(|mut manifest| {
            let id = manifest.id.clone();
            manifest.content = Some(told.definition(spec, &manifest).digest());
            table.add(manifest, Raw::Tool(name.clone()))?;
            table.told.insert(id, told);
            Ok(())
        });
        if let Err(reason) = added {
            table.refuse(&name, reason);
        }
    }
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
    let given = given(&tool)?;
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
        secret_fields: Default::default(),
        hints: Default::default(),
        acceptance: Default::default(),
        naming: spec.naming,
        content: None,
        given,
        pack_summary: cut(&about.instructions, MAX_PACK_SUMMARY),
        search_text: String::new(),
        id,
    })
}

/// What nothing else in the manifest says.
fn given(tool: &Tool) -> Result<Option<Value>, RefusedReason> {
    let whole = serde_json::to_value(tool).unwrap_or_default();
    let Value::Object(mut given) = whole else {
        return Ok(None);
    };
    for said in [
        "name",
        "title",
        "description",
        "inputSchema",
        "outputSchema",
    ] {
        given.remove(said);
    }
    let given = schema(&given)?;
    Ok(Some(given).filter(|it| it.as_object().is_some_and(|it| !it.is_empty())))
}

pub(crate) fn schema(schema: &Map<String, Value>) -> Result<Value, RefusedReason> {
    let value = Value::Object(schema.clone());
    if value.to_string().len() > MAX_SCHEMA {
        return Err(RefusedReason::SchemaTooLarge);
    }
    Ok(value)
}

/// What a call of a tool brought back.
pub(crate) fn completed(result: CallToolResult) -> Result<Output, Failure> {
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
        meta: result.meta.and_then(|it| serde_json::to_value(it).ok()),
        ..Output::default()
    })
}

pub(crate) fn block(block: ContentBlock) -> Content {
    match block {
        ContentBlock::Text(it) if it.annotations.is_none() && it.meta.is_none() => {
            Content::text(it.text)
        }
        // Serializing a block that was just parsed cannot fail.
        other => Content::Block(serde_json::to_value(other).unwrap_or_default()),
    }
}

/// An error answer of the protocol.
pub(crate) fn refusal(error: &ErrorData) -> Failure {
    let said = cut(&error.message, MAX_ERROR);
    let failure = match error.code == ErrorCode::INVALID_PARAMS {
        true => Failure::refused(said),
        false => Failure::provider(said),
    };
    failure.with_answer(error_answer(error))
}

/// The same, for somebody who speaks the protocol.
pub(crate) fn error_answer(error: &ErrorData) -> ErrorAnswer {
    let data = error.data.clone();
    ErrorAnswer {
        code: error.code.0,
        message: cut(&error.message, MAX_ERROR),
        data: data.filter(|it| it.to_string().len() <= MAX_ERROR),
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
