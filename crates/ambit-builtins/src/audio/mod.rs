//! `audio`: speech to text and text to speech, through a program on this machine or an endpoint
//! that speaks OpenAI's audio API. Which, a person configures; without either there is nothing.

mod command;
mod endpoint;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use ambit_core::effects::{Effect, Effects};
use ambit_core::id::CapabilityId;
use ambit_core::observation::{Failure, Output};
use ambit_runtime::executor::{CapabilityExecutor, StartedCall};
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::declare::{Declaration, arguments, object};
use crate::files::Folders;
use crate::stop;
use command::Program;
use endpoint::Endpoint;

const KEY: &str = "audio";
const SUMMARY: &str = "Turn speech into text and text into speech.";
const TRANSCRIBE: &str = "transcribe";
const SPEAK: &str = "text_to_speech";

/// What the endpoints that are around take.
const MOST_AUDIO: u64 = 25 << 20;
const MOST_TEXT: usize = 4096;

fn declarations() -> [Declaration; 2] {
    let path = |description: &str| json!({ "type": "string", "minLength": 1, "maxLength": 4096, "description": description });
    [
        Declaration {
            owner: KEY,
            name: TRANSCRIBE,
            title: "Transcribe",
            description: "Turn speech in an audio file into text.",
            effects: Effects::READS.with(Effect::OpenWorld).with(Effect::Egress),
            permissions: &["fs:read", "audio:transcribe"],
            tags: &["audio", "speech"],
            input: object(
                &["path"],
                json!({
                    "path": path("The audio file, relative to the workspace; 25 MiB at most."),
                    "language": {
                        "type": "string", "pattern": "^[a-z]{2,3}$",
                        "description": "The language spoken, as an ISO 639 code, where it is known.",
                    },
                }),
            ),
            output: None,
            pack_summary: SUMMARY,
        },
        Declaration {
            owner: KEY,
            name: SPEAK,
            title: "Text to speech",
            description: "Speak a text into an audio file.",
            effects: Effects::WRITES.with(Effect::OpenWorld).with(Effect::Egress),
            permissions: &["fs:write", "audio:speak"],
            tags: &["audio", "speech"],
            input: object(
                &["text", "path"],
                json!({
                    "text": {
                        "type": "string", "minLength": 1, "maxLength": MOST_TEXT,
                        "description": "What to say.",
                    },
                    "path": path("The audio file to write, relative to the workspace; what is there is replaced."),
                    "voice": {
                        "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$",
                        "description": "Whose voice, where the configured one is not wanted.",
                    },
                }),
            ),
            output: None,
            pack_summary: SUMMARY,
        },
    ]
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AudioConfig {
    dirs: Option<Vec<PathBuf>>,
    transcribe: Option<Means>,
    speak: Option<Means>,
}

/// How it is done.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Means {
    Program(Program),
    Endpoint(Endpoint),
}

fn means_schema(description: &str, program: &str) -> Value {
    json!({
        "description": description,
        "anyOf": [
            object(&["command"], json!({
                "command": {
                    "type": "array",
                    "items": { "type": "string" },
                    "minItems": 1,
                    "description": program,
                },
            })),
            object(&["url", "model"], json!({
                "url": { "type": "string", "pattern": "^https?://", "description": "The API's address, such as `https://api.example.com/v1`." },
                "model": { "type": "string", "minLength": 1, "description": "The model." },
                "voice": { "type": "string", "description": "The usual voice, for speaking." },
                "key": { "type": "string", "description": "The API key, as `${secret:NAME}`." },
            })),
        ],
    })
}

/// Makes `audio` grantable.
#[derive(Clone, Copy, Debug, Default)]
pub struct AudioResolver;

#[async_trait]
impl CapabilityResolver for AudioResolver {
    fn key(&self) -> &str {
        KEY
    }

    fn summary(&self) -> &str {
        SUMMARY
    }

    fn offer(&self) -> Offer {
        Offer::Declared(
            declarations()
                .into_iter()
                .filter_map(Declaration::manifest)
                .collect(),
        )
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
                    "description": "The folders its files may be in, relative to the workspace or absolute. Default: the workspace.",
                },
                "transcribe": means_schema(
                    "How speech becomes text.",
                    "A program and its arguments that prints the text; `{input}` stands for the audio file, `{language}` for the language or `auto`.",
                ),
                "speak": means_schema(
                    "How text becomes speech.",
                    "A program and its arguments that reads the text from its standard input and writes the audio to the file `{output}`; `{voice}` stands for the voice or `default`.",
                ),
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
        let config = AudioConfig::deserialize(config).map_err(|error| failed(error.to_string()))?;
        let given = [(TRANSCRIBE, &config.transcribe), (SPEAK, &config.speak)];
        let ids: BTreeSet<CapabilityId> = declarations()
            .into_iter()
            .filter(|it| {
                given
                    .iter()
                    .any(|(name, by)| *name == it.name && by.is_some())
            })
            .filter_map(|it| Some(it.manifest()?.id))
            .collect();
        if ids.is_empty() {
            return Ok(Resolution::Nothing {
                reason: "neither a command nor an endpoint is configured: set `transcribe` or `speak` under the agent's `capabilities.audio`, such as {\"transcribe\": {\"command\": [\"whisper-cli\", \"-nt\", \"-f\", \"{input}\"]}}".to_owned(),
            });
        }
        let paths = context.control_paths.clone();
        let folders = Folders::open(&context.workspace, config.dirs, paths).map_err(failed)?;
        Ok(Resolution::Only {
            executor: Arc::new(AudioExecutor {
                folders: Arc::new(folders),
                transcribe: config.transcribe,
                speak: config.speak,
            }),
            ids,
        })
    }
}

struct AudioExecutor {
    folders: Arc<Folders>,
    transcribe: Option<Means>,
    speak: Option<Means>,
}

#[derive(Deserialize)]
struct Transcribe {
    path: String,
    language: Option<String>,
}

#[derive(Deserialize)]
struct Speak {
    text: String,
    path: String,
    voice: Option<String>,
}

#[async_trait]
impl CapabilityExecutor for AudioExecutor {
    async fn execute(&self, call: StartedCall) -> Result<Output, Failure> {
        match (call.id().name(), &self.transcribe, &self.speak) {
            (TRANSCRIBE, Some(means), _) => {
                self.transcribe(means, arguments(call.into_arguments())?)
                    .await
            }
            (SPEAK, _, Some(means)) => self.speak(means, arguments(call.into_arguments())?).await,
            (name, ..) => Err(Failure::refused(format!(
                "`{KEY}` has no tool `{name}` here"
            ))),
        }
    }
}

impl AudioExecutor {
    async fn transcribe(&self, means: &Means, asked: Transcribe) -> Result<Output, Failure> {
        let folders = Arc::clone(&self.folders);
        let file = stop::blocking(move |_| folders.read(&asked.path, MOST_AUDIO)).await?;
        let language = asked.language.as_deref();
        let text = match means {
            Means::Program(program) => program.transcribe(&file, language).await?,
            Means::Endpoint(endpoint) => endpoint.transcribe(&file, language).await?,
        };
        Ok(match text.trim() {
            "" => Output::text(format!("no speech was recognised in `{}`", file.shown)),
            text => Output::text(text),
        })
    }

    async fn speak(&self, means: &Means, asked: Speak) -> Result<Output, Failure> {
        let voice = asked.voice.as_deref();
        let audio = match means {
            Means::Program(program) => program.speak(&asked.text, voice).await?,
            Means::Endpoint(endpoint) => {
                let format = format_of(&asked.path)?;
                endpoint.speak(&asked.text, voice, format).await?
            }
        };
        let bytes = audio.len();
        let folders = Arc::clone(&self.folders);
        let shown = stop::blocking(move |stop| folders.write(&asked.path, &audio, stop)).await?;
        Ok(Output::text(format!("wrote `{shown}`, {bytes} bytes")))
    }
}

/// The format a file's name asks for.
fn format_of(path: &str) -> Result<&'static str, Failure> {
    let formats = ["mp3", "wav", "opus", "aac", "flac", "pcm"];
    let extension = path.rsplit_once('.').map(|it| it.1.to_ascii_lowercase());
    formats
        .into_iter()
        .find(|it| extension.as_deref() == Some(it))
        .ok_or_else(|| {
            Failure::refused(format!(
                "`{path}` does not say in which format to write: end it with one of .{}",
                formats.join(", .")
            ))
        })
}
