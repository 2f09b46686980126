//! The protocol's requests, each answered by the client's session.

#![expect(
    deprecated,
    reason = "log levels and subscriptions are of the session era, which is served here"
)]

use std::sync::{Arc, OnceLock};

use ambit_runtime::CancellationToken;
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::session::SessionSpec;
use http::request::Parts;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam,
    ClientCapabilities, CompleteRequestParams, CompleteResult, CustomRequest, CustomResult,
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer, SubscriptionContext};
use serde_json::{Map, Value};
use tokio::sync::OnceCell;

use crate::caller::{Client, Level, abilities};
use crate::client::{ClientTable, ClientWays};
use crate::completion;
use crate::exchange::{Round, Rounded};
use crate::front::{Front, Outcome, Wanted};
use crate::http::{AtHome, CallCounts};
use crate::instructions::{ABOUT, instructions};
use crate::listing::Listing;
use crate::map;
use crate::news::{self, Subscriptions};
use crate::rounds::Rounds;
use crate::running::Running;
use crate::shared::{LONGEST_NAME, SharedFronts};
use crate::skills;
use crate::style::{Era, Style};
use crate::tasks;

pub(crate) struct Handler {
    pub(crate) market: Arc<CapabilityMarketplace>,
    pub(crate) spec: Arc<SessionSpec>,
    pub(crate) style: Option<Style>,
    pub(crate) clients: Arc<ClientTable>,
    pub(crate) front: OnceCell<Arc<Front>>,
    /// The client, once it has said hello as those of the session era do.
    pub(crate) greeted: OnceLock<Peer<RoleServer>>,
    /// What it can do, once it has called.
    pub(crate) abilities: OnceLock<Arc<Map<String, Value>>>,
    /// Where requests without a session find one; without it, all that come here share `front`.
    pub(crate) shared: Option<Arc<SharedFronts>>,
    /// Calls between two requests.
    pub(crate) rounds: Arc<Rounds>,
    /// The client is gone.
    pub(crate) hung_up: CancellationToken,
    pub(crate) level: Level,
    pub(crate) subscriptions: Subscriptions,
    pub(crate) counts: Arc<CallCounts>,
    /// What is answered past the SDK.
    pub(crate) running: Running,
    /// Where its session is kept, if it has one over HTTP.
    pub(crate) at_home: Option<AtHome>,
}

impl Handler {
    /// What answers one client.
    pub(crate) fn new(
        market: Arc<CapabilityMarketplace>,
        spec: Arc<SessionSpec>,
        style: Option<Style>,
    ) -> Self {
        Handler {
            market,
            spec,
            style,
            clients: Arc::default(),
            front: OnceCell::new(),
            greeted: OnceLock::new(),
            abilities: OnceLock::new(),
            shared: None,
            rounds: Arc::default(),
            hung_up: CancellationToken::new(),
            level: Level::default(),
            subscriptions: Subscriptions::default(),
            counts: Arc::default(),
            running: Running::default(),
            at_home: None,
        }
    }

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
        let ways = self.clients.ways(client, era, self.style);
        let opening = || Box::pin(self.open(client, ways));
        match (&self.shared, era) {
            (Some(shared), Era::Stateless) => {
                let front = shared.of(client, ways.style);
                front.get_or_try_init(opening).await.cloned()
            }
            _ => self.front.get_or_try_init(opening).await.cloned(),
        }
    }

    async fn open(&self, client: Option<&str>, ways: ClientWays) -> Result<Arc<Front>, ErrorData> {
        tracing::info!(client, style = %ways.style, "a client is here");
        let spec = SessionSpec {
            asker: ways.asker,
            ..SessionSpec::clone(&self.spec)
        };
        let opened = Front::open(&self.market, spec, ways.style).await;
        opened.map(Arc::new).map_err(|problems| {
            let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
            ErrorData::internal_error(said.join("; "), None)
        })
    }

    /// The session of a client that may never have said hello, its lists up to date. Whoever asks
    /// for a list need not be told that it changed.
    async fn current(&self, context: &RequestContext<RoleServer>) -> Result<Arc<Front>, ErrorData> {
        let front = self.front(context, Era::Stateless).await?;
        front.catch_up().await;
        Ok(front)
    }

    /// The tools that headers of requests are compared with.
    fn compared_with(&self) -> Option<Arc<Listing>> {
        let own = self.front.get().cloned();
        let front = own.or_else(|| self.shared.as_ref()?.any())?;
        Some(front.listing())
    }

    /// Whether arguments of any tool are to be said in headers, too.
    pub(crate) fn has_header_arguments(&self) -> bool {
        self.compared_with().is_some_and(|it| it.names_headers())
    }

    /// The tool list of a client of the session era.
    pub(crate) async fn listing(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<Listing>, ErrorData> {
        let front = self.current(context).await?;
        Ok(front.listing())
    }

    /// One call, or one more round of it.
    async fn call(
        &self,
        wanted: Wanted,
        round: Round,
        context: &RequestContext<RoleServer>,
    ) -> Result<Rounded, ErrorData> {
        let front = self.front(context, Era::Stateless).await?;
        let era = era(context);
        let name = match era {
            Era::Session => Arc::clone(front.name()),
            // What a client calls itself there is no sign of who it is; its agent is.
            Era::Stateless => format!("agent:{}", self.spec.agent).into(),
        };
        let abilities = match era {
            Era::Session => Arc::clone(self.abilities.get_or_init(|| abilities(context))),
            Era::Stateless => abilities(context),
        };
        let client = Client::of(context, era, abilities, &name, &self.level, &self.hung_up);
        if era == Era::Session {
            let changes = front.catch_up().await;
            news::tell(&context.peer, changes).await;
        }
        let rounded = round
            .take(&front, wanted, client, &self.rounds, era, &context.ct)
            .await?;
        if let Rounded::Ended(ended) = &rounded {
            if let Outcome::Observed(_, observation) = &ended.outcome {
                self.counts.ended(observation, ended.took);
            }
            if era == Era::Session {
                news::tell(&context.peer, ended.changes).await;
            }
        }
        Ok(rounded)
    }
}

/// In which era a request was made.
pub(crate) fn era(context: &RequestContext<RoleServer>) -> Era {
    match context.protocol_version() {
        Some(version) if !version.has_initialize() => Era::Stateless,
        _ => Era::Session,
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        // Asked for before a client is known, which is to say by one of the stateless era.
        map::server_config(Era::Stateless, ABOUT.to_owned())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let front = self.front(&context, Era::Session).await?;
        let version = self.negotiate_initialize(&request)?.protocol_version;
        let peer = context.peer.clone();
        self.subscriptions
            .follow(Arc::downgrade(&front), peer.clone());
        let _ = self.greeted.set(peer);
        let info = map::server_config(Era::Session, instructions(&front));
        Ok(info.with_protocol_version(version))
    }

    /// A client that can be asked nothing is from now on answered past the SDK: a question would
    /// need a way back that only the SDK has.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let can = context.peer.peer_info().map(|it| it.capabilities.clone());
        let is_able = can.is_none_or(|it| it != ClientCapabilities::default());
        let parts = context.extensions.get::<Parts>();
        if let (false, Some(home), Some(parts)) = (is_able, &self.at_home, parts) {
            home.settle(parts, &context.peer);
        }
    }

    async fn on_cancelled(
        &self,
        cancelled: CancelledNotificationParam,
        _: NotificationContext<RoleServer>,
    ) {
        if let Some(id) = &cancelled.request_id {
            self.running.cancel(id);
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let front = self.current(&context).await?;
        let tools = front.listing().tools().to_vec();
        let mut listed = ListToolsResult::with_all_items(tools);
        (listed.ttl_ms, listed.cache_scope) = map::hints(era(&context));
        Ok(listed)
    }

    /// What a request's headers are compared with: its schema, and for each call.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let listing = self.compared_with()?;
        let schema = &listing
            .tools()
            .iter()
            .find(|it| it.name == name)?
            .input_schema;
        Some(Tool::new(name.to_owned(), "", Arc::clone(schema)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let round = Round::new(request.input_responses, request.request_state);
        let wanted = Wanted::Tool {
            name: request.name.into_owned(),
            arguments: Value::Object(request.arguments.unwrap_or_default()),
        };
        map::tool_response(self.call(wanted, round, &context).await?)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let front = self.current(&context).await?;
        let prompts = map::prompts(&front.lists());
        let mut listed = ListPromptsResult::with_all_items(prompts);
        (listed.ttl_ms, listed.cache_scope) = map::hints(era(&context));
        Ok(listed)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let round = Round::new(request.input_responses, request.request_state);
        let wanted = Wanted::Prompt {
            name: request.name,
            arguments: Value::Object(request.arguments.unwrap_or_default()),
        };
        map::prompt_response(self.call(wanted, round, &context).await?)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let front = self.current(&context).await?;
        let resources = map::resources(&front.lists());
        let mut listed = ListResourcesResult::with_all_items(resources);
        (listed.ttl_ms, listed.cache_scope) = map::hints(era(&context));
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let front = self.current(&context).await?;
        let templates = map::given(&front.lists().templates);
        let mut listed = ListResourceTemplatesResult::with_all_items(templates);
        (listed.ttl_ms, listed.cache_scope) = map::hints(era(&context));
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let round = Round::new(request.input_responses, request.request_state);
        let wanted = Wanted::Resource {
            uri: request.uri.clone(),
        };
        let rounded = self.call(wanted, round, &context).await?;
        map::resource_response(rounded, &request.uri, |reference| {
            let results = self.market.results();
            results.whole(&self.spec.agent, reference).ok()
        })
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let front = self.current(&context).await?;
        completion::complete(&front, request).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let front = self.current(&context).await?;
        *self.level.lock() = Some(request.level);
        let level = serde_json::to_value(request.level).unwrap_or_default();
        if let Some(level) = level.as_str() {
            for provider in front.providers() {
                provider.log_from(level).await;
            }
        }
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let front = self.current(&context).await?;
        self.subscriptions.add(&front, &request.uri).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let front = self.current(subscription.request_context()).await?;
        news::listen(&front, subscription).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        tasks::get(&self.rounds, &request.task_id)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        tasks::update(&self.rounds, request)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        tasks::cancel(&self.rounds, &request.task_id)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let front = self.current(&context).await?;
        skills::answer(&front, request, era(&context)).await
    }
}
