//! What a server can do beside running calls, for a front that speaks its protocol.

use std::sync::Arc;

use ambit_core::observation::ErrorAnswer;
use ambit_runtime::provider::{Provider, ProviderNews};
use ambit_runtime::skill::SkillEntry;
use async_trait::async_trait;
use rmcp::model::{ClientRequest, CustomRequest, ErrorCode, ServerResult};
use rmcp::service::ServiceError;
use serde_json::Value;
use tokio::sync::broadcast;
use tokio::time::timeout;

use crate::connection::Connection;
use crate::error::McpError;
use crate::map;
use crate::server::McpServer;

/// A server, seen from the side.
pub(crate) struct Side(pub(crate) Arc<McpServer>);

impl Side {
    pub(crate) async fn connection(&self) -> Result<Arc<Connection>, ErrorAnswer> {
        self.0.connection().await.map_err(|it| unreachable(&it))
    }
}

pub(crate) type Answer<T> = Result<T, ErrorAnswer>;

/// No server may keep a front waiting for ever.
async fn within<T>(side: &Side, asked: impl Future<Output = Result<T, ServiceError>>) -> Answer<T> {
    let spec = side.0.spec();
    match timeout(spec.timeouts.connect, asked).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(ServiceError::McpError(error))) => Err(map::error_answer(&error)),
        Ok(Err(error)) => Err(internal(error.to_string())),
        Err(_) => Err(internal(format!("server `{}` did not answer", spec.name))),
    }
}

pub(crate) fn internal(message: String) -> ErrorAnswer {
    ErrorAnswer {
        code: ErrorCode::INTERNAL_ERROR.0,
        message,
        data: None,
    }
}

fn unreachable(error: &McpError) -> ErrorAnswer {
    internal(error.to_string())
}

#[async_trait]
impl Provider for Side {
    fn name(&self) -> &str {
        &self.0.spec().name
    }

    async fn request(&self, method: &str, params: Value) -> Result<Value, ErrorAnswer> {
        let connection = self.connection().await?;
        let request = ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)));
        let answer = within(self, connection.peer().send_request(request)).await?;
        let answer = match answer {
            ServerResult::CustomResult(it) => it.0,
            other => serde_json::to_value(other).unwrap_or_default(),
        };
        Ok(answer)
    }

    async fn watch(&self, uri: &str) -> Result<(), ErrorAnswer> {
        // First, so that a connection that is opened for it knows of it, too.
        self.0.lasting().watched.add(uri);
        let watched = match self.connection().await {
            Ok(connection) => within(self, connection.watch(uri)).await,
            Err(error) => Err(error),
        };
        if watched.is_err() {
            self.0.lasting().watched.remove(uri);
        }
        watched
    }

    async fn unwatch(&self, uri: &str) -> Result<(), ErrorAnswer> {
        let was_last = self.0.lasting().watched.remove(uri);
        match self.0.connected().filter(|_| was_last) {
            Some(connection) => within(self, connection.unwatch(uri)).await,
            None => Ok(()),
        }
    }

    async fn log_from(&self, level: &str) {
        *self.0.lasting().log_level.lock() = Some(level.to_owned());
        if let Some(connection) = self.0.connected() {
            connection.ask_for_logs(level).await;
        }
    }

    async fn skills(&self) -> Answer<Vec<SkillEntry>> {
        self.list_skills().await
    }

    async fn skill(&self, uri: &str) -> Answer<Option<SkillEntry>> {
        self.get_skill(uri).await
    }

    async fn folder(&self, uri: &str) -> Answer<Option<Vec<Value>>> {
        self.list_folder(uri).await
    }

    fn news(&self) -> broadcast::Receiver<ProviderNews> {
        self.0.lasting().news.subscribe()
    }
}
