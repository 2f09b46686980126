//! The protocol's requests, each answered by the client's session.

use std::sync::Arc;

use ambit_core::observation::Observation;
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::session::SessionSpec;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, GetPromptRequestParams, GetPromptResponse,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListToolsResult,
    PaginatedRequestParams, ServerConfig,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::Value;
use tokio::sync::OnceCell;

use crate::elicit::ElicitationApprover;
use crate::front::{Answer, Front, Listing};
use crate::http::CallCounts;
use crate::instructions::{ABOUT, instructions};
use crate::map;
use crate::shared::{LONGEST_NAME, SharedFronts};
use crate::style::{Era, Style, style_for};

pub(crate) struct Handler {
    pub(crate) market: Arc<CapabilityMarketplace>,
    pub(crate) spec: SessionSpec,
    pub(crate) style: Option<Style>,
    pub(crate) approver: Arc<ElicitationApprover>,
    pub(crate) front: OnceCell<Arc<Front>>,
    /// Where requests without a session find one; without it, all that come here share `front`.
    pub(crate) shared: Option<Arc<SharedFronts>>,
    pub(crate) counts: Arc<CallCounts>,
}

impl Handler {
    /// The client's session, opened at its first request: only then is it known who it is.
    async fn front(
        &self,
        context: &RequestContext<RoleServer>,
        era: Era,
    ) -> Result<Arc<Front>, ErrorData> {
        if let Some(front) = self.front.get() {
            return Ok(Arc::clone(front));
        }
        let client = context.client_info().map(|it| it.name);
        let client = client.as_deref().filter(|it| it.len() <= LONGEST_NAME);
        let style = style_for(client, era, self.style);
        let opening = || Box::pin(self.open(client, style));
        match (&self.shared, era) {
            (Some(shared), Era::Stateless) => {
                let front = shared.of(client, style);
                front.get_or_try_init(opening).await.cloned()
            }
            _ => self.front.get_or_try_init(opening).await.cloned(),
        }
    }

    async fn open(&self, client: Option<&str>, style: Style) -> Result<Arc<Front>, ErrorData> {
        tracing::info!(client, %style, "a client is here");
        let opened = Front::open(&self.market, self.spec.clone(), style).await;
        opened.map(Arc::new).map_err(|problems| {
            let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
            ErrorData::internal_error(said.join("; "), None)
        })
    }

    /// The session of a client that may never have said hello.
    async fn client(&self, context: &RequestContext<RoleServer>) -> Result<Arc<Front>, ErrorData> {
        self.front(context, Era::Stateless).await
    }

    /// Tells a client that reads its list again to do so.
    async fn tell(&self, front: &Front, listing: Listing, client: &Peer<RoleServer>) {
        if (listing, front.style()) == (Listing::Changed, Style::Dynamic)
            && let Err(error) = client.notify_tool_list_changed().await
        {
            tracing::debug!(%error, "the client was not told of its new list");
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        // Asked for before a client is known, which is to say by one of the stateless era.
        let style = style_for(None, Era::Stateless, self.style);
        map::server_config(style, ABOUT.to_owned())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        self.approver.connect(&context.peer, &request.capabilities);
        let front = self.front(&context, Era::Session).await?;
        let version = self.negotiate_initialize(&request)?.protocol_version;
        let info = map::server_config(front.style(), instructions(&front));
        Ok(info.with_protocol_version(version))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let front = self.client(&context).await?;
        // Whoever asks for the list need not be told that it changed.
        front.catch_up();
        let tools = front.tools().iter().filter_map(map::tool).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let front = self.client(&context).await?;
        self.tell(&front, front.catch_up(), &context.peer).await;
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let (answer, listing) = front.call(&request.name, arguments, &context.ct).await;
        self.tell(&front, listing, &context.peer).await;
        if let Answer::Ended(report) = &answer {
            self.counts.ended(&report.observation, report.duration);
        }
        match answer {
            Answer::Ended(report) => Ok(map::tool_result(&report.call, report.observation).into()),
            Answer::UnknownTool => Err(ErrorData::invalid_params(
                format!("unknown tool: `{}`", request.name),
                None,
            )),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let front = self.client(&context).await?;
        let prompts = front.skills().into_iter().map(map::prompt).collect();
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let front = self.client(&context).await?;
        let (answer, listing) = front.load_skill(&request.name, &context.ct).await;
        self.tell(&front, listing, &context.peer).await;
        // A prompt cannot say no; the protocol's error can.
        let said = match answer {
            Answer::Ended(report) => match report.observation {
                Observation::Completed(completed) => {
                    return Ok(map::prompt_result(completed).into());
                }
                other => map::refusal(&other),
            },
            Answer::UnknownTool => format!("unknown prompt: `{}`", request.name),
        };
        Err(ErrorData::invalid_params(said, None))
    }
}
