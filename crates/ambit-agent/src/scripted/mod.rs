//! A model that says what a file says: for tests, demos, and playing a session again.
//!
//! Before each turn it looks whether it was shown what the file expects, and refuses to go on
//! otherwise. Turns are played in the order in which they are asked for, so a sub-agent's stand
//! where its parent waits for it.

mod expect;
mod parse;
mod record;
mod script;

use ambit_core::projection::ToolFormat;
use ambit_runtime::CancellationToken;
use async_trait::async_trait;
use parking_lot::Mutex;

pub use expect::Expect;
pub use parse::ScriptError;
pub use record::record;
pub use script::{Script, ScriptedCall, ScriptedInput, ScriptedStop, ScriptedTurn};

use crate::engine::{Engine, Listener, ModelNews, ModelRequest, ModelTurn};
use crate::error::EngineError;
use crate::usage::Usage;

/// The window of a model that has none.
const WINDOW: u64 = 200_000;

/// Plays a script.
#[derive(Debug)]
pub struct ScriptedEngine {
    script: Script,
    format: ToolFormat,
    window: u64,
    /// How many turns were played.
    played: Mutex<usize>,
}

impl ScriptedEngine {
    /// From its first turn on.
    pub fn new(script: Script) -> Self {
        ScriptedEngine {
            script,
            format: ToolFormat::OpenAi,
            window: WINDOW,
            played: Mutex::new(0),
        }
    }

    /// With another window, to see what does not fit.
    #[must_use]
    pub fn with_window(mut self, window: u64) -> Self {
        self.window = window;
        self
    }

    /// How many turns have not been played.
    pub fn remaining(&self) -> usize {
        self.script.turns.len().saturating_sub(*self.played.lock())
    }

    /// The next turn, if the request is what it expects.
    fn next(&self, request: &ModelRequest<'_>) -> Result<(usize, &ScriptedTurn), ScriptError> {
        let mut played = self.played.lock();
        let number = *played;
        let turns = self.script.turns.len();
        let turn = self.script.turns.get(number);
        let turn = turn.ok_or(ScriptError::Over { turns })?;
        let checked = turn.expect.check(request, self.format);
        checked.map_err(|unmet| ScriptError::Unmet {
            turn: number + 1,
            unmet: unmet.to_string(),
        })?;
        *played += 1;
        Ok((number, turn))
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
        let (number, turn) = self.next(request)?;
        for word in turn.say.split_inclusive(' ') {
            listener.hear(ModelNews::Text(word));
        }
        for call in &turn.calls {
            listener.hear(ModelNews::Calling(&call.tool));
        }
        Ok(ModelTurn {
            parts: turn.parts(number),
            stop: turn.stop(),
            usage: Usage::default(),
        })
    }
}

#[cfg(test)]
mod tests;
