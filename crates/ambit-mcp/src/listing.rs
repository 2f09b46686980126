//! Everything a server lists, page by page, each list bounded.

use rmcp::model::{
    ErrorCode, PaginatedRequestParams, Prompt, Resource, ResourceTemplate, ServerCapabilities, Tool,
};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde::Serialize;

const MAX_PAGES: usize = 256;
const MAX_ENTRIES: usize = 4096;
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// What a server lists.
#[derive(Default)]
pub(crate) struct Listed {
    pub(crate) tools: Vec<Tool>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<ResourceTemplate>,
}

/// Why listing ended early.
pub(crate) enum ListError {
    TooLong(&'static str),
    Service(ServiceError),
}

/// Lists everything a server says it has. Tools are asked for in any case: some servers have them
/// and do not say so.
pub(crate) async fn list(
    peer: &Peer<RoleClient>,
    can: &ServerCapabilities,
) -> Result<Listed, ListError> {
    let mut listed = Listed {
        tools: pages(|it| async move {
            let page = peer.list_tools(Some(it)).await?;
            Ok((page.tools, page.next_cursor))
        })
        .await?,
        ..Listed::default()
    };
    if can.prompts.is_some() {
        listed.prompts = pages(|it| async move {
            let page = peer.list_prompts(Some(it)).await?;
            Ok((page.prompts, page.next_cursor))
        })
        .await?;
    }
    if can.resources.is_some() {
        listed.resources = pages(|it| async move {
            let page = peer.list_resources(Some(it)).await?;
            Ok((page.resources, page.next_cursor))
        })
        .await?;
        listed.templates = pages(|it| async move {
            let page = peer.list_resource_templates(Some(it)).await?;
            Ok((page.resource_templates, page.next_cursor))
        })
        .await?;
    }
    Ok(listed)
}

async fn pages<T, F>(page: impl Fn(PaginatedRequestParams) -> F) -> Result<Vec<T>, ListError>
where
    T: Serialize,
    F: Future<Output = Result<(Vec<T>, Option<String>), ServiceError>>,
{
    let mut entries = Vec::new();
    let mut bytes = 0;
    let mut cursor = None;
    for _ in 0..MAX_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
        let (more, next) = match page(params).await {
            Ok(page) => page,
            // A server that has no such list at all.
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                return Ok(entries);
            }
            Err(error) => return Err(ListError::Service(error)),
        };
        bytes += serde_json::to_string(&more).map_or(0, |it| it.len());
        entries.extend(more);
        if entries.len() > MAX_ENTRIES {
            return Err(ListError::TooLong("4096 entries"));
        }
        if bytes > MAX_BYTES {
            return Err(ListError::TooLong("16 MiB of entries"));
        }
        if next.is_none() {
            return Ok(entries);
        }
        if next == cursor {
            return Err(ListError::TooLong("one page, over and over"));
        }
        cursor = next;
    }
    Err(ListError::TooLong("256 pages of entries"))
}
