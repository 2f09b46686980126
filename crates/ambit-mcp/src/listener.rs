//! What this side is towards a server: it hears that lists and resources changed, and passes
//! questions on to whoever's call they belong to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ambit_runtime::conversation::{Question, QuestionKind, Questions, Unanswered};
use ambit_runtime::provider::ProviderNews;
use rmcp::ErrorData;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientResult, CustomResult, ErrorCode, Implementation,
    ServerNotification, ServerPeerInfo, ServerRequest, SubscriptionFilter,
};
use rmcp::service::{
    InboundStreamOrigin, NotificationContext, Peer, RequestContext, RoleClient, Service,
    ServiceError,
};
use serde_json::{Value, json};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::flights::{Flights, NobodyAskedReason};

/// Whether what a server offers is still what was listed.
#[derive(Clone)]
pub(crate) struct ListNews {
    changes: watch::Sender<u64>,
    news: broadcast::Sender<ProviderNews>,
    /// How many changes there had been when it was listed.
    listed_at: Arc<AtomicU64>,
}

impl ListNews {
    /// For a new connection of a server whose changes are counted in this channel.
    pub(crate) fn new(changes: watch::Sender<u64>, news: broadcast::Sender<ProviderNews>) -> Self {
        let count = *changes.borrow();
        ListNews {
            changes,
            news,
            listed_at: Arc::new(AtomicU64::new(count)),
        }
    }

    /// How many changes there were.
    pub(crate) fn count(&self) -> u64 {
        *self.changes.borrow()
    }

    /// Whether something changed since it was listed.
    pub(crate) fn is_stale(&self) -> bool {
        self.listed_at.load(Ordering::Acquire) != self.count()
    }

    /// It is listed as it was after so many changes.
    pub(crate) fn listed_at(&self, count: u64) {
        self.listed_at.store(count, Ordering::Release);
    }

    fn hear(&self, notification: &ServerNotification) {
        use ServerNotification as Said;
        let news = match notification {
            Said::ToolListChangedNotification(_)
            | Said::PromptListChangedNotification(_)
            | Said::ResourceListChangedNotification(_) => {
                self.changes.send_modify(|it| *it += 1);
                ProviderNews::Changed
            }
            Said::ResourceUpdatedNotification(it) => {
                ProviderNews::ResourceUpdated(it.params.uri.clone())
            }
            _ => return,
        };
        // Nobody listening is fine.
        let _ = self.news.send(news);
    }
}

/// What this side is towards a server.
pub(crate) struct Listener {
    news: ListNews,
    flights: Flights,
}

impl Listener {
    pub(crate) fn new(news: ListNews, flights: Flights) -> Self {
        Listener { news, flights }
    }

    async fn pass_on(
        &self,
        kind: QuestionKind,
        params: Value,
        origin: Option<&InboundStreamOrigin>,
    ) -> Result<ClientResult, ErrorData> {
        let refused = |why: String| ErrorData::new(ErrorCode::INVALID_REQUEST, why, None);
        let asking = self.flights.asked_by(origin).map_err(|why| match why {
            NobodyAskedReason::NoCall => {
                refused("no call is under way that this could belong to".to_owned())
            }
            NobodyAskedReason::SeveralCallers => refused(
                "several clients are being served and it is not said whose call this belongs to; \
                 `\"perSession\": true` gives each its own server"
                    .to_owned(),
            ),
        })?;
        let key = kind.ability().to_owned();
        let questions = Questions::from([(key, Question { kind, params })]);
        match asking.conversation.ask(questions).await {
            Ok(answers) => {
                let answer = answers.into_values().next().unwrap_or_default();
                Ok(ClientResult::CustomResult(CustomResult(answer)))
            }
            // A form nobody fills in is an answer; a model that does not write is none.
            Err(_) if kind == QuestionKind::Elicitation => Ok(ClientResult::CustomResult(
                CustomResult(json!({"action": "cancel"})),
            )),
            Err(Unanswered::Unable(method)) => Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("whoever called cannot answer `{method}`"),
                None,
            )),
            Err(Unanswered::Refused(why)) => Err(refused(why)),
        }
    }
}

impl Service<RoleClient> for Listener {
    async fn handle_request(
        &self,
        request: ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        let origin = context.extensions.get::<InboundStreamOrigin>();
        let params = |it: Result<Value, serde_json::Error>| it.unwrap_or_default();
        match request {
            ServerRequest::PingRequest(_) => Ok(ClientResult::empty(())),
            ServerRequest::ElicitRequest(it) => {
                let params = params(serde_json::to_value(it.params));
                self.pass_on(QuestionKind::Elicitation, params, origin)
                    .await
            }
            ServerRequest::CreateMessageRequest(it) => {
                let params = params(serde_json::to_value(it.params));
                self.pass_on(QuestionKind::Sampling, params, origin).await
            }
            ServerRequest::ListRootsRequest(_) => {
                self.pass_on(QuestionKind::Roots, json!({}), origin).await
            }
            ServerRequest::CustomRequest(it) => match QuestionKind::of_method(&it.method) {
                Some(kind) => {
                    let params = it.params.unwrap_or_else(|| json!({}));
                    self.pass_on(kind, params, origin).await
                }
                None => Err(not_answered(&it.method)),
            },
            _ => Err(not_answered("this")),
        }
    }

    async fn handle_notification(
        &self,
        notification: ServerNotification,
        _: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        self.news.hear(&notification);
        Ok(())
    }

    /// Said once, before anybody calls: what a caller cannot do is refused when it is asked.
    /// Roots are not offered: servers ask for them when nobody has called yet, and take the answer
    /// as their bounds.
    fn get_info(&self) -> ClientConfig {
        let capabilities = json!({"sampling": {}, "elicitation": {"form": {}, "url": {}}});
        let capabilities: ClientCapabilities =
            serde_json::from_value(capabilities).unwrap_or_default();
        let version = env!("CARGO_PKG_VERSION");
        ClientConfig::new(capabilities, Implementation::new("ambit", version))
    }
}

fn not_answered(method: &str) -> ErrorData {
    let said = format!("`{method}` is not answered here");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, said, None)
}

/// What a stateless server has to be asked for to tell of it.
pub(crate) fn list_changes(info: &ServerPeerInfo) -> Option<SubscriptionFilter> {
    if info.protocol_version.has_initialize() {
        return None;
    }
    let can = &info.capabilities;
    let tells = |it: Option<Option<bool>>| it.flatten() == Some(true);
    let mut filter = SubscriptionFilter::builder();
    let mut any = false;
    if tells(can.tools.as_ref().map(|it| it.list_changed)) {
        (filter, any) = (filter.tools_list_changed(), true);
    }
    if tells(can.prompts.as_ref().map(|it| it.list_changed)) {
        (filter, any) = (filter.prompts_list_changed(), true);
    }
    if tells(can.resources.as_ref().map(|it| it.list_changed)) {
        (filter, any) = (filter.resources_list_changed(), true);
    }
    any.then(|| filter.build())
}

/// Asks to be told, and listens until that ends.
pub(crate) async fn listen(
    peer: Peer<RoleClient>,
    filter: SubscriptionFilter,
    news: ListNews,
    end: CancellationToken,
) {
    let listening = async {
        let mut subscription = peer.listen(filter).await?;
        while let Some(notification) = subscription.next().await? {
            news.hear(&notification);
        }
        Ok::<_, ServiceError>(())
    };
    tokio::select! {
        () = end.cancelled() => {}
        ended = listening => if let Err(error) = ended {
            tracing::debug!(%error, "no news of changes");
        },
    }
}
