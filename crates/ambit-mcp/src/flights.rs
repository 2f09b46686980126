//! Which calls are under way on a connection, and what the server says that belongs to one of
//! them. Notices are caught where messages come in, in order: handed to tasks of their own, the
//! last of them would come after the result.

#![expect(
    deprecated,
    reason = "log lines are of the session era, which is spoken here"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_runtime::conversation::{Conversation, Notice};
use parking_lot::Mutex;
use rmcp::model::{
    GetExtensions as _, GetMeta as _, JsonRpcMessage, ProgressToken, RequestId, ServerNotification,
};
use rmcp::service::{InboundStreamOrigin, RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc;

/// How many notices may wait for a call's own task. More are dropped: progress is not worth memory.
const NOTICES: usize = 256;

/// All calls under way on one connection.
#[derive(Clone, Default)]
pub(crate) struct Flights(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    next: u64,
    calls: BTreeMap<u64, Entry>,
}

struct Entry {
    conversation: Conversation,
    notices: mpsc::Sender<Notice>,
    request: Option<RequestId>,
    token: Option<ProgressToken>,
    /// How many questions about it wait for an answer.
    asking: usize,
}

/// A question that waits for its answer.
pub(crate) struct Asking {
    flights: Flights,
    number: u64,
    /// Who is to answer it.
    pub(crate) conversation: Conversation,
}

/// Travels with an outgoing request, inside this process only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket(u64);

/// One call under way.
pub(crate) struct Flight {
    flights: Flights,
    number: u64,
    /// What the server says about it.
    pub(crate) notices: mpsc::Receiver<Notice>,
}

/// Why a question of the server reaches nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NobodyAskedReason {
    /// No call is under way.
    NoCall,
    /// Calls of several callers are, and the question does not say which it belongs to.
    SeveralCallers,
}

impl Flights {
    /// A call begins.
    pub(crate) fn begin(&self, conversation: Conversation) -> Flight {
        let (notices, heard) = mpsc::channel(NOTICES);
        let mut state = self.0.lock();
        state.next += 1;
        let number = state.next;
        state.calls.insert(
            number,
            Entry {
                conversation,
                notices,
                request: None,
                token: None,
                asking: 0,
            },
        );
        Flight {
            flights: self.clone(),
            number,
            notices: heard,
        }
    }

    /// Whose call a question belongs to. The transport may know; otherwise it can only be told
    /// while all calls are of one caller, and of these it is most likely the newest that does not
    /// wait for an answer already. Nobody is asked about somebody else's call.
    pub(crate) fn asked_by(
        &self,
        origin: Option<&InboundStreamOrigin>,
    ) -> Result<Asking, NobodyAskedReason> {
        let mut state = self.0.lock();
        let told = match origin {
            Some(InboundStreamOrigin::OutboundRequest(id)) => state
                .calls
                .iter()
                .find(|(_, it)| it.request.as_ref() == Some(id)),
            _ => None,
        };
        let number = match told {
            Some((number, _)) => *number,
            None => state.likeliest()?,
        };
        let entry = state.calls.get_mut(&number);
        let entry = entry.ok_or(NobodyAskedReason::NoCall)?;
        entry.asking += 1;
        Ok(Asking {
            flights: self.clone(),
            number,
            conversation: entry.conversation.clone(),
        })
    }

    /// What its request is called on the wire.
    pub(crate) fn sent(&self, ticket: Ticket, id: &RequestId, token: Option<ProgressToken>) {
        if let Some(entry) = self.0.lock().calls.get_mut(&ticket.0) {
            entry.request = Some(id.clone());
            entry.token = token;
        }
    }

    fn heard(&self, notification: &ServerNotification) {
        let (token, notice) = match notification {
            ServerNotification::ProgressNotification(it) => (
                Some(&it.params.progress_token),
                Notice::Progress {
                    progress: it.params.progress,
                    total: it.params.total,
                    message: it.params.message.clone(),
                },
            ),
            ServerNotification::LoggingMessageNotification(it) => {
                let level = serde_json::to_value(it.params.level).unwrap_or_default();
                (
                    None,
                    Notice::Log {
                        level: level.as_str().unwrap_or("info").to_owned(),
                        logger: it.params.logger.clone(),
                        data: it.params.data.clone(),
                    },
                )
            }
            _ => return,
        };
        let state = self.0.lock();
        // A log line does not say whose it is.
        let meant = state
            .calls
            .values()
            .filter(|it| token.is_none() || it.token.as_ref() == token);
        for entry in meant {
            let _ = entry.notices.try_send(notice.clone());
        }
    }
}

impl State {
    fn likeliest(&self) -> Result<u64, NobodyAskedReason> {
        let mut callers = self
            .calls
            .values()
            .map(|it| it.conversation.caller().name());
        let first = callers.next().ok_or(NobodyAskedReason::NoCall)?;
        if callers.any(|it| it != first) {
            return Err(NobodyAskedReason::SeveralCallers);
        }
        let newest = self.calls.iter().rev();
        let likeliest = newest.min_by_key(|(_, it)| it.asking > 0);
        likeliest
            .map(|(number, _)| *number)
            .ok_or(NobodyAskedReason::NoCall)
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if let Some(entry) = self.flights.0.lock().calls.get_mut(&self.number) {
            entry.asking = entry.asking.saturating_sub(1);
        }
    }
}

impl Flight {
    /// What its request carries.
    pub(crate) fn ticket(&self) -> Ticket {
        Ticket(self.number)
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.flights.0.lock().calls.remove(&self.number);
    }
}

/// A transport whose traffic is looked at in passing.
pub(crate) struct Watched<T> {
    pub(crate) inner: T,
    pub(crate) flights: Flights,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Watched<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(it) = &message
            && let Some(ticket) = it.request.extensions().get::<Ticket>()
        {
            let token = it.request.get_meta().get_progress_token();
            self.flights.sent(*ticket, &it.id, token);
        }
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.inner.receive().await;
        if let Some(JsonRpcMessage::Notification(it)) = &message {
            self.flights.heard(&it.notification);
        }
        message
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use ambit_runtime::conversation::{Answers, Caller, Questions, Unanswered};
    use async_trait::async_trait;
    use serde_json::{Map, Value};

    use super::*;

    #[derive(Debug)]
    struct Named(&'static str);

    #[async_trait]
    impl Caller for Named {
        fn abilities(&self) -> Map<String, Value> {
            Map::new()
        }

        async fn ask(&self, _: Questions) -> Result<Answers, Unanswered> {
            Ok(Answers::new())
        }

        async fn tell(&self, _: Notice) {}

        fn name(&self) -> &str {
            self.0
        }
    }

    #[test]
    fn a_question_is_of_the_newest_call_that_waits_for_no_answer() {
        let flights = Flights::default();
        let begin = |name| flights.begin(Conversation::with(Arc::new(Named(name))));
        let asked = || flights.asked_by(None).map(|it| it.number);
        assert_eq!(asked().err(), Some(NobodyAskedReason::NoCall));
        let first = begin("a");
        let second = begin("a");
        let newest = flights.asked_by(None).map_err(|_| ()).unwrap();
        assert_eq!(newest.number, second.number);
        assert_eq!(asked(), Ok(first.number), "the other waits");
        drop(newest);
        assert_eq!(asked(), Ok(second.number));
        let other = begin("b");
        assert_eq!(asked().err(), Some(NobodyAskedReason::SeveralCallers));
        drop(other);
        assert_eq!(asked(), Ok(second.number));
    }
}
