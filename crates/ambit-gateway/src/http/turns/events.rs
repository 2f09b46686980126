//! What happens in a session, as server-sent events: those on record after a number, then those
//! that come. What this process writes is noticed at once, what others write within seconds.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use ambit_core::event::EventBody;
use ambit_runtime::journal::{Event, EventFilter, Journal, JournalError, JournalReader, SessionId};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Response, header};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::problem::Problem;
use super::reading::Parameters;
use super::sessions::TurnSession;
use crate::http::access::Visitor;
use crate::http::answer::Plain;
use crate::http::endpoint::Endpoint;

/// How many events are read at a time.
const BATCH: usize = 128;
/// How many may wait for a client that reads slowly.
const AHEAD: usize = 16;
/// Between two looks at least: a busy journal is not read once per commit.
const REST: Duration = Duration::from_millis(20);
/// When to look without being told: other processes may write, too.
const LOOK: Duration = Duration::from_secs(2);
/// So many looks without an event, and the client is told that there is none.
const QUIET: u32 = 7;

/// The number to begin after.
pub(super) fn after(parts: &Parts) -> Result<u64, Problem> {
    let parameters = Parameters::of(&parts.uri, &["after"])?;
    let header = parts.headers.get("last-event-id");
    let wanted = match header {
        Some(value) => Some(value.to_str().unwrap_or("?")),
        None => parameters.get("after"),
    };
    let Some(wanted) = wanted else {
        return Ok(0);
    };
    wanted.trim().parse().map_err(|_| {
        let message = "`Last-Event-ID` and `after` take the number of an event";
        Problem::bad("bad_event_id", message)
    })
}

/// Begins a stream.
pub(super) fn stream(
    endpoint: &Arc<Endpoint>,
    visitor: Visitor,
    session: &TurnSession,
    after: u64,
) -> Result<Plain, Problem> {
    let journal = session.market.journal().clone();
    let reader = journal.reader().map_err(Problem::journal)?;
    let (send, receive) = mpsc::channel(AHEAD);
    let feed = Feed {
        endpoint: Arc::clone(endpoint),
        visitor,
        agent: session.session.agent().to_owned(),
        session: session.session.id().clone(),
        after,
        send,
    };
    tokio::spawn(feed.run(journal, reader));
    let mut answer = Response::new(Pieces(receive).boxed());
    let headers = answer.headers_mut();
    let kind = HeaderValue::from_static("text/event-stream");
    headers.insert(header::CONTENT_TYPE, kind);
    let never = HeaderValue::from_static("no-store");
    headers.insert(header::CACHE_CONTROL, never);
    // Proxies that gather an answer before they pass it on are asked not to.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(answer)
}

/// Whether there is more to come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum More {
    /// At once: this was not all there is.
    Now,
    /// When something is written.
    Later,
    /// The session has ended, or nobody listens.
    Never,
}

struct Feed {
    endpoint: Arc<Endpoint>,
    visitor: Visitor,
    agent: String,
    session: SessionId,
    after: u64,
    send: mpsc::Sender<Bytes>,
}

impl Feed {
    async fn run(mut self, journal: Journal, mut reader: JournalReader) {
        let mut written = journal.written();
        if self.say("retry: 1000\n\n".to_owned()).await == More::Never {
            return;
        }
        let mut quiet = 0;
        while self.may_listen() {
            written.mark_unchanged();
            let filter = EventFilter {
                session: Some(self.session.clone()),
                after: Some(self.after),
                limit: Some(BATCH),
                ..EventFilter::default()
            };
            let read = tokio::task::spawn_blocking(move || (reader.events(&filter), reader));
            let Ok((events, given_back)) = read.await else {
                return;
            };
            reader = given_back;
            let looked = Instant::now();
            match self.tell(events, &mut quiet).await {
                More::Now => continue,
                More::Later => {}
                More::Never => return,
            }
            let stop = self.endpoint.stop.clone();
            tokio::select! {
                Ok(()) = written.changed() => sleep_until(looked + REST).await,
                () = sleep_until(looked + LOOK) => {}
                () = self.send.closed() => return,
                () = stop.cancelled() => return,
            }
        }
    }

    /// Whoever was let in may not be any more.
    fn may_listen(&self) -> bool {
        let door = self.endpoint.door.load();
        door.speaks_for(self.visitor, Some(&self.agent)).is_ok()
    }

    async fn tell(&mut self, events: Result<Vec<Event>, JournalError>, quiet: &mut u32) -> More {
        let events = match events {
            Ok(events) => events,
            Err(error) => {
                tracing::error!(%error, "a stream of events broke off");
                return More::Never;
            }
        };
        if events.is_empty() {
            *quiet += 1;
            if *quiet < QUIET {
                return More::Later;
            }
            *quiet = 0;
            return self.say(": nothing new\n\n".to_owned()).await;
        }
        *quiet = 0;
        let full = events.len() == BATCH;
        for event in events {
            self.after = event.seq;
            let is_last = matches!(event.body, EventBody::SessionEnded { .. });
            let told = self.say(text(&event)).await;
            if is_last || told == More::Never {
                return More::Never;
            }
        }
        match full {
            true => More::Now,
            false => More::Later,
        }
    }

    async fn say(&self, text: String) -> More {
        match self.send.send(Bytes::from(text)).await {
            Ok(()) => More::Later,
            Err(_) => More::Never,
        }
    }
}

fn text(event: &Event) -> String {
    // Nothing in an event has keys that are no text; one line, since JSON escapes line ends.
    let data = serde_json::to_string(event).unwrap_or_default();
    let kind = event.body.type_name();
    format!("id: {}\nevent: {kind}\ndata: {data}\n\n", event.seq)
}

/// What the task says, as a body.
struct Pieces(mpsc::Receiver<Bytes>);

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.0.poll_recv(context);
        piece.map(|it| it.map(|bytes| Ok(Frame::data(bytes))))
    }
}
