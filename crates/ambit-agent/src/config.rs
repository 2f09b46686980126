//! What a configuration says of one model.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::anthropic::AnthropicEngine;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::key::ApiKey;
use crate::openai::OpenAiEngine;
use crate::scripted::{Script, ScriptedEngine};
use crate::usage::Prices;

/// One model: who provides it, which it is, and how it is reached.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EngineConfig {
    /// Whose API it speaks.
    pub provider: Provider,
    /// The model, as its provider calls it. A script has none.
    #[serde(default)]
    pub model: Option<String>,
    /// Where its API is. Default: the provider's own address.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The key of its API, as `${secret:NAME}`. A local model may need none.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub key: Option<ApiKey>,
    /// How many tokens a request and its answer may have together. Default: 200,000 for
    /// `anthropic`, 128,000 for `openai`.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub window: Option<u64>,
    /// Most tokens of one answer. Default: 8,192 for `anthropic`, else what the provider has.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub max_output: Option<u32>,
    /// How freely it chooses its words, where the model allows to say so.
    #[serde(default)]
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    /// What its tokens cost. Without them no cost is shown.
    #[serde(default)]
    pub prices: Option<Prices>,
    /// The file of turns, for `scripted`.
    #[serde(default)]
    pub script: Option<PathBuf>,
}

/// Whose API a model speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Chat completions: OpenAI, OpenRouter, vLLM, Ollama, LM Studio and others.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// A file of turns.
    Scripted,
}

impl EngineConfig {
    /// A model with nothing else said.
    pub fn new(provider: Provider, model: impl Into<String>) -> Self {
        EngineConfig {
            provider,
            model: Some(model.into()),
            base_url: None,
            key: None,
            window: None,
            max_output: None,
            temperature: None,
            prices: None,
            script: None,
        }
    }

    /// The engine that speaks to it.
    pub fn open(&self) -> Result<Arc<dyn Engine>, EngineError> {
        Ok(match self.provider {
            Provider::OpenAi => Arc::new(OpenAiEngine::new(self)?),
            Provider::Anthropic => Arc::new(AnthropicEngine::new(self)?),
            Provider::Scripted => {
                let file = self.script.as_deref().ok_or_else(|| {
                    EngineError::Config("a `scripted` model needs `script`, a file".to_owned())
                })?;
                let engine = ScriptedEngine::new(Script::read(file)?).with_prices(self.prices);
                Arc::new(match self.window {
                    Some(window) => engine.with_window(window),
                    None => engine,
                })
            }
        })
    }

    /// The model's name, which all but scripts need.
    pub(crate) fn named(&self) -> Result<&str, EngineError> {
        let named = self.model.as_deref().filter(|it| !it.is_empty());
        named.ok_or_else(|| EngineError::Config("`model` is missing: say which one".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(config: &str, expected: &str) {
        let opened = serde_json::from_str::<EngineConfig>(config)
            .map_err(|error| error.to_string())
            .and_then(|it| it.open().map_err(|error| error.to_string()));
        let said = match opened {
            Ok(engine) => format!("{} {} {}", engine.name(), engine.model(), engine.window()),
            Err(error) => error,
        };
        assert!(said.starts_with(expected), "{config}: {said}");
    }

    #[test]
    fn a_model_is_opened_as_configured() {
        check(
            r#"{"provider": "anthropic", "model": "claude-opus-5", "key": "k"}"#,
            "anthropic claude-opus-5 200000",
        );
        check(
            r#"{"provider": "openai", "model": "qwen3", "baseUrl": "http://localhost:11434/v1/", "window": 32768}"#,
            "openai qwen3 32768",
        );
    }

    #[test]
    fn what_cannot_be_opened_is_said_without_the_key() {
        check(r#"{"provider": "openai"}"#, "`model` is missing");
        check(
            r#"{"provider": "mistral", "model": "m"}"#,
            "unknown variant `mistral`",
        );
        check(
            r#"{"provider": "openai", "model": "m", "baseUrl": "localhost:11434"}"#,
            "`baseUrl` of `m` is not an http or https url",
        );
        check(
            r#"{"provider": "openai", "model": "m", "key": "a\nb"}"#,
            "the key of `m` has characters no key has",
        );
        check(
            r#"{"provider": "scripted"}"#,
            "a `scripted` model needs `script`",
        );
        check(
            r#"{"provider": "scripted", "script": "/nowhere.json"}"#,
            "`/nowhere.json` cannot be read",
        );
    }

    #[test]
    fn an_engine_does_not_show_its_key() {
        let mut config = EngineConfig::new(Provider::OpenAi, "m");
        config.key = Some(ApiKey::new("sk-hunter2"));
        let engine = OpenAiEngine::new(&config).unwrap();
        let shown = format!("{config:?} {engine:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
