//! Calls of a child's tools, past the SDK. Its way there and back takes a message through three
//! tasks and compares an answer with every kind of answer there is, which costs more than all the
//! rest of a call. Here whoever calls writes the request itself, and reads the answer itself; in
//! between, the child's output is looked at once.

use std::collections::HashMap;
use std::sync::Arc;

use ambit_runtime::lines::{LineWriter, Sent};
use bytes::Bytes;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::oneshot;

/// The SDK counts its own requests from zero on the same connection, and 32 bits hold both.
const NUMBERS: std::ops::Range<u64> = 1_000_000_000..2_000_000_000;

/// The calls under way on one connection.
pub(crate) struct Calls {
    to: LineWriter,
    state: Mutex<State>,
}

struct State {
    next: u64,
    waiting: HashMap<u64, oneshot::Sender<Answer>>,
    closed: bool,
}

/// What a request was answered with, unread.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Result(Bytes),
    Error(Bytes),
}

/// A request on its way. Dropping it before the answer tells the server so.
pub(crate) struct Pending {
    calls: Arc<Calls>,
    /// What it is called on the wire.
    pub(crate) number: u64,
    answer: oneshot::Receiver<Answer>,
}

/// The connection is gone.
#[derive(Debug)]
pub(crate) struct Gone;

impl Calls {
    pub(crate) fn new(to: LineWriter) -> Arc<Self> {
        Arc::new(Calls {
            to,
            state: Mutex::new(State {
                next: NUMBERS.start,
                waiting: HashMap::new(),
                closed: false,
            }),
        })
    }

    /// Makes room for an answer.
    pub(crate) fn begin(self: &Arc<Self>) -> Result<Pending, Gone> {
        let (told, answer) = oneshot::channel();
        let mut state = self.state.lock();
        if state.closed {
            return Err(Gone);
        }
        let number = state.next;
        let next = number + 1;
        state.next = match NUMBERS.contains(&next) {
            true => next,
            false => NUMBERS.start,
        };
        state.waiting.insert(number, told);
        Ok(Pending {
            calls: Arc::clone(self),
            number,
            answer,
        })
    }

    /// Hands a line to whoever waits for it. Whether it was for one of these calls, even for one
    /// nobody waits for any more.
    pub(crate) fn take(&self, line: &Bytes) -> Taken {
        let Ok(head) = serde_json::from_slice::<Head<'_>>(line) else {
            return Taken::Other;
        };
        let Some(number) = head.number().filter(|it| NUMBERS.contains(it)) else {
            return Taken::Other;
        };
        let answer = match (head.method, head.result, head.error) {
            (None, Some(result), None) => Answer::Result(line.slice_ref(result.get().as_bytes())),
            (None, None, Some(error)) => Answer::Error(line.slice_ref(error.get().as_bytes())),
            _ => return Taken::Other,
        };
        let Some(waiting) = self.state.lock().waiting.remove(&number) else {
            return Taken::TooLate;
        };
        let _ = waiting.send(answer);
        Taken::Answer
    }

    /// Nothing comes any more.
    pub(crate) fn end(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.waiting.clear();
    }
}

/// What a line of the server was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The answer to a call.
    Answer,
    /// An answer nobody waits for.
    TooLate,
    /// Something else.
    Other,
}

/// As much of a message as tells whose it is.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<serde::de::IgnoredAny>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Head<'_> {
    /// Some servers write numbers as text.
    fn number(&self) -> Option<u64> {
        self.id?.get().trim_matches('"').parse().ok()
    }
}

#[derive(Serialize)]
struct Request<'a, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'static str,
    params: &'a P,
}

impl Pending {
    /// Sends the request. It may have to wait for its turn, but it will go out.
    pub(crate) fn send(&self, method: &'static str, params: &impl Serialize) -> Result<(), Gone> {
        let request = Request {
            jsonrpc: "2.0",
            id: self.number,
            method,
            params,
        };
        let mut line = Vec::with_capacity(512);
        // Of what comes from JSON.
        serde_json::to_writer(&mut line, &request).map_err(|_| Gone)?;
        line.push(b'\n');
        match self.calls.to.send(&line) {
            Sent::Refused => Err(Gone),
            Sent::Written | Sent::Waits(_) => Ok(()),
        }
    }

    /// Waits for the answer.
    pub(crate) async fn answer(&mut self) -> Result<Answer, Gone> {
        (&mut self.answer).await.map_err(|_| Gone)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let unanswered = self.calls.state.lock().waiting.remove(&self.number);
        if unanswered.is_some() && tokio::runtime::Handle::try_current().is_ok() {
            // Now, so that it goes out before whatever is called next.
            let cancelled = format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{}}}}}\n",
                self.number
            );
            self.calls.to.send(cancelled.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_finds_its_call_and_nothing_else_does() {
        let calls = Calls::new(LineWriter::to(tokio::io::sink()));
        let check = |line: &str, expected| {
            let line = Bytes::from(line.to_owned());
            assert_eq!(calls.take(&line), expected, "{line:?}");
        };
        let mut first = calls.begin().unwrap();
        let mut second = calls.begin().unwrap();
        let (one, two) = (first.number, second.number);
        for other in [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(),
            format!(r#"{{"jsonrpc":"2.0","id":{one},"method":"ping"}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{one}}}"#),
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#.to_owned(),
            "what?".to_owned(),
        ] {
            check(&other, Taken::Other);
        }
        check(
            &format!(r#"{{"result":{{"content":[]}},"id":"{two}"}}"#),
            Taken::Answer,
        );
        check(
            &format!(r#"{{"id":{one},"error":{{"code":1}}}}"#),
            Taken::Answer,
        );
        check(&format!(r#"{{"id":{one},"result":1}}"#), Taken::TooLate);
        let error = Answer::Error(Bytes::from_static(br#"{"code":1}"#));
        assert_eq!(first.answer().await.unwrap(), error);
        let result = Answer::Result(Bytes::from_static(br#"{"content":[]}"#));
        assert_eq!(second.answer().await.unwrap(), result);
        let mut third = calls.begin().unwrap();
        calls.end();
        assert!(third.answer().await.is_err() && calls.begin().is_err());
    }
}
