//! The SDK's HTTP client with a login: the token goes along with each request to the server, and
//! a server that refuses it is asked once more with another one.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::keeper::Keeper;

type Failed = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// A client of one server, with its login if it may have one.
#[derive(Clone)]
pub(crate) struct Authorized {
    http: reqwest::Client,
    keeper: Option<Arc<Keeper>>,
}

impl Authorized {
    pub(crate) fn new(http: reqwest::Client, keeper: Option<Arc<Keeper>>) -> Self {
        Authorized { http, keeper }
    }

    async fn send<T, Sent>(&self, send: impl Fn(Option<String>) -> Sent) -> Result<T, Failed>
    where
        Sent: Future<Output = Result<T, Failed>>,
    {
        let Some(keeper) = &self.keeper else {
            return send(None).await.map_err(challenged);
        };
        let token = keeper.token().await.map_err(not_renewed)?;
        let refused = match send(token.clone()).await.map_err(challenged) {
            Err(Failed::AuthRequired(refused)) => refused,
            other => return other,
        };
        let another = keeper
            .another(token.as_deref())
            .await
            .map_err(not_renewed)?;
        let Some(another) = another else {
            return Err(Failed::AuthRequired(refused));
        };
        let again = send(Some(another.clone())).await.map_err(challenged);
        if let Err(Failed::AuthRequired(_)) = again {
            keeper.give_up(another);
        }
        again
    }
}

fn not_renewed(reason: String) -> Failed {
    Failed::Auth(AuthError::TokenRefreshFailed(reason))
}

/// Some servers refuse without saying how to log in.
fn challenged(error: Failed) -> Failed {
    match error {
        Failed::UnexpectedServerResponse(said) if said.starts_with("HTTP 401") => {
            Failed::AuthRequired(AuthRequiredError::new(String::new()))
        }
        error => error,
    }
}

impl StreamableHttpClient for Authorized {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        self.send(|token| {
            let (uri, message) = (Arc::clone(&uri), message.clone());
            let (session, headers) = (session.clone(), headers.clone());
            self.http
                .post_message(uri, message, session, token, headers)
        })
        .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
        largest: usize,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        self.send(|token| {
            let (uri, message) = (Arc::clone(&uri), message.clone());
            let (session, headers) = (session.clone(), headers.clone());
            self.http.post_message_with_max_sse_event_size(
                uri, message, session, token, headers, largest,
            )
        })
        .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<(), Failed> {
        self.send(|token| {
            let (uri, session) = (Arc::clone(&uri), Arc::clone(&session));
            self.http
                .delete_session(uri, session, token, headers.clone())
        })
        .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        self.send(|token| {
            let (uri, session) = (Arc::clone(&uri), session.clone());
            let (last, headers) = (last.clone(), headers.clone());
            self.http.get_stream(uri, session, last, token, headers)
        })
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        _: Option<String>,
        headers: Headers,
        largest: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        self.send(|token| {
            let (uri, session) = (Arc::clone(&uri), session.clone());
            let (last, headers) = (last.clone(), headers.clone());
            self.http
                .get_stream_with_max_sse_event_size(uri, session, last, token, headers, largest)
        })
        .await
    }
}
