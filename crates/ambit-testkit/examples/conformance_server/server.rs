//! Which request of the protocol is answered where.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::task_manager::TaskManager;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::changes::Changes;
use crate::rounds::Rounds;
use crate::{prompts, resources, skills, tasks, tools};

/// Which versions of the protocol are spoken.
#[derive(Clone, Copy)]
pub(crate) enum Eras {
    Both,
    /// Those with sessions.
    Sessions,
    /// The one without.
    Stateless,
}

/// The server. What sessions share is behind an `Arc`.
#[derive(Clone)]
pub(crate) struct Fixture {
    pub(crate) changes: Arc<Changes>,
    pub(crate) rounds: Arc<Rounds>,
    pub(crate) tasks: TaskManager,
    eras: Eras,
    /// What the client of this session wants logged.
    level: Arc<Mutex<LoggingLevel>>,
}

impl Fixture {
    pub(crate) fn new(eras: Eras) -> Self {
        Fixture {
            changes: Arc::default(),
            rounds: Arc::default(),
            tasks: TaskManager::new(),
            eras,
            level: level(),
        }
    }

    /// The same server for one more session.
    pub(crate) fn for_session(&self) -> Self {
        Fixture {
            level: level(),
            ..self.clone()
        }
    }

    /// Writes to the client's log, if the client wants it: in the stateless era each request says
    /// so, in the session era the session does.
    pub(crate) async fn log(&self, context: &RequestContext<RoleServer>, text: &str) {
        let wanted = if stateless(context) {
            context.meta.log_level()
        } else {
            Some(*self.level.lock().expect("no panic while held"))
        };
        if wanted.is_some_and(|it| it as u8 <= LoggingLevel::Info as u8) {
            let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, text.into())
                .with_logger("conformance");
            // A client that has gone reads no log.
            context.peer.notify_logging_message(message).await.ok();
        }
    }
}

fn level() -> Arc<Mutex<LoggingLevel>> {
    Arc::new(Mutex::new(LoggingLevel::Info))
}

/// Whether the request is one of the era without sessions.
pub(crate) fn stateless(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        capabilities.extensions = Some(ExtensionCapabilities::from([
            (TASKS_EXTENSION_ID.to_owned(), JsonObject::new()),
            (skills::EXTENSION.to_owned(), skills::capability()),
        ]));
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("ambit-conformance-fixture", "1.0.0"))
            .with_instructions("Answers as the conformance suite expects.")
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        let known = ProtocolVersion::KNOWN_VERSIONS.iter();
        let first_stateless = ProtocolVersion::V_2026_07_28.as_str();
        known
            .filter(|it| match self.eras {
                Eras::Both => true,
                Eras::Sessions => it.as_str() < first_stateless,
                Eras::Stateless => it.as_str() >= first_stateless,
            })
            .cloned()
            .collect()
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.changes.tell_also(context.peer);
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if stateless(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        *self.level.lock().expect("no panic while held") = request.level;
        Ok(())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all(&self.changes)))
    }

    /// The transport checks `Mcp-Param-…` headers against what this finds.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::all(&self.changes)
            .into_iter()
            .find(|it| it.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        tools::call(self, request, context).await
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::all()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(
            resources::templates(),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&request.uri).map(Into::into)
    }

    /// Accepted and forgotten: no resource of the fixture ever changes.
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        resources::read(&request.uri).map(drop)
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.changes.tell(&context).await;
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::all(
            &self.changes,
        )))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(self, request, &context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        prompts::complete(&request)
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        tasks::get(&self.tasks, &request)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        tasks::update(&self.tasks, request)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        tasks::cancel(&self.tasks, &request)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        skills::answer(request, &context)
    }
}
