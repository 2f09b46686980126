//! `media`: handing files to the person, where the channel can.

use std::path::PathBuf;
use std::sync::Arc;

use ambit_core::effects::{Effect, Effects};
use ambit_core::manifest::ChannelFeature;
use ambit_core::observation::{Failure, Output};
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, OutgoingFile, Resolution, ResolveError, ResolverContext, SendFile,
};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::declare::{arguments, object};
use crate::files::Folders;
use crate::pack::{Pack, Tool};

const KEY: &str = "media";
const USUAL_BYTES: u64 = 20 << 20;

static PACK: Pack<Sender> = Pack {
    key: KEY,
    summary: "Hand files to the person.",
    tools: &[Tool {
        name: "send_file",
        title: "Send file",
        description: "Hand a file of the workspace to the person you talk to, such as a report, an image or an archive you made for them.",
        effects: Effects::READS.with(Effect::Egress),
        risk: None,
        permissions: &["fs:read", "media:send"],
        tags: &["files", "media"],
        needs: &[ChannelFeature::SendFiles],
        input: || {
            object(
                &["path"],
                json!({
                    "path": {
                        "type": "string", "minLength": 1, "maxLength": 4096,
                        "description": "The file, relative to the workspace.",
                    },
                    "caption": {
                        "type": "string", "maxLength": 1000,
                        "description": "A sentence shown with it.",
                    },
                }),
            )
        },
        output: None,
        run: Sender::run,
    }],
};

struct Sender {
    folders: Folders,
    most: u64,
    send: SendFile,
}

#[derive(Deserialize)]
struct Arguments {
    path: String,
    caption: Option<String>,
}

impl Sender {
    fn run(&self, value: Value) -> Result<Output, Failure> {
        let asked: Arguments = arguments(value)?;
        let file = self.folders.read(&asked.path, self.most)?;
        let said = format!("sent `{}`, {} bytes", file.shown, file.content.len());
        let outgoing = OutgoingFile {
            path: file.path,
            content: file.content,
            caption: asked.caption,
        };
        match (self.send)(outgoing) {
            Ok(()) => Ok(Output::text(said)),
            Err(reason) => Err(Failure::provider(format!(
                "`{}` was not sent: {reason}",
                file.shown
            ))),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct MediaConfig {
    dirs: Option<Vec<PathBuf>>,
    max_bytes: Option<u64>,
}

/// Makes `media` grantable.
#[derive(Clone, Copy, Debug, Default)]
pub struct MediaResolver;

#[async_trait]
impl CapabilityResolver for MediaResolver {
    fn key(&self) -> &str {
        KEY
    }

    fn summary(&self) -> &str {
        PACK.summary
    }

    fn offer(&self) -> Offer {
        PACK.offer()
    }

    fn config_schema(&self) -> Value {
        object(
            &[],
            json!({
                "dirs": {
                    "type": "array",
                    "items": { "type": "string", "minLength": 1 },
                    "minItems": 1,
                    "uniqueItems": true,
                    "description": "The folders files may be sent from, relative to the workspace or absolute. Default: the workspace.",
                },
                "maxBytes": {
                    "type": "integer", "minimum": 1, "maximum": 1_073_741_824,
                    "description": "The most bytes a file may have. Default: 20 MiB.",
                },
            }),
        )
    }

    async fn resolve(
        &self,
        config: &Value,
        context: &ResolverContext,
    ) -> Result<Resolution, ResolveError> {
        let failed = |message: String| ResolveError {
            key: KEY.to_owned(),
            message,
        };
        let config = MediaConfig::deserialize(config).map_err(|error| failed(error.to_string()))?;
        let paths = context.control_paths.clone();
        let folders = Folders::open(&context.workspace, config.dirs, paths).map_err(failed)?;
        // What a channel cannot do hides the tool with that reason; what is granted must not
        // depend on it.
        let send = context
            .callbacks
            .send_file
            .clone()
            .unwrap_or_else(|| Arc::new(|_| Err("this channel takes no files".to_owned())));
        Ok(Resolution::Ready(PACK.executor(Sender {
            folders,
            most: config.max_bytes.unwrap_or(USUAL_BYTES),
            send,
        })))
    }
}

#[cfg(test)]
mod tests {
    use ambit_core::observation::Observation;
    use ambit_core::permission::{Answer, Mode};
    use ambit_core::visible::HiddenReason;
    use ambit_runtime::discovery::TurnRequest;
    use ambit_runtime::session::Session;
    use ambit_testkit::{Answers, Bench, call};
    use parking_lot::Mutex;

    use super::*;

    type Sent = Arc<Mutex<Vec<(String, usize, Option<String>)>>>;

    async fn session(
        bench: &Bench,
        mode: Mode,
        feature: Option<ChannelFeature>,
    ) -> (Session, Sent) {
        let sent = Sent::default();
        let mut spec = bench.spec(mode);
        for (name, bytes) in [("a.png", 10), ("large.bin", 101)] {
            std::fs::write(spec.workspace.join(name), vec![7; bytes]).unwrap();
        }
        spec.channel.extend(feature);
        let inner = Arc::clone(&sent);
        spec.callbacks.send_file = Some(Arc::new(move |file: OutgoingFile| {
            if file.caption.as_deref() == Some("refuse") {
                return Err("the line is dead".to_owned());
            }
            let name = file
                .path
                .file_name()
                .unwrap()
                .to_string_lossy()
                .into_owned();
            inner.lock().push((name, file.content.len(), file.caption));
            Ok(())
        }));
        let session = bench.market().open_session(spec).await.unwrap();
        session.begin_turn(&TurnRequest::default());
        (session, sent)
    }

    fn bench() -> Bench {
        Bench::default()
            .asking(Arc::new(Answers::new([Answer::Once; 9])))
            .with(Arc::new(MediaResolver), json!({"maxBytes": 100}))
    }

    #[tokio::test]
    async fn files_are_handed_over_within_limits() {
        let bench = bench();
        let (session, sent) = session(&bench, Mode::Ask, Some(ChannelFeature::SendFiles)).await;
        for (arguments, expected) in [
            (
                json!({"path": "a.png", "caption": "look"}),
                "sent `a.png`, 10 bytes",
            ),
            (
                json!({"path": "large.bin"}),
                "has 101 bytes, and 100 is the most",
            ),
            (json!({"path": "../a.png"}), "outside"),
            (json!({"path": "/etc/passwd"}), "outside"),
            (json!({"path": "no.png"}), "does not exist"),
            (
                json!({"path": "a.png", "caption": "refuse"}),
                "was not sent: the line is dead",
            ),
        ] {
            let said = match call(&session, "media__send_file", arguments.clone())
                .await
                .observation
            {
                Observation::Completed(it) => it.output.content[0].as_text().unwrap().to_owned(),
                Observation::Failed(it) => it.message,
                Observation::Denied(it) => it.reason,
            };
            assert!(said.contains(expected), "{arguments}: {said}");
        }
        let expected = ("a.png".to_owned(), 10, Some("look".to_owned()));
        assert_eq!(*sent.lock(), [expected]);
    }

    #[tokio::test]
    async fn a_channel_without_files_hides_it_and_says_so() {
        let bench = bench();
        for (mode, feature, hidden) in [
            (Mode::Ask, Some(ChannelFeature::SendFiles), false),
            (Mode::Ask, None, true),
        ] {
            let (session, _) = session(&bench, mode, feature).await;
            let visible = session.visible();
            let id = "local__media__send_file".parse().unwrap();
            let why = visible.hidden_reason(&id);
            let expected = hidden.then_some(HiddenReason::ChannelCannot {
                feature: ChannelFeature::SendFiles,
            });
            assert_eq!(why, expected.as_ref());
        }
    }
}
