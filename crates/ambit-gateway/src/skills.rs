//! MCP's skills extension: this agent's own skills and those of its servers, as one list.
//!
//! Own skills come first, then servers by name; of two skills in one place the first is the one
//! that is there. To list them, servers are connected that nobody has needed yet.

use std::collections::BTreeSet;
use std::sync::Arc;

use ambit_core::id::Kind;
use ambit_core::observation::ErrorAnswer;
use ambit_runtime::provider::Provider;
use ambit_runtime::skill::{SKILL_MD, SkillEntry, own_address};
use futures_util::future::join_all;
use rmcp::model::{CustomRequest, CustomResult, ErrorData};
use serde_json::{Map, Value, json};

use crate::front::Front;
use crate::map;
use crate::style::Era;

/// The extension's name.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/skills";

/// How many entries a page has.
const PAGE: usize = 100;

/// What is said of it to clients.
pub(crate) fn declared() -> Value {
    json!({"directoryRead": true})
}

/// Answers the extension's requests; there are no others.
pub(crate) async fn answer(
    front: &Front,
    request: CustomRequest,
    era: Era,
) -> Result<CustomResult, ErrorData> {
    let params = request.params.unwrap_or_default();
    let uri = || {
        let uri = params.get("uri").and_then(Value::as_str);
        uri.ok_or_else(|| ErrorData::invalid_params("`uri` is missing", None))
    };
    let mut result = match request.method.as_str() {
        "skills/list" => {
            let entries = list(front).await.into_iter();
            let entries = entries.filter_map(|it| serde_json::to_value(it).ok());
            page("skills", entries.collect(), &params)?
        }
        "skills/get" => {
            let uri = uri()?;
            let skill = get(front, uri).await?;
            let skill = skill.ok_or_else(|| nothing_at(uri, "no skill"))?;
            Map::from_iter([("skill".to_owned(), json!(skill))])
        }
        "resources/directory/read" => {
            let uri = uri()?;
            let children = folder(front, uri).await?;
            let children = children.ok_or_else(|| nothing_at(uri, "no folder of a skill"))?;
            page("resources", children, &params)?
        }
        other => return Err(map::no_such_method(other)),
    };
    if let (Some(ttl), Some(scope)) = map::hints(era) {
        result.insert("resultType".to_owned(), json!("complete"));
        result.insert("ttlMs".to_owned(), json!(ttl));
        result.insert("cacheScope".to_owned(), json!(scope));
    }
    Ok(CustomResult::new(Value::Object(result)))
}

/// Every skill there is. A server that cannot say is left out: the others are still there.
async fn list(front: &Front) -> Vec<SkillEntry> {
    let lists = front.lists();
    let own = lists.skills.iter().map(|it| async move {
        let provider = front.provider(&it.id)?;
        let uri = own_address(&it.name, SKILL_MD);
        provider.skill(&uri).await.ok().flatten()
    });
    let providers = front.providers();
    let theirs = providers.iter().map(|provider| async move {
        provider.skills().await.unwrap_or_else(|error| {
            tracing::debug!(server = provider.name(), ?error, "its skills are left out");
            Vec::new()
        })
    });
    let (own, theirs) = futures_util::join!(join_all(own), join_all(theirs));
    let mut folders = BTreeSet::new();
    let all = own.into_iter().flatten().chain(
        theirs
            .into_iter()
            .flatten()
            .filter(|it| !lists.is_own(&it.uri)),
    );
    all.filter(|it| folders.insert(it.folder().to_owned()))
        .collect()
}

/// The skill at an address.
async fn get(front: &Front, uri: &str) -> Result<Option<SkillEntry>, ErrorData> {
    if let Some((provider, own)) = whose(front, uri) {
        let found = first(vec![provider.skill(uri).await])?;
        if found.is_some() || own == Own::Yes {
            return Ok(found);
        }
    }
    let providers = front.providers();
    let asked = providers.iter().map(|it| it.skill(uri));
    first(join_all(asked).await)
}

/// What is in a folder.
async fn folder(front: &Front, uri: &str) -> Result<Option<Vec<Value>>, ErrorData> {
    if let Some((provider, own)) = whose(front, uri) {
        let found = first(vec![provider.folder(uri).await])?;
        if found.is_some() || own == Own::Yes {
            return Ok(found);
        }
    }
    let providers = front.providers();
    let asked = providers.iter().map(|it| it.folder(uri));
    first(join_all(asked).await)
}

/// Whether a place belongs to one of Ambit's own skills; then nobody else is asked.
#[derive(PartialEq, Eq)]
enum Own {
    Yes,
    No,
}

/// Who most likely has what is at an address, so that the others need not be connected.
fn whose(front: &Front, uri: &str) -> Option<(Arc<dyn Provider>, Own)> {
    let id = front.resource_at(uri)?;
    let own = match id.kind() {
        Kind::Skill => Own::Yes,
        _ => Own::No,
    };
    Some((front.provider(&id)?, own))
}

/// Of several that were asked, the first that has it. That one cannot answer is told only if no
/// other can.
fn first<T>(asked: Vec<Result<Option<T>, ErrorAnswer>>) -> Result<Option<T>, ErrorData> {
    let mut failed = None;
    for answer in asked {
        match answer {
            Ok(Some(found)) => return Ok(Some(found)),
            Ok(None) => {}
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    match failed {
        Some(error) => Err(map::error_data(error)),
        None => Ok(None),
    }
}

fn nothing_at(uri: &str, what: &str) -> ErrorData {
    let said = format!("{what} is at `{}`", map::short(uri));
    ErrorData::invalid_params(said, Some(json!({"uri": uri})))
}

/// The entries from a cursor on, and the cursor to the next.
fn page(key: &str, entries: Vec<Value>, params: &Value) -> Result<Map<String, Value>, ErrorData> {
    let start = match params.get("cursor") {
        None | Some(Value::Null) => 0,
        Some(cursor) => {
            let start = cursor.as_str().and_then(|it| it.parse().ok());
            let start = start.filter(|it| *it < entries.len());
            start
                .ok_or_else(|| ErrorData::invalid_params("the cursor is none of this list", None))?
        }
    };
    let end = start + PAGE;
    let mut page = Map::new();
    if end < entries.len() {
        page.insert("nextCursor".to_owned(), json!(end.to_string()));
    }
    let entries: Vec<Value> = entries.into_iter().skip(start).take(PAGE).collect();
    page.insert(key.to_owned(), Value::Array(entries));
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_join_to_the_whole() {
        for count in [0, 1, PAGE, PAGE + 1, 3 * PAGE] {
            let entries: Vec<Value> = (0..count).map(Value::from).collect();
            let (mut all, mut params) = (Vec::new(), json!({}));
            loop {
                let page = page("it", entries.clone(), &params).unwrap();
                all.extend(page["it"].as_array().unwrap().iter().cloned());
                match page.get("nextCursor") {
                    Some(next) => params = json!({"cursor": next}),
                    None => break,
                }
            }
            assert_eq!(all, entries);
        }
        for cursor in ["", "-1", "1", "x"] {
            assert!(page("it", vec![json!(0)], &json!({"cursor": cursor})).is_err());
        }
    }
}
