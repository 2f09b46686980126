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
                let engine = ScriptedEngine::new(Script::read(file)?);
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
