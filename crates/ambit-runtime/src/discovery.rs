//! From what is said and heard to a turn's input: the texts are searched for here, and what they
//! point to is what the policy sees.

use std::collections::BTreeSet;
use std::sync::Arc;

use ambit_core::catalog::CatalogSnapshot;
use ambit_core::granted::Granted;
use ambit_core::id::{CapabilityId, Kind};
use ambit_core::manifest::ChannelFeature;
use ambit_core::permission::{Bound, Mode, Rules};
use ambit_core::search::{Hit, SearchIndex, SearchRequest};
use ambit_core::turn::{Asked, Relevance, Shown, TurnInput};
use ambit_core::weights::Weights;

use crate::gates::{Gates, Purpose};
use crate::heard::Heard;
use crate::marketplace::CapabilityMarketplace;

/// How many hits of a text count, and how good they must be beside the best.
const HITS: usize = 8;
const FAINTEST: u32 = 3;
/// How much of a text is recorded.
const RECORDED: usize = 400;

/// How an agent's turns are selected.
#[derive(Clone, Debug, Default)]
pub struct DiscoverySettings {
    /// Most tokens a projection may cost.
    pub budget: Option<u32>,
    /// Most entries.
    pub limit: Option<u32>,
    /// Always shown, if they may be at all.
    pub pins: BTreeSet<CapabilityId>,
    /// Never shown.
    pub excludes: BTreeSet<CapabilityId>,
    /// How much each signal counts.
    pub weights: Weights,
}

/// How much of what an agent may use is put in front of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exposure {
    /// What each turn's selection chooses.
    #[default]
    Selected,
    /// Everything: whoever reads the list chooses.
    Everything,
    /// Nothing but tools that find, describe and call the others, so that the list never changes.
    Dispatched,
}

/// What is said at the beginning of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnRequest {
    /// The task, in words.
    pub goal: String,
    /// Files that were touched, relative to the workspace.
    pub touched: BTreeSet<String>,
    /// What kind of project this is: `rust`, `node`.
    pub project: BTreeSet<String>,
    /// What was observed elsewhere.
    pub evidence: Vec<String>,
    /// Another budget for this turn.
    pub budget: Option<u32>,
    /// A narrower mode for this turn. A looser one than the session's own changes nothing.
    pub mode: Option<Mode>,
}

impl TurnRequest {
    /// A task, in words.
    pub fn goal(goal: impl Into<String>) -> Self {
        TurnRequest {
            goal: goal.into(),
            ..TurnRequest::default()
        }
    }
}

/// What holds for all turns of a session.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// What the agent may ever have.
    pub granted: Arc<Granted>,
    /// How freely it may act.
    pub mode: Mode,
    /// The rules that hold.
    pub rules: Rules,
    /// What the entry point can do.
    pub channel: BTreeSet<ChannelFeature>,
    /// How its turns are selected.
    pub settings: DiscoverySettings,
    /// How much of it is put in front of the agent.
    pub exposure: Exposure,
    /// Those that asked this agent, who bound it further.
    pub within: Vec<Bound>,
    pub(crate) gates: Gates,
}

impl Bounds {
    fn input(&self) -> TurnInput {
        let settings = &self.settings;
        TurnInput {
            mode: self.mode,
            rules: self.rules.clone(),
            channel: self.channel.clone(),
            budget: settings.budget,
            limit: settings.limit,
            pins: settings.pins.clone(),
            excludes: settings.excludes.clone(),
            weights: settings.weights,
            within: self.within.clone(),
            ..TurnInput::default()
        }
    }
}

impl Bounds {
    fn narrowed(&self, mode: Option<Mode>) -> Mode {
        mode.map_or(self.mode, |it| it.min(self.mode))
    }

    /// The input of a turn that was, as it is in these bounds.
    pub(crate) fn again(&self, was: TurnInput, previous: Vec<Shown>) -> TurnInput {
        let mode = self.narrowed(Some(was.mode));
        let now = self.input();
        match self.exposure {
            Exposure::Selected => TurnInput {
                mode,
                rules: now.rules,
                channel: now.channel,
                budget: was.budget.or(now.budget),
                limit: now.limit,
                pins: now.pins,
                excludes: now.excludes,
                weights: now.weights,
                within: now.within,
                previous,
                ..was
            },
            Exposure::Everything | Exposure::Dispatched => TurnInput {
                budget: None,
                limit: None,
                mode,
                ..now
            },
        }
    }
}

impl CapabilityMarketplace {
    /// The input of a turn's selection.
    pub fn turn_input(
        &self,
        bounds: &Bounds,
        catalog: &CatalogSnapshot,
        request: &TurnRequest,
        heard: &Heard,
        previous: Vec<Shown>,
    ) -> TurnInput {
        let mode = bounds.narrowed(request.mode);
        if bounds.exposure != Exposure::Selected {
            // All that may be used can be called, whatever was said and heard.
            return TurnInput {
                budget: None,
                limit: None,
                mode,
                ..bounds.input()
            };
        }
        let mut input = TurnInput {
            mode,
            previous,
            touched: request.touched.clone(),
            candidates: heard.candidates.clone(),
            called: heard.called.clone(),
            loaded: heard.loaded.clone(),
            failures: heard.failures.clone(),
            ..bounds.input()
        };
        input.budget = request.budget.or(input.budget);
        let mut asked: Vec<(Asked, String)> = Vec::new();
        if !request.goal.trim().is_empty() {
            asked.push((Asked::Goal, request.goal.clone()));
        }
        // Observations bear on a task; without one there is nothing they could add to.
        let told = request.evidence.iter().cloned();
        let observed = heard.evidence.iter().filter(|_| !asked.is_empty()).cloned();
        asked.extend(
            told.chain(observed)
                .filter(|it| !it.trim().is_empty())
                .map(|it| (Asked::Evidence, it))
                .collect::<Vec<_>>(),
        );
        if !request.touched.is_empty() {
            asked.push((
                Asked::Touched,
                request
                    .touched
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(" "),
            ));
        }
        if !asked.is_empty() && !request.project.is_empty() {
            asked.push((
                Asked::Project,
                request
                    .project
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(" "),
            ));
        }
        if asked.is_empty() {
            return input;
        }
        let index = self.index();
        let gate = bounds
            .gates
            .of(Purpose::Selecting, &index, catalog, bounds, &input);
        input.relevance = asked
            .into_iter()
            .map(|(asked, text)| {
                let hits = index.search(
                    &SearchRequest {
                        limit: HITS,
                        ..SearchRequest::new(text.as_str())
                    },
                    &gate,
                );
                let best = hits.first().map_or(0, |it| it.score.0);
                let hits = hits
                    .into_iter()
                    .filter(|it| it.score.0 >= best / FAINTEST)
                    .map(|it| (it.id, it.score.0))
                    .collect();
                let text = self
                    .parts
                    .redactor
                    .written(&text)
                    .chars()
                    .take(RECORDED)
                    .collect();
                Relevance { asked, text, hits }
            })
            .collect();
        input
    }

    /// Searches what an agent could have visible now: what nothing but relevance hides.
    pub fn search(&self, bounds: &Bounds, request: &SearchRequest) -> Vec<Hit> {
        self.search_for(bounds, request, Purpose::Finding { kind: None })
    }

    /// The same, among one kind of it: the rest takes no place in the answer.
    pub(crate) fn search_kind(
        &self,
        bounds: &Bounds,
        request: &SearchRequest,
        kind: Kind,
    ) -> Vec<Hit> {
        self.search_for(bounds, request, Purpose::Finding { kind: Some(kind) })
    }

    fn search_for(&self, bounds: &Bounds, request: &SearchRequest, purpose: Purpose) -> Vec<Hit> {
        let catalog = self.catalog();
        let index: Arc<SearchIndex> = self.index();
        let gates = &bounds.gates;
        let gate = gates.of(purpose, &index, &catalog, bounds, &bounds.input());
        index.search(request, &gate)
    }
}
