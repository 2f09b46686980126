//! Anthropic's messages: streamed, with tools, with marks for the prompt cache, and with tools
//! that come into view later at the place where they do.

mod marks;
mod models;
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
pub(crate) use stream::Blocks;

/// Where Anthropic's own API is.
const HOME: &str = "https://api.anthropic.com";
/// The version of the API that is spoken.
const VERSION: &str = "2023-06-01";
/// The window of a model nothing is said of.
const WINDOW: u64 = 200_000;
/// The bound of an answer nothing is said of: the API wants one.
const MAX_OUTPUT: u32 = 8192;
/// The name of this engine, in messages too.
const NAME: &str = "anthropic";

/// A model that speaks Anthropic's messages.
#[derive(Debug)]
pub struct AnthropicEngine {
    model: String,
    window: u64,
    settings: request::Settings,
    prices: Option<Prices>,
    endpoint: Endpoint,
}

impl AnthropicEngine {
    /// As configured.
    pub fn new(config: &EngineConfig) -> Result<Self, EngineError> {
        let model = config.named()?.to_owned();
        let base = config.base_url.as_deref().unwrap_or(HOME);
        let base = base.trim_end_matches('/');
        let base = base.strip_suffix("/v1").unwrap_or(base);
        let url = format!("{base}/v1/messages");
        let endpoint = Endpoint::new(NAME, &model, &url, config.key.as_ref())?
            .with_header("anthropic-version", VERSION)
            .with_key_in("x-api-key", "")?;
        Ok(AnthropicEngine {
            settings: request::Settings {
                max_output: config.max_output.unwrap_or(MAX_OUTPUT),
                temperature: config.temperature,
                reveal: models::reveal(&model),
            },
            window: config.window.unwrap_or(WINDOW),
            prices: config.prices,
            model,
            endpoint,
        })
    }
}

#[async_trait]
impl Engine for AnthropicEngine {
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
        ToolFormat::Anthropic
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
            .ask(&body, stream::Blocks::default, listener, cancel);
        let mut turn = turn.await?;
        turn.usage = turn.usage.priced(self.prices.as_ref());
        Ok(turn)
    }
}
