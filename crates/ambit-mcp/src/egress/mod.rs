//! The one way out over HTTP. Everything Ambit fetches goes through a [`Dialer`]: an MCP server,
//! what is published about it, and the tokens for it.
//!
//! A server a person configured may be anywhere. What that server names may be on the internet,
//! or where the server itself is, and nowhere else. A name is looked up once and the address that
//! was judged is the one dialled; each step of a redirect is judged again. Proxies
//! (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`) are used as everywhere; behind one,
//! names are the proxy's to look up, and only bare addresses can be judged here.

mod address;
mod names;

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Request, RequestBuilder, Response, StatusCode, Url};
use thiserror::Error;

use names::Names;

/// How long anything but an MCP request may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// Largest document fetched.
const LARGEST: usize = 1 << 20;
/// Longest chain of redirects followed.
const REDIRECTS: usize = 10;

/// Something that was not fetched.
#[derive(Debug, Error)]
pub(crate) enum EgressError {
    /// The server named an address it has no business with.
    #[error("`{host}` is a {reach} address, and the server that names it is not there itself")]
    Refused {
        /// What it named.
        host: String,
        /// Where that leads.
        reach: &'static str,
    },
    /// More than anybody publishes.
    #[error("the answer is larger than {LARGEST} bytes")]
    TooLarge,
    /// The request failed.
    #[error(transparent)]
    Http(#[from] reqwest::Error),
}

/// A document that was fetched.
pub(crate) struct Fetched {
    pub(crate) head: Response,
    pub(crate) body: Vec<u8>,
}

/// The way out on behalf of one configured server.
pub(crate) struct Dialer {
    names: Names,
    /// Made when first needed: reading the system's certificates takes a moment.
    documents: OnceLock<Client>,
}

impl Dialer {
    /// On behalf of the server at this address.
    pub(crate) fn of(server: &Url) -> Dialer {
        Dialer {
            names: Names::from(server),
            documents: OnceLock::new(),
        }
    }

    /// A client for MCP itself. It follows a redirect only within the server, and only where the
    /// message would arrive whole: anywhere else it would carry the server's headers along.
    pub(crate) fn to_server(&self) -> Result<Client, EgressError> {
        let client = Client::builder()
            .dns_resolver(self.names.clone())
            .redirect(Policy::custom(within_the_server))
            // A connection whose last answer was not read to its end stalls the next request.
            .pool_max_idle_per_host(0)
            .build()?;
        Ok(client)
    }

    /// Judges a place before anybody is sent there, as far as it can be told from its address.
    pub(crate) async fn judge(&self, url: &Url) -> Result<(), EgressError> {
        self.names.judge_literal(url).await
    }

    /// Begins a request for [`fetch`](Self::fetch).
    pub(crate) fn post(&self, url: Url) -> Result<RequestBuilder, EgressError> {
        Ok(self.documents()?.post(url))
    }

    /// Fetches one document. Redirects are not followed: whoever asks judges where they lead.
    pub(crate) async fn fetch(&self, request: Request) -> Result<Fetched, EgressError> {
        self.judge(request.url()).await?;
        let mut head = self.documents()?.execute(request).await?;
        let mut body = Vec::new();
        while let Some(chunk) = head.chunk().await? {
            if body.len() + chunk.len() > LARGEST {
                return Err(EgressError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Fetched { head, body })
    }

    fn documents(&self) -> Result<&Client, EgressError> {
        if let Some(client) = self.documents.get() {
            return Ok(client);
        }
        let made = Client::builder()
            .dns_resolver(self.names.clone())
            .redirect(Policy::none())
            .timeout(PATIENCE)
            .build()?;
        Ok(self.documents.get_or_init(|| made))
    }
}

fn within_the_server(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let whole = [
        StatusCode::TEMPORARY_REDIRECT,
        StatusCode::PERMANENT_REDIRECT,
    ];
    let first = attempt.previous().first();
    let same = first.is_some_and(|it| it.origin() == attempt.url().origin());
    if !same || !whole.contains(&attempt.status()) || attempt.previous().len() > REDIRECTS {
        attempt.stop()
    } else {
        attempt.follow()
    }
}
