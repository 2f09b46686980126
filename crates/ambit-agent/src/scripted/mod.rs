//! A model that says what a file says: for tests, demos, and playing a session again.
//!
//! Before each turn it looks whether it was shown what the file expects, and refuses to go on
//! otherwise. Turns are played in the order in which they are asked for, so a sub-agent's stand
//! where its parent waits for it.

mod counted;
mod expect;
mod filled;
mod parse;
mod record;
mod script;

use ambit_core::projection::ToolFormat;
use ambit_runtime::CancellationToken;
use async_trait::async_trait;
use parking_lot::Mutex;

use counted::Ledger;
use expect::Unmet;

pub use expect::Expect;
pub use parse::ScriptError;
pub use record::record;
pub use script::{Script, ScriptedCall, ScriptedInput, ScriptedStop, ScriptedTurn};

use crate::engine::{Engine, Listener, ModelNews, ModelRequest, ModelTurn};
use crate::error::EngineError;
use crate::usage::Prices;

/// The window of a model that has none.
const WINDOW: u64 = 200_000;

/// Plays a script.
#[derive(Debug)]
pub struct ScriptedEngine {
    script: Script,
    format: ToolFormat,
    window: u64,
    prices: Option<Prices>,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    /// How many turns were played.
    played: usize,
    ledger: Ledger,
}

impl ScriptedEngine {
    /// From its first turn on.
    pub fn new(script: Script) -> Self {
        ScriptedEngine {
            script,
            format: ToolFormat::OpenAi,
            window: WINDOW,
            prices: None,
            progress: Mutex::default(),
        }
    }

    /// With another window, to see what does not fit.
    #[must_use]
    pub fn with_window(mut self, window: u64) -> Self {
        self.window = window;
        self
    }

    /// With prices, to see what it would cost.
    #[must_use]
    pub fn with_prices(mut self, prices: Option<Prices>) -> Self {
        self.prices = prices;
        self
    }

    /// How many turns have not been played.
    pub fn remaining(&self) -> usize {
        let played = self.progress.lock().played;
        self.script.turns.len().saturating_sub(played)
    }

    /// The next turn, if the request is what it expects.
    fn play(&self, request: &ModelRequest<'_>) -> Result<(&ScriptedTurn, ModelTurn), ScriptError> {
        let mut progress = self.progress.lock();
        let number = progress.played;
        let turns = self.script.turns.len();
        let turn = self.script.turns.get(number);
        let turn = turn.ok_or(ScriptError::Over { turns })?;
        let unmet = |unmet: Unmet| ScriptError::Unmet {
            turn: number + 1,
            unmet: unmet.to_string(),
        };
        turn.expect.check(request, self.format).map_err(unmet)?;
        let parts = turn.parts(number, request.messages).map_err(unmet)?;
        progress.played += 1;
        let usage = progress.ledger.enter(request, self.format, turn);
        let played = ModelTurn {
            parts,
            stop: turn.stop(),
            usage: usage.priced(self.prices.as_ref()),
        };
        Ok((turn, played))
    }
}

#[async_trait]
impl Engine for ScriptedEngine {
    fn name(&self) -> &str {
        "scripted"
    }

    fn model(&self) -> &str {
        "script"
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn format(&self) -> ToolFormat {
        self.format
    }

    async fn turn(
        &self,
        request: &ModelRequest<'_>,
        listener: &dyn Listener,
        cancel: &CancellationToken,
    ) -> Result<ModelTurn, EngineError> {
        if cancel.is_cancelled() {
            return Err(EngineError::Cancelled);
        }
        let (turn, played) = self.play(request)?;
        for word in turn.say.split_inclusive(' ') {
            listener.hear(ModelNews::Text(word));
        }
        for call in &turn.calls {
            listener.hear(ModelNews::Calling(&call.tool));
        }
        Ok(played)
    }
}

#[cfg(test)]
mod tests;
