//! Skills over the protocol (`io.modelcontextprotocol/skills`), which the SDK does not know.
//!
//! Pages hold one entry each, so that whoever does not follow cursors misses something.

use std::fmt::Write as _;

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::server::stateless;

/// The extension's id.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/skills";

const DIRECTORY: &str = "inode/directory";
const MARKDOWN: &str = "text/markdown";

/// A folder of text files, `SKILL.md` first.
struct Skill {
    name: &'static str,
    description: &'static str,
    body: &'static str,
    files: &'static [(&'static str, &'static str)],
}

/// The first has a folder in it: the suite looks at the first.
const SKILLS: &[Skill] = &[
    Skill {
        name: "greeting",
        description: "Greets people in the form they prefer",
        body: "Read references/forms.md, then greet.",
        files: &[("references/forms.md", "Formal: Good day.\nElse: Hello.\n")],
    },
    Skill {
        name: "parting",
        description: "Says goodbye in one sentence",
        body: "Say goodbye.",
        files: &[],
    },
];

impl Skill {
    fn folder(&self) -> String {
        format!("skill://{}", self.name)
    }

    fn uri(&self) -> String {
        format!("{}/SKILL.md", self.folder())
    }

    /// Every file: its uri, and what is in it.
    fn contents(&self) -> Vec<(String, String)> {
        let head = format!("name: {}\ndescription: {}", self.name, self.description);
        let manifest = format!("---\n{head}\n---\n\n{}\n", self.body);
        let mut all = vec![(self.uri(), manifest)];
        for (path, text) in self.files {
            all.push((format!("{}/{path}", self.folder()), (*text).to_owned()));
        }
        all
    }

    fn entry(&self) -> Value {
        let files = self.contents().into_iter().map(|(uri, text)| {
            json!({"uri": uri, "digest": digest(text.as_bytes()), "size": text.len()})
        });
        json!({
            "uri": self.uri(),
            "frontmatter": {"name": self.name, "description": self.description},
            "resources": files.collect::<Vec<_>>(),
        })
    }
}

fn digest(bytes: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect("a string takes all");
    }
    text
}

/// What the server says of the extension.
pub(crate) fn capability() -> JsonObject {
    JsonObject::from_iter([("directoryRead".to_owned(), Value::Bool(true))])
}

/// The manifests, as resources.
pub(crate) fn resources() -> impl Iterator<Item = Resource> {
    SKILLS.iter().map(|skill| {
        Resource::new(skill.uri(), skill.name)
            .with_description(skill.description)
            .with_mime_type(MARKDOWN)
    })
}

/// Makes what is read differ from what is listed.
pub(crate) const TAMPERED: &str = "--tampered";

/// A file of a skill.
pub(crate) fn read(uri: &str) -> Option<ResourceContents> {
    let mut files = SKILLS.iter().flat_map(Skill::contents);
    let (_, mut text) = files.find(|(it, _)| it == uri)?;
    if std::env::args().any(|it| it == TAMPERED) {
        text = text.replace('e', "3");
    }
    Some(ResourceContents::text(text, uri).with_mime_type(MARKDOWN))
}

/// Answers the extension's requests, and refuses all others.
pub(crate) fn answer(
    request: CustomRequest,
    context: &RequestContext<RoleServer>,
) -> Result<CustomResult, ErrorData> {
    let params = request.params.unwrap_or_default();
    let uri = params["uri"].as_str().unwrap_or_default();
    let mut result = match request.method.as_str() {
        "skills/list" => {
            let entries = SKILLS.iter().map(Skill::entry).collect();
            page("skills", entries, &params)?
        }
        "skills/get" => {
            let skill = SKILLS.iter().find(|it| it.uri() == uri);
            let skill = skill.ok_or_else(|| refused(uri, "is no skill"))?;
            json!({"skill": skill.entry()})
        }
        "resources/directory/read" => page("resources", children(uri)?, &params)?,
        _ => {
            let code = ErrorCode::METHOD_NOT_FOUND;
            return Err(ErrorData::new(code, request.method, None));
        }
    };
    if stateless(context) {
        result["resultType"] = json!("complete");
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("public");
    }
    Ok(CustomResult::new(result))
}

fn refused(uri: &str, why: &str) -> ErrorData {
    ErrorData::invalid_params(format!("`{uri}` {why}"), Some(json!({"uri": uri})))
}

/// One entry from the cursor on, and the cursor to the next.
fn page(key: &str, entries: Vec<Value>, params: &Value) -> Result<Value, ErrorData> {
    let start = match params.get("cursor").and_then(Value::as_str) {
        None => 0,
        Some(cursor) => cursor
            .parse()
            .map_err(|_| refused(cursor, "is no cursor"))?,
    };
    let count = entries.len();
    let entry: Vec<_> = entries.into_iter().skip(start).take(1).collect();
    let mut page = json!({key: entry});
    if start + 1 < count {
        page["nextCursor"] = json!((start + 1).to_string());
    }
    Ok(page)
}

/// What is directly in a folder.
fn children(folder: &str) -> Result<Vec<Value>, ErrorData> {
    let inside = format!("{folder}/");
    let mut children = Vec::new();
    for (uri, _) in SKILLS.iter().flat_map(Skill::contents) {
        let Some(rest) = uri.strip_prefix(&inside) else {
            continue;
        };
        let (name, kind) = match rest.split_once('/') {
            Some((below, _)) => (below, DIRECTORY),
            None => (rest, MARKDOWN),
        };
        let child = json!({"uri": format!("{inside}{name}"), "name": name, "mimeType": kind});
        if !children.contains(&child) {
            children.push(child);
        }
    }
    if children.is_empty() {
        return Err(refused(folder, "is no folder"));
    }
    Ok(children)
}
