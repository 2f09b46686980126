//! What the runner adds to a round: everything from one answer of the model to the next request,
//! the model's own time left out. Each round calls one tool that does nothing.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use ambit_agent::engine::{Engine, Listener, ModelRequest, ModelTurn, StopReason};
use ambit_agent::error::EngineError;
use ambit_agent::message::{Arguments, AssistantPart, ToolCall};
use ambit_agent::runner::{AgentProfile, AgentRunner, NoAgents, RunLimits, Task, Unheard};
use ambit_agent::usage::Usage;
use ambit_core::permission::Mode;
use ambit_core::projection::{Projection, ToolFormat};
use ambit_runtime::CancellationToken;
use ambit_runtime::discovery::DiscoverySettings;
use async_trait::async_trait;
use parking_lot::Mutex;

use crate::made_up::{made_up, repeated};
use crate::report::{Figure, Spread, Target};
use crate::select::{bench, millis};

const CAPABILITIES: usize = 5_000;
const ROUNDS: u32 = 300;
/// The first build the index, the tokenizer and the catalog's record.
const WARMING: usize = 20;

pub(crate) fn measure() -> Result<Vec<Figure>, Box<dyn Error>> {
    let (documents, goals) = made_up();
    let bench = bench(repeated(&documents, CAPABILITIES));
    let market = bench.market();
    let mut spec = bench.spec(Mode::Auto);
    spec.discovery = DiscoverySettings {
        budget: Some(8_000),
        limit: Some(60),
        ..DiscoverySettings::default()
    };
    let engine = Arc::new(Timed::default());
    let profile = AgentProfile {
        spec,
        engine: Arc::clone(&engine) as _,
        instructions: Vec::new(),
        project: Default::default(),
        limits: RunLimits {
            turns: ROUNDS,
            ..RunLimits::default()
        },
    };
    let runner = AgentRunner::new(market, Arc::new(NoAgents), Arc::new(Unheard));
    let goal = goals.into_iter().next().unwrap_or_default();
    let runtime = tokio::runtime::Runtime::new()?;
    let cancel = CancellationToken::new();
    let ran = runtime.block_on(runner.run(profile, Task::Begin(goal), &cancel));
    let report = ran.map_err(|error| format!("{error:?}"))?;
    let between = engine.between.lock().split_off(WARMING);
    let spread = Spread::of(between);
    let row = |name: &str, value, target: Option<f64>| Figure {
        bench: "runner",
        case: format!(
            "{CAPABILITIES} capabilities, a round with one call, {name} of {}",
            report.turns
        ),
        measured: millis(value),
        target: target.map(|it| Target::AtMost(millis(it))),
        baselines: Vec::new(),
    };
    Ok(vec![
        row("median", spread.median, Some(3.0)),
        row("fastest", spread.fastest, None),
        row("p99", spread.p99, None),
    ])
}

/// Answers at once with a call of the first tool it sees, and times what happens in between.
#[derive(Default)]
struct Timed {
    answered: Mutex<Option<Instant>>,
    between: Mutex<Vec<f64>>,
}

/// A tool of the catalog that changes nothing; the search tool where there is none.
fn harmless(projection: &Projection) -> String {
    let names = projection.tools.iter();
    let names = names.filter_map(|it| it.get("function")?.get("name")?.as_str());
    let mut tools = names.filter(|it| it.contains("__get") || it.contains("__list"));
    tools.next().unwrap_or("tool_search").to_owned()
}

#[async_trait]
impl Engine for Timed {
    fn name(&self) -> &str {
        "timed"
    }

    fn model(&self) -> &str {
        "none"
    }

    fn window(&self) -> u64 {
        200_000
    }

    fn format(&self) -> ToolFormat {
        ToolFormat::OpenAi
    }

    async fn turn(
        &self,
        request: &ModelRequest<'_>,
        _: &dyn Listener,
        _: &CancellationToken,
    ) -> Result<ModelTurn, EngineError> {
        if let Some(answered) = *self.answered.lock() {
            let between = answered.elapsed().as_secs_f64() * 1e3;
            self.between.lock().push(between);
        }
        let call = ToolCall {
            id: format!("call_{}", request.messages.len()),
            name: harmless(request.projection),
            arguments: Arguments::read("{}"),
        };
        let turn = ModelTurn {
            parts: vec![AssistantPart::Call(call)],
            stop: StopReason::WantsTools,
            usage: Usage::default(),
        };
        *self.answered.lock() = Some(Instant::now());
        Ok(turn)
    }
}
