//! What a call tells its client while it runs, where that does not go through the SDK: each notice
//! is a message on the very answer the call will end with.

use serde::Serialize;
use tokio::sync::mpsc;

/// The way to one request's answer. Travels with the request, inside this process only.
#[derive(Clone, Debug)]
pub(crate) struct Aside(mpsc::UnboundedSender<Vec<u8>>);

/// What is told that way, as it is told.
pub(crate) type Told = mpsc::UnboundedReceiver<Vec<u8>>;

#[derive(Serialize)]
struct Notification<'a, P> {
    jsonrpc: &'static str,
    method: &'static str,
    params: &'a P,
}

impl Aside {
    pub(crate) fn new() -> (Self, Told) {
        let (told, heard) = mpsc::unbounded_channel();
        (Aside(told), heard)
    }

    /// Tells the client. Nobody listening is fine.
    pub(crate) fn tell(&self, method: &'static str, params: &impl Serialize) {
        let jsonrpc = "2.0";
        let message = Notification {
            jsonrpc,
            method,
            params,
        };
        if let Ok(message) = serde_json::to_vec(&message) {
            let _ = self.0.send(message);
        }
    }
}
