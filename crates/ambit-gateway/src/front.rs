//! One client's session: what it is shown, what it calls, and when its list changes. Knows nothing
//! of the protocol.

use std::sync::Arc;

use ambit_core::effects::Effects;
use ambit_core::grant::GrantProblem;
use ambit_core::id::Kind;
use ambit_core::projection::ToolFormat;
use ambit_runtime::discovery::TurnRequest;
use ambit_runtime::injection::{LOAD_SKILL, SKILL_SEARCH, TOOL_SEARCH};
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::session::{Session, SessionSpec};
use ambit_runtime::{CallReport, CallRequest, CancellationToken};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::style::Style;

/// A tool as a client sees it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShownTool {
    /// The definition, as in `tools/list`.
    pub(crate) definition: Value,
    /// What it does to the world.
    pub(crate) effects: Effects,
}

/// A skill as a client sees it.
pub(crate) struct ShownSkill {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) summary: String,
}

/// Whether the tool list is still what the client was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    Same,
    Changed,
}

/// What became of a call.
pub(crate) enum Answer {
    Ended(CallReport),
    /// Nothing of that name is there to be called.
    UnknownTool,
}

pub(crate) struct Front {
    market: Arc<CapabilityMarketplace>,
    session: Session,
    style: Style,
    shown: Mutex<Shown>,
}

#[derive(Default)]
struct Shown {
    /// What was searched for last: the nearest thing to a task that a client lets on.
    goal: String,
    tools: Arc<Vec<ShownTool>>,
}

impl Front {
    /// Opens a session for a client and begins its first turn.
    pub(crate) async fn open(
        market: &Arc<CapabilityMarketplace>,
        spec: SessionSpec,
        style: Style,
    ) -> Result<Self, Vec<GrantProblem>> {
        let spec = SessionSpec {
            exposure: style.exposure(),
            ..spec
        };
        let front = Front {
            market: Arc::clone(market),
            session: market.open_session(spec).await?,
            style,
            shown: Mutex::default(),
        };
        front.turn(None);
        Ok(front)
    }

    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// The tool list.
    pub(crate) fn tools(&self) -> Arc<Vec<ShownTool>> {
        Arc::clone(&self.shown.lock().tools)
    }

    /// Skills that can be loaded.
    pub(crate) fn skills(&self) -> Vec<ShownSkill> {
        let catalog = self.market.catalog();
        let visible = self.session.visible();
        let skills = visible.entries().iter().map(|it| &it.id);
        skills
            .filter(|id| id.kind() == Kind::Skill)
            .filter_map(|id| catalog.get(id))
            .map(|it| ShownSkill {
                name: it.id.name().to_owned(),
                title: it.title.clone(),
                summary: it.summary.clone(),
            })
            .collect()
    }

    /// Begins a turn if there is a reason for one: something was found, or the catalog changed.
    pub(crate) fn catch_up(&self) -> Listing {
        match self.session.is_behind() {
            true => self.turn(None),
            false => Listing::Same,
        }
    }

    /// Takes one call through the pipeline. It is recorded even if there is nothing to call.
    pub(crate) async fn call(
        &self,
        name: &str,
        arguments: Value,
        cancel: &CancellationToken,
    ) -> (Answer, Listing) {
        let is_known = self.session.visible().find(name).is_some();
        let query = arguments
            .get("query")
            .filter(|_| [TOOL_SEARCH, SKILL_SEARCH].contains(&name))
            .and_then(Value::as_str)
            .map(str::to_owned);
        let request = CallRequest {
            target: name.to_owned(),
            arguments,
        };
        let report = self.session.call(request, cancel).await;
        let listing = match self.session.is_behind() {
            true => self.turn(query),
            false => Listing::Same,
        };
        match is_known {
            true => (Answer::Ended(report), listing),
            false => (Answer::UnknownTool, listing),
        }
    }

    /// A skill's instructions, through the same gates as any call.
    pub(crate) async fn load_skill(
        &self,
        name: &str,
        cancel: &CancellationToken,
    ) -> (Answer, Listing) {
        self.call(LOAD_SKILL, json!({"name": name}), cancel).await
    }

    /// Begins a turn. The lock is held throughout, so that of two changes each is told once.
    fn turn(&self, goal: Option<String>) -> Listing {
        let mut shown = self.shown.lock();
        if let Some(goal) = goal {
            shown.goal = goal;
        }
        let visible = self.session.begin_turn(&TurnRequest {
            goal: shown.goal.clone(),
            ..TurnRequest::default()
        });
        let catalog = self.market.catalog();
        let effects = |definition: &Value| {
            let name = definition.get("name")?.as_str()?;
            Some(catalog.get(visible.find(name)?)?.effects)
        };
        let tools: Vec<ShownTool> = self
            .session
            .projection(ToolFormat::Mcp)
            .tools
            .into_iter()
            .filter_map(|definition| {
                effects(&definition).map(|effects| ShownTool {
                    definition,
                    effects,
                })
            })
            .collect();
        if *shown.tools == tools {
            return Listing::Same;
        }
        shown.tools = Arc::new(tools);
        Listing::Changed
    }
}
