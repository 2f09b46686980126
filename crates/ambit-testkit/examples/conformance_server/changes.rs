//! Lists that change when a test says so, and everybody who wants to hear of it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::RoleServer;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::broadcast;

/// Which list changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Changed {
    Tools,
    Prompts,
}

/// The parts of the lists that come and go.
pub(crate) struct Changes {
    tool: AtomicBool,
    prompt: AtomicBool,
    /// Open `subscriptions/listen` streams.
    streams: broadcast::Sender<Changed>,
    /// Clients with a session, who are told without having asked.
    sessions: Mutex<Vec<Peer<RoleServer>>>,
}

impl Default for Changes {
    fn default() -> Self {
        Changes {
            tool: AtomicBool::new(false),
            prompt: AtomicBool::new(false),
            streams: broadcast::channel(16).0,
            sessions: Mutex::default(),
        }
    }
}

impl Changes {
    /// Whether the tool that comes and goes is there.
    pub(crate) fn has_tool(&self) -> bool {
        self.tool.load(Ordering::SeqCst)
    }

    /// Whether the prompt that comes and goes is there.
    pub(crate) fn has_prompt(&self) -> bool {
        self.prompt.load(Ordering::SeqCst)
    }

    /// Changes a list and tells everybody.
    pub(crate) async fn change(&self, what: Changed) {
        let flag = match what {
            Changed::Tools => &self.tool,
            Changed::Prompts => &self.prompt,
        };
        flag.fetch_xor(true, Ordering::SeqCst);
        // Nobody listening is no failure.
        self.streams.send(what).ok();
        let sessions = self.sessions.lock().expect("no panic while held").clone();
        for peer in sessions {
            // Nor is a client that has gone.
            match what {
                Changed::Tools => peer.notify_tool_list_changed().await.ok(),
                Changed::Prompts => peer.notify_prompt_list_changed().await.ok(),
            };
        }
    }

    /// Tells this client of every change from now on.
    pub(crate) fn tell_also(&self, peer: Peer<RoleServer>) {
        let mut sessions = self.sessions.lock().expect("no panic while held");
        sessions.retain(|it| !it.is_transport_closed());
        sessions.push(peer);
    }

    /// Tells a stream of every change, until it ends. The stream knows what it was opened for.
    pub(crate) async fn tell(&self, stream: &SubscriptionContext) {
        let mut changes = self.streams.subscribe();
        loop {
            let change = tokio::select! {
                () = stream.cancelled() => return,
                change = changes.recv() => change,
            };
            let told = match change {
                Ok(Changed::Tools) if stream.accepted().tools_list_changed == Some(true) => {
                    stream.sink().notify_tool_list_changed().await
                }
                Ok(Changed::Prompts) if stream.accepted().prompts_list_changed == Some(true) => {
                    stream.sink().notify_prompt_list_changed().await
                }
                Err(broadcast::error::RecvError::Closed) => return,
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => continue,
            };
            if told.is_err() {
                return;
            }
        }
    }
}
