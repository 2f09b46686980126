//! Prompts and resources as capabilities: a prompt is called with its arguments, a resource is
//! read at its address. Neither changes anything.

use ambit_core::id::{CapabilityId, Source};
use ambit_core::manifest::CapabilityManifest;
use rmcp::model::{Prompt, Resource, ResourceTemplate};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::effects::{Hints, effects};
use crate::map::{
    About, MAX_DESCRIPTION, MAX_NAME, MAX_PACK_SUMMARY, MAX_TITLE, Raw, RefusedReason, Table, cut,
    schema,
};
use crate::spec::ServerSpec;

const MAX_URI: usize = 4096;

pub(crate) fn add_prompts(
    table: &mut Table,
    spec: &ServerSpec,
    about: &About,
    prompts: Vec<Prompt>,
) {
    for prompt in prompts {
        let name = prompt.name.clone();
        let added = self::prompt(spec, about, prompt)
            .and_then(|manifest| table.add(manifest, Raw::Prompt(name.clone())));
        if let Err(reason) = added {
            table.refuse(&name, reason);
        }
    }
}

fn prompt(
    spec: &ServerSpec,
    about: &About,
    prompt: Prompt,
) -> Result<CapabilityManifest, RefusedReason> {
    if prompt.name.is_empty() || prompt.name.len() > MAX_NAME {
        return Err(RefusedReason::BadName);
    }
    let id = CapabilityId::foreign_prompt(Source::Mcp, &spec.name, &prompt.name)
        .map_err(|_| RefusedReason::BadName)?;
    let arguments = prompt.arguments.as_deref().unwrap_or_default();
    let properties: Map<String, Value> = arguments
        .iter()
        .map(|it| {
            let mut property = json!({"type": "string"});
            if let (Some(text), Some(property)) = (&it.description, property.as_object_mut()) {
                property.insert("description".to_owned(), json!(text));
            }
            (it.name.clone(), property)
        })
        .collect();
    let required: Vec<&str> = arguments
        .iter()
        .filter(|it| it.required == Some(true))
        .map(|it| it.name.as_str())
        .collect();
    let input_schema = json!({"type": "object", "properties": properties, "required": required});
    Ok(CapabilityManifest {
        title: cut(prompt.title.as_deref().unwrap_or(&prompt.name), MAX_TITLE),
        input_schema,
        given: Some(given(&prompt)?),
        naming: spec.naming,
        ..base(spec, about, id, prompt.description.as_deref())
    })
}

pub(crate) fn add_resources(
    table: &mut Table,
    spec: &ServerSpec,
    about: &About,
    resources: Vec<Resource>,
    templates: Vec<ResourceTemplate>,
) {
    for it in resources {
        let title = it.title.as_deref().unwrap_or(&it.name);
        let id = CapabilityId::resource(Source::Mcp, &spec.name, &it.name, &it.uri);
        let raw = Raw::Resource(it.uri.clone());
        let added = id
            .map_err(|_| RefusedReason::BadName)
            .and_then(|id| {
                let address = Address {
                    uri: &it.uri,
                    title,
                    description: it.description.as_deref(),
                };
                resource(spec, about, id, address, given(&it)?)
            })
            .and_then(|manifest| table.add(manifest, raw));
        if let Err(reason) = added {
            table.refuse(&it.uri, reason);
        }
    }
    for it in templates {
        let title = it.title.as_deref().unwrap_or(&it.name);
        let id = CapabilityId::template(Source::Mcp, &spec.name, &it.name, &it.uri_template);
        let added = id
            .map_err(|_| RefusedReason::BadName)
            .and_then(|id| {
                let address = Address {
                    uri: &it.uri_template,
                    title,
                    description: it.description.as_deref(),
                };
                resource(spec, about, id, address, given(&it)?)
            })
            .and_then(|manifest| table.add(manifest, Raw::Template));
        if let Err(reason) = added {
            table.refuse(&it.uri_template, reason);
        }
    }
    if let Ok(id) = CapabilityId::any_resource(Source::Mcp, &spec.name) {
        let description = "A resource that is in no list, such as one a result links to.";
        let manifest = CapabilityManifest {
            title: format!("Other resources of {}", spec.name),
            input_schema: takes_address(),
            ..base(spec, about, id, Some(description))
        };
        // Nothing else has a name without a hash.
        let _ = table.add(manifest, Raw::Template);
    }
}

struct Address<'a> {
    uri: &'a str,
    title: &'a str,
    description: Option<&'a str>,
}

fn resource(
    spec: &ServerSpec,
    about: &About,
    id: CapabilityId,
    address: Address<'_>,
    given: Value,
) -> Result<CapabilityManifest, RefusedReason> {
    if address.uri.is_empty() || address.uri.len() > MAX_URI {
        return Err(RefusedReason::BadName);
    }
    Ok(CapabilityManifest {
        title: cut(address.title, MAX_TITLE),
        input_schema: takes_address(),
        given: Some(given),
        ..base(spec, about, id, address.description)
    })
}

fn takes_address() -> Value {
    json!({"type": "object", "properties": {"uri": {"type": "string", "maxLength": MAX_URI}}})
}

fn base(
    spec: &ServerSpec,
    about: &About,
    id: CapabilityId,
    description: Option<&str>,
) -> CapabilityManifest {
    let reads = Hints {
        read_only: Some(true),
        ..Hints::default()
    };
    let effects = effects("", reads, spec.provenance, &spec.transport);
    CapabilityManifest {
        permissions: format!("mcp:{}", spec.name).parse().into_iter().collect(),
        version: about
            .version
            .parse()
            .unwrap_or(semver::Version::new(0, 0, 0)),
        pack_summary: cut(&about.instructions, MAX_PACK_SUMMARY),
        ..CapabilityManifest::new(id, cut(description.unwrap_or(""), MAX_DESCRIPTION), effects)
    }
}

/// The definition as the server gave it, if it is not too large.
fn given(definition: &impl Serialize) -> Result<Value, RefusedReason> {
    match serde_json::to_value(definition) {
        Ok(Value::Object(it)) => schema(&it),
        _ => Err(RefusedReason::BadName),
    }
}
