//! A stand-in for a model's API, on a port of this machine. It plays the turns of a script in
//! either wire format, by the path it is asked at, so that one script drives both engines; it
//! cuts what it says into awkward pieces, and fails when it is told to. A request that the real
//! API would refuse, it refuses.

mod anthropic;
mod openai;
mod rules;
mod script;
mod wire;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::channel;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

use script::{PlayedTurn, played};
use wire::{Asked, Reply, Then};

/// How the bytes of a stream are cut into pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// An event at a time.
    #[default]
    Events,
    /// A byte at a time, through the middle of characters.
    Bytes,
    /// Everything at once.
    Whole,
    /// An event at a time, with lines that end as on another system.
    Crlf,
}

/// Something that goes wrong with one request, whose turn is then still to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// It is answered with this status, these headers and this body.
    Status(u16, Vec<(String, String)>, String),
    /// The connection ends in the middle of the stream.
    Disconnect,
    /// The stream ends in the middle, as if that were its end.
    Truncate,
    /// In the middle of the stream comes an error of this kind.
    ErrorEvent(String),
    /// In the middle of the stream nothing more comes.
    Hang,
    /// The stream has these bytes and nothing else.
    Raw(String),
}

impl Mishap {
    /// A status with an error in the body.
    pub fn status(status: u16, kind: &str, message: &str) -> Mishap {
        let body = json!({"type": "error", "error": {"type": kind, "message": message}});
        Mishap::Status(status, Vec::new(), body.to_string())
    }

    /// A status and `Retry-After`.
    pub fn busy(status: u16, retry_after: &str) -> Mishap {
        let headers = vec![("retry-after".to_owned(), retry_after.to_owned())];
        Mishap::Status(status, headers, String::new())
    }
}

#[derive(Default)]
struct State {
    turns: VecDeque<PlayedTurn>,
    mishaps: VecDeque<Mishap>,
    cut: Cut,
    played: usize,
    connections: usize,
    /// What it was asked, in order.
    requests: Vec<Value>,
    /// The lines before each of them.
    heads: Vec<String>,
    /// Signatures of thoughts it wants back.
    signatures: Vec<String>,
}

/// The stand-in, until the test ends.
#[derive(Clone)]
pub struct ModelEndpoint {
    /// Where it is.
    pub url: String,
    state: Arc<Mutex<State>>,
}

impl ModelEndpoint {
    /// Plays the turns of a script, in a thread of its own.
    pub fn start(script: &Value) -> ModelEndpoint {
        let state = State::playing(script);
        let (send, address) = channel();
        std::thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().unwrap();
            runtime.block_on(async {
                let (this, listener) = ModelEndpoint::bind(state).await;
                send.send(this.clone()).unwrap();
                this.serve(listener).await;
            });
        });
        address.recv().unwrap()
    }

    /// Plays them in the runtime of the test, whose clock may stand still.
    pub async fn start_here(script: &Value) -> ModelEndpoint {
        let (this, listener) = ModelEndpoint::bind(State::playing(script)).await;
        tokio::spawn(this.clone().serve(listener));
        this
    }

    async fn bind(state: State) -> (ModelEndpoint, TcpListener) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let this = ModelEndpoint {
            url: format!("http://{}", listener.local_addr().unwrap()),
            state: Arc::new(Mutex::new(state)),
        };
        (this, listener)
    }

    /// Where chat completions are, as a base url.
    pub fn openai(&self) -> String {
        format!("{}/v1", self.url)
    }

    /// Where messages are, as a base url.
    pub fn anthropic(&self) -> String {
        self.url.clone()
    }

    /// What goes wrong with the next requests, one each.
    pub fn fails(&self, mishaps: impl IntoIterator<Item = Mishap>) {
        self.state.lock().mishaps.extend(mishaps);
    }

    /// How streams are cut from now on.
    pub fn cuts(&self, cut: Cut) {
        self.state.lock().cut = cut;
    }

    /// What it was asked so far.
    pub fn requests(&self) -> Vec<Value> {
        self.state.lock().requests.clone()
    }

    /// The request line and headers of each.
    pub fn heads(&self) -> Vec<String> {
        self.state.lock().heads.clone()
    }

    /// How often somebody connected.
    pub fn connections(&self) -> usize {
        self.state.lock().connections
    }

    /// How many turns have not been played.
    pub fn remaining(&self) -> usize {
        self.state.lock().turns.len()
    }

    async fn serve(self, listener: TcpListener) {
        while let Ok((stream, _)) = listener.accept().await {
            let this = self.clone();
            tokio::spawn(async move { this.answer(stream).await });
        }
    }

    /// A client that goes away in mid-sentence is the test's business.
    async fn answer(self, mut stream: TcpStream) {
        self.state.lock().connections += 1;
        while let Ok(Some(asked)) = wire::read(&mut stream).await {
            let (reply, cut) = self.state.lock().reply(asked);
            if !matches!(wire::write(&mut stream, reply, cut).await, Ok(Then::Next)) {
                return;
            }
        }
    }
}

impl State {
    fn playing(script: &Value) -> State {
        State {
            turns: played(script),
            ..State::default()
        }
    }

    fn reply(&mut self, asked: Asked) -> (Reply, Cut) {
        let Asked { path, head, body } = asked;
        self.heads.push(head);
        self.requests.push(body.clone());
        let before = self.requests.len().checked_sub(2);
        let before = before.and_then(|it| self.requests.get(it).cloned());
        let cut = self.cut;
        let mishap = self.mishaps.pop_front();
        if let Some(Mishap::Status(status, headers, body)) = mishap {
            return (Reply::whole(status, headers, body), cut);
        }
        let checked = match path.as_str() {
            "/v1/chat/completions" => rules::completions(&body),
            "/v1/messages" => rules::messages(&body, &self.signatures),
            _ => Err("there is nothing at this path".to_owned()),
        };
        if let Err(message) = checked {
            let error = json!({"type": "invalid_request_error", "message": message});
            let body = json!({"type": "error", "error": error});
            return (Reply::whole(400, Vec::new(), body.to_string()), cut);
        }
        let turn = match (&mishap, self.turns.front()) {
            (None, _) => self.turns.pop_front(),
            (Some(_), turn) => turn.cloned(),
        };
        let Some(turn) = turn else {
            let body = json!({"error": {"type": "script", "message": "the script is over"}});
            return (Reply::whole(400, Vec::new(), body.to_string()), cut);
        };
        let turn = turn.filled(&body);
        self.played += 1;
        let usage = rules::usage(&body, before.as_ref(), &turn);
        let events = match path.as_str() {
            "/v1/messages" => {
                let (events, signature) = anthropic::events(&turn, self.played, &usage);
                if mishap.is_none() {
                    self.signatures.extend(signature);
                }
                events
            }
            _ => openai::events(&turn, self.played, &usage),
        };
        (Reply::streamed(events, mishap), cut)
    }
}
