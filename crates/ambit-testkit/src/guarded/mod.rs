//! A remote MCP server that wants a login, and the authorization server it names, both on one
//! port of this machine. They keep to the specification, unless told to behave otherwise.

mod issuer;
mod resource;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::channel;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderMap;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::net::TcpListener;

/// How the two behave.
#[derive(Clone, Debug)]
pub struct Manners {
    /// For how many seconds a token is good.
    pub token_seconds: u64,
    /// Whether tokens can be renewed.
    pub renews: bool,
    /// Whether clients may register themselves.
    pub registers: bool,
    /// Whether those who do are given a secret.
    pub gives_secret: bool,
    /// Whether clients may be known by a document.
    pub reads_documents: bool,
    /// The issuer its metadata name, instead of the real one.
    pub issuer: Option<String>,
    /// The issuer a person is sent back with, instead of the real one.
    pub callback_issuer: Option<String>,
    /// The resource the server's metadata name, instead of the real one.
    pub resource: Option<String>,
    /// What tokens are issued for, whatever was asked for.
    pub audience: Option<String>,
    /// The authorization server the server's metadata name, instead of the real one.
    pub authorization_server: Option<String>,
    /// Where tokens are issued, instead of where they are.
    pub token_endpoint: Option<String>,
    /// Where a request for this path is sent on to.
    pub redirects: BTreeMap<String, String>,
    /// The scopes a login needs to be let in at all.
    pub scopes: String,
}

impl Default for Manners {
    fn default() -> Self {
        Manners {
            token_seconds: 3600,
            renews: true,
            registers: true,
            gives_secret: false,
            reads_documents: false,
            issuer: None,
            callback_issuer: None,
            resource: None,
            audience: None,
            authorization_server: None,
            token_endpoint: None,
            redirects: BTreeMap::new(),
            scopes: "tools".to_owned(),
        }
    }
}

/// What happened so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Clients that registered.
    pub registered: usize,
    /// Codes traded for tokens.
    pub traded: usize,
    /// Tokens renewed.
    pub renewed: usize,
    /// Tools called by somebody who was let in.
    pub called: usize,
    /// Requests turned away.
    pub refused: usize,
}

/// A token that was issued.
#[derive(Clone)]
struct Token {
    audience: String,
    scopes: BTreeSet<String>,
}

/// A login a person agreed to.
struct Agreed {
    client: String,
    challenge: String,
    redirect: String,
    resource: String,
    scopes: BTreeSet<String>,
}

#[derive(Default)]
struct State {
    manners: Manners,
    counts: Counts,
    serial: usize,
    /// Clients, with their secrets.
    clients: BTreeMap<String, Option<String>>,
    codes: BTreeMap<String, Agreed>,
    access: BTreeMap<String, Token>,
    refresh: BTreeMap<String, (String, Token)>,
    /// Every secret ever given out.
    secrets: Vec<String>,
}

/// Both servers, until the test ends.
#[derive(Clone)]
pub struct Guarded {
    /// Where the MCP server is.
    pub url: String,
    /// Who issues its tokens.
    pub issuer: String,
    state: Arc<Mutex<State>>,
}

struct Asked {
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

type Answer = Response<Full<Bytes>>;

impl Guarded {
    /// Starts them, in a thread of their own.
    pub fn start(manners: Manners) -> Guarded {
        let (send, address) = channel();
        let state = Arc::new(Mutex::new(State {
            manners,
            ..State::default()
        }));
        let served = Arc::clone(&state);
        std::thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let base = format!("http://{}", listener.local_addr().unwrap());
                let this = Guarded {
                    url: format!("{base}/mcp"),
                    issuer: base,
                    state: served,
                };
                send.send(this.clone()).unwrap();
                this.serve(listener).await;
            });
        });
        address.recv().unwrap()
    }

    async fn serve(self, listener: TcpListener) {
        while let Ok((stream, _)) = listener.accept().await {
            let this = self.clone();
            tokio::spawn(async move {
                let service = service_fn(|request: Request<Incoming>| this.clone().answer(request));
                let http = hyper::server::conn::http1::Builder::new();
                http.serve_connection(TokioIo::new(stream), service)
                    .await
                    .ok();
            });
        }
    }

    async fn answer(self, request: Request<Incoming>) -> Result<Answer, Infallible> {
        let (head, body) = request.into_parts();
        let asked = Asked {
            path: head.uri.path().to_owned(),
            headers: head.headers,
            body: body
                .collect()
                .await
                .map(|it| it.to_bytes())
                .unwrap_or_default(),
        };
        let redirect = self
            .state
            .lock()
            .manners
            .redirects
            .get(&asked.path)
            .cloned();
        Ok(match (redirect, asked.path.as_str()) {
            (Some(to), _) => {
                let answer = Response::builder().status(307).header("location", to);
                answer.body(Full::default()).unwrap()
            }
            (None, "/mcp") => self.mcp(&head.method, &asked),
            (None, "/.well-known/oauth-protected-resource/mcp") => self.resource_metadata(),
            (None, _) => self.issue(&asked),
        })
    }

    /// Changes how they behave.
    pub fn behave(&self, change: impl FnOnce(&mut Manners)) {
        change(&mut self.state.lock().manners);
    }

    /// What happened so far.
    pub fn counts(&self) -> Counts {
        self.state.lock().counts.clone()
    }

    /// Every token and secret that was ever given out.
    pub fn secrets(&self) -> Vec<String> {
        self.state.lock().secrets.clone()
    }

    /// Tokens that were issued so far let nobody in any more; they can be renewed.
    pub fn expire(&self) {
        self.state.lock().access.clear();
    }

    /// Nor can they be renewed.
    pub fn revoke(&self) {
        let mut state = self.state.lock();
        state.access.clear();
        state.refresh.clear();
    }
}

fn json(status: u16, body: serde_json::Value) -> Answer {
    let answer = Response::builder().status(status);
    let answer = answer.header("content-type", "application/json");
    answer.body(Full::from(body.to_string())).unwrap()
}
