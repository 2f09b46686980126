//! `notify_user`: a message to the person from a run that nobody watches. It changes nothing and
//! carries nothing past the person whose agent it is, so it needs no permission in any mode; like
//! every call it is on record.

use std::sync::Arc;

use ambit_core::effects::Effects;
use ambit_core::manifest::{CapabilityManifest, ChannelFeature};
use ambit_core::observation::{Failure, Output};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;

use crate::executor::{CapabilityExecutor, StartedCall};
use crate::injection::{NOTIFY_USER, declare};
use crate::resolver::{Notice, Notify, Urgency};
use crate::session::SessionScope;

const LONGEST: usize = 2_000;

pub(super) fn manifest() -> Option<CapabilityManifest> {
    let mut manifest = declare(
        NOTIFY_USER,
        "Notify the user",
        "Sends the user a message. Nobody reads along while you work in the background: use it \
         when something was found, went wrong or needs a decision, not for progress.",
        json!({
            "message": {"type": "string", "minLength": 1, "maxLength": LONGEST, "description": "What the user should know. It has to make sense without this conversation."},
            "urgency": {"type": "string", "enum": Urgency::WORDS, "default": "normal", "description": "`high` only for what cannot wait."}
        }),
        &["message"],
    )?;
    manifest.effects = Effects::default();
    manifest.needs.insert(ChannelFeature::RunInBackground);
    Some(manifest)
}

pub(super) struct NotifyUser {
    scope: Arc<SessionScope>,
    notify: Notify,
}

impl NotifyUser {
    pub(super) fn new(scope: &Arc<SessionScope>, notify: Notify) -> Self {
        NotifyUser {
            scope: Arc::clone(scope),
            notify,
        }
    }
}

#[derive(Deserialize)]
struct Arguments {
    message: String,
    #[serde(default)]
    urgency: Urgency,
}

#[async_trait]
impl CapabilityExecutor for NotifyUser {
    async fn execute(&self, call: StartedCall) -> Result<Output, Failure> {
        let Arguments { message, urgency } = serde_json::from_value(call.into_arguments())
            .map_err(|error| Failure::refused(error.to_string()))?;
        if message.trim().is_empty() {
            return Err(Failure::refused("the message says nothing; write one"));
        }
        let notice = Notice {
            agent: self.scope.agent.clone(),
            session: self.scope.id.to_string(),
            // It is kept until somebody reads it.
            message: self.scope.market.redactor().written(&message).into_owned(),
            urgency,
        };
        let notify = Arc::clone(&self.notify);
        tokio::task::spawn_blocking(move || notify(notice))
            .await
            .map_err(|error| Failure::provider(error.to_string()))?
            .map_err(|error| Failure::provider(format!("the user could not be told: {error}")))?;
        Ok(Output::text(
            "the user will see it; do not wait for an answer",
        ))
    }
}
