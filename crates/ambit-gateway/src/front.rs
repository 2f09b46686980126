//! One client's session: what it is shown, what it calls, and when its lists change.

use std::sync::Arc;
use std::time::Duration;

use ambit_core::grant::GrantProblem;
use ambit_core::id::{CapabilityId, Kind};
use ambit_core::intent::CallId;
use ambit_core::observation::Observation;
use ambit_runtime::conversation::Caller;
use ambit_runtime::discovery::TurnRequest;
use ambit_runtime::injection::{LOAD_SKILL, READ_RESOURCE, SKILL_SEARCH, TOOL_SEARCH};
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::provider::Provider;
use ambit_runtime::session::{Session, SessionSpec};
use ambit_runtime::{CallRequest, CancellationToken};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::listing::Listing;
use crate::lists::Lists;
use crate::style::Style;

/// Which lists are not what the client was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
}

/// What a call became, and what it did to the lists.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    pub(crate) changes: Changes,
    pub(crate) took: Duration,
}

/// What became of a call.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Observed(CallId, Observation),
    /// Nothing of that name is there to be called.
    Unknown(String),
}

/// What a client asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wanted {
    Tool { name: String, arguments: Value },
    Prompt { name: String, arguments: Value },
    Resource { uri: String },
}

impl Wanted {
    /// What the client calls it.
    fn name(&self) -> &str {
        match self {
            Wanted::Tool { name, .. } | Wanted::Prompt { name, .. } => name,
            Wanted::Resource { uri } => uri,
        }
    }
}

/// All lists as they were at one time.
pub(crate) struct Snapshot {
    tools: Arc<Listing>,
    lists: Arc<Lists>,
}

impl Snapshot {
    /// What is not what it was.
    pub(crate) fn changes_since(&self, before: &Snapshot) -> Changes {
        Changes {
            tools: !Arc::ptr_eq(&self.tools, &before.tools) && self.tools != before.tools,
            prompts: !self.lists.has_same_prompts(&before.lists),
            resources: !self.lists.has_same_resources(&before.lists),
        }
    }
}

pub(crate) struct Front {
    market: Arc<CapabilityMarketplace>,
    session: Session,
    style: Style,
    name: Arc<str>,
    shown: Mutex<Shown>,
}

#[derive(Default)]
struct Shown {
    /// What was searched for last: the nearest thing to a task that a client lets on.
    goal: String,
    tools: Arc<Listing>,
    lists: Arc<Lists>,
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
        let session = market.open_session(spec).await?;
        let front = Front {
            market: Arc::clone(market),
            name: session.id().to_string().into(),
            session,
            style,
            shown: Mutex::default(),
        };
        front.turn(None);
        Ok(front)
    }

    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// Its session's name: calls of equal names come from the same client.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(crate) fn market(&self) -> &Arc<CapabilityMarketplace> {
        &self.market
    }

    /// The tool list.
    pub(crate) fn listing(&self) -> Arc<Listing> {
        Arc::clone(&self.shown.lock().tools)
    }

    /// Prompts, resources and skills.
    pub(crate) fn lists(&self) -> Arc<Lists> {
        Arc::clone(&self.shown.lock().lists)
    }

    /// What the provider of something visible can do beside running calls.
    pub(crate) fn provider(&self, id: &CapabilityId) -> Option<Arc<dyn Provider>> {
        self.session.provider(id)
    }

    /// All of them.
    pub(crate) fn providers(&self) -> Vec<Arc<dyn Provider>> {
        self.session.providers()
    }

    /// The resource a client means by an address.
    pub(crate) fn resource_at(&self, uri: &str) -> Option<CapabilityId> {
        self.session.resource_at(uri)
    }

    /// All lists as they are now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let shown = self.shown.lock();
        Snapshot {
            tools: Arc::clone(&shown.tools),
            lists: Arc::clone(&shown.lists),
        }
    }

    /// Begins a turn if there is a reason for one: something was found, or the catalog changed.
    pub(crate) async fn catch_up(&self) -> Changes {
        self.catch_up_with(None).await
    }

    async fn catch_up_with(&self, goal: Option<String>) -> Changes {
        if !self.session.is_behind() {
            return Changes::default();
        }
        // Seldom, and every call has room for it.
        Box::pin(self.session.renew()).await;
        self.turn(goal)
    }

    /// Takes one call through the pipeline. It is recorded even if there is nothing to call.
    pub(crate) async fn call(
        &self,
        wanted: Wanted,
        caller: Arc<dyn Caller>,
        cancel: &CancellationToken,
    ) -> Ended {
        let wanted_name = wanted.name().to_owned();
        let (is_known, query, request) = self.request(wanted);
        let report = self.session.call_for(request, caller, cancel).await;
        let changes = self.catch_up_with(query).await;
        Ended {
            outcome: match is_known {
                true => Outcome::Observed(report.call, report.observation),
                false => Outcome::Unknown(wanted_name),
            },
            changes,
            took: report.duration,
        }
    }

    fn request(&self, wanted: Wanted) -> (bool, Option<String>, CallRequest) {
        match wanted {
            Wanted::Tool { name, arguments } => {
                let is_known = self.session.visible().find(&name).is_some();
                let query = arguments
                    .get("query")
                    .filter(|_| [TOOL_SEARCH, SKILL_SEARCH].contains(&name.as_str()))
                    .and_then(Value::as_str)
                    .map(str::to_owned);
                let request = CallRequest {
                    target: name,
                    arguments,
                };
                (is_known, query, request)
            }
            Wanted::Prompt { name, arguments } => match self.lists().prompt(&name) {
                Some(id) => {
                    let target = id.to_string();
                    (true, None, CallRequest { target, arguments })
                }
                // Whatever else goes by that name is a skill, or nothing.
                None => (
                    self.lists().is_skill(&name),
                    None,
                    CallRequest {
                        target: LOAD_SKILL.to_owned(),
                        arguments: json!({"name": name}),
                    },
                ),
            },
            Wanted::Resource { uri } => {
                // A skill's file is read by calling the skill.
                let at = self.session.resource_at(&uri);
                if let Some(skill) = at.filter(|it| it.kind() == Kind::Skill) {
                    let target = skill.to_string();
                    let arguments = json!({"uri": uri});
                    return (true, None, CallRequest { target, arguments });
                }
                let is_known = self.session.visible().find(READ_RESOURCE).is_some();
                let request = CallRequest {
                    target: READ_RESOURCE.to_owned(),
                    arguments: json!({"uri": uri}),
                };
                (is_known, None, request)
            }
        }
    }

    /// Begins a turn. The lock is held throughout, so that of two changes each is told once.
    fn turn(&self, goal: Option<String>) -> Changes {
        let mut shown = self.shown.lock();
        if let Some(goal) = goal {
            shown.goal = goal;
        }
        let visible = self.session.begin_turn(&TurnRequest {
            goal: shown.goal.clone(),
            ..TurnRequest::default()
        });
        let tools = Listing::of(&self.session, &self.market.catalog());
        let lists = Lists::of(&self.market, &visible);
        let changes = Changes {
            tools: *shown.tools != tools,
            prompts: !shown.lists.has_same_prompts(&lists),
            resources: !shown.lists.has_same_resources(&lists),
        };
        if changes.tools {
            shown.tools = Arc::new(tools);
        }
        if changes.prompts || changes.resources {
            shown.lists = Arc::new(lists);
        }
        changes
    }
}
