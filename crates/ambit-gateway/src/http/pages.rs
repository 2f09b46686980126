//! Pages for whoever runs this server: is it alive, can it serve, what has it counted.

use http::{HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt, Full};

use super::access::Page;
use super::answer::{Plain, plain};
use super::endpoint::Endpoint;
use super::metrics::{Now, render};
use super::turns::openapi;

impl Endpoint {
    /// Answers with a page for whoever runs this server.
    pub(super) async fn page(&self, page: Page, method: &Method) -> Plain {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "this can only be read");
        }
        match page {
            Page::Healthz => plain(StatusCode::OK, "ok"),
            Page::Readyz if self.draining.is_cancelled() => {
                plain(StatusCode::SERVICE_UNAVAILABLE, "stopping")
            }
            Page::Readyz => match self.generation.load().market().journal().flush().await {
                Ok(()) => plain(StatusCode::OK, "ok"),
                Err(error) => {
                    tracing::error!(%error, "the journal cannot be written");
                    plain(
                        StatusCode::SERVICE_UNAVAILABLE,
                        "the journal cannot be written",
                    )
                }
            },
            Page::OpenApi => {
                let mut answer = plain(StatusCode::OK, "");
                *answer.body_mut() = Full::from(openapi().to_string()).boxed();
                let json = HeaderValue::from_static("application/json");
                answer.headers_mut().insert(header::CONTENT_TYPE, json);
                answer
            }
            Page::Metrics => {
                let generation = self.generation.load();
                let now = Now {
                    connections: self.connections.count(),
                    sessions: self.sessions.count(),
                    turn_sessions: self.turn_sessions.count(),
                    running: self.running.count(),
                    generation: generation.number(),
                    upstreams: generation.upstreams(),
                };
                let mut answer = plain(StatusCode::OK, "");
                *answer.body_mut() =
                    Full::from(render(&self.calls_ended, &self.requests, &now)).boxed();
                answer
            }
        }
    }
}
