//! Chat completions with tools: OpenAI, and all who speak the same (OpenRouter, vLLM, Ollama,
//! LM Studio and others).

mod request;
mod stream;

use ambit_core::projection::ToolFormat;
use ambit_runtime::CancellationToken;
use async_trait::async_trait;

use crate::config::EngineConfig;
use crate::engine::{Engine, Listener, ModelRequest, ModelTurn};
use crate::error::EngineError;
use crate::http::Endpoint;
use crate::usage::Prices;

#[cfg(test)]
pub(crate) use stream::Completion;

/// Where OpenAI's own API is.
const HOME: &str = "https://api.openai.com/v1";
/// The window of a model nothing is said of.
const WINDOW: u64 = 128_000;
/// The name of this engine, in messages too.
const NAME: &str = "openai";

/// A model that speaks chat completions.
#[derive(Debug)]
pub struct OpenAiEngine {
    model: String,
    window: u64,
    settings: request::Settings,
    prices: Option<Prices>,
    endpoint: Endpoint,
}

impl OpenAiEngine {
    /// As configured.
    pub fn new(config: &EngineConfig) -> Result<Self, EngineError> {
        let model = config.named()?.to_owned();
        let base = config.base_url.as_deref().unwrap_or(HOME);
        let base = base.trim_end_matches('/');
        let path = "/chat/completions";
        let url = match base.ends_with(path) {
            true => base.to_owned(),
            false => format!("{base}{path}"),
        };
        let endpoint = Endpoint::new(NAME, &model, &url, config.key.as_ref())?
            .with_key_in("authorization", "Bearer ")?;
        Ok(OpenAiEngine {
            settings: request::Settings {
                max_output: config.max_output,
                temperature: config.temperature,
                bound: request::Bound::at(&url),
            },
            window: config.window.unwrap_or(WINDOW),
            prices: config.prices,
            model,
            endpoint,
        })
    }
}

#[async_trait]
impl Engine for OpenAiEngine {
    fn name(&self) -> &str {
        NAME
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn format(&self) -> ToolFormat {
        ToolFormat::OpenAi
    }

    async fn turn(
        &self,
        request: &ModelRequest<'_>,
        listener: &dyn Listener,
        cancel: &CancellationToken,
    ) -> Result<ModelTurn, EngineError> {
        let body = request::body(&self.model, request, &self.settings);
        let turn = self
            .endpoint
            .ask(&body, stream::Completion::default, listener, cancel);
        let mut turn = turn.await?;
        turn.usage = turn.usage.priced(self.prices.as_ref());
        Ok(turn)
    }
}
