//! One run from its first request to its end, round by round.

use std::collections::BTreeSet;
use std::sync::Arc;

use ambit_core::event::EventBody;
use ambit_core::id::Kind;
use ambit_core::intent::CallId;
use ambit_core::projection::Projection;
use ambit_core::run::{IntentRecord, RunEnd};
use ambit_core::visible::Layer;
use ambit_runtime::CancellationToken;
use ambit_runtime::discovery::TurnRequest;
use ambit_runtime::random::random_word;
use ambit_runtime::session::Session;
use ambit_runtime::turn::TurnReport;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::calls::{Calls, Intent};
use super::limits::recorded;
use super::news::RunNews;
use super::profile::AgentProfile;
use super::prompt::{About, Prompt, Told, system};
use super::report::{Exposure, RunReport, title};
use super::transcript::{self, Transcript, shortened};
use super::window::{Pressure, make_room};
use super::{AgentRunner, Place};
use crate::engine::{ModelNews, ModelOptions, ModelRequest, ModelTurn, StopReason};
use crate::error::EngineError;
use crate::message::Message;

/// A run whose session is open.
pub(super) struct Run {
    pub(super) session: Arc<Session>,
    pub(super) place: Place,
    runner: AgentRunner,
    profile: AgentProfile,
    cancel: CancellationToken,
    transcript: Transcript,
    goal: String,
    /// Made with the first turn.
    prompt: Option<Prompt>,
    told: Told,
    touched: BTreeSet<String>,
    /// The turn that called last.
    called_in: u32,
    turns: u32,
    calls: u32,
    exposure: Exposure,
    answer: String,
}

/// Why a run ends, with what the model's port says about it.
struct End {
    why: RunEnd,
    error: Option<EngineError>,
}

impl From<RunEnd> for End {
    fn from(why: RunEnd) -> Self {
        End { why, error: None }
    }
}

impl Run {
    pub(super) fn new(
        runner: &AgentRunner,
        profile: AgentProfile,
        place: Place,
        cancel: CancellationToken,
        session: Arc<Session>,
        transcript: Transcript,
        goal: String,
    ) -> Self {
        Run {
            session,
            place,
            runner: runner.clone(),
            profile,
            cancel,
            transcript,
            goal,
            prompt: None,
            told: Told::default(),
            touched: BTreeSet::new(),
            called_in: 0,
            turns: 0,
            calls: 0,
            exposure: Exposure::default(),
            answer: String::new(),
        }
    }

    /// Goes on until there is a reason to stop. Boxed: a run may be part of another run.
    pub(super) fn go(&mut self) -> BoxFuture<'_, RunReport> {
        self.work().boxed()
    }

    async fn work(&mut self) -> RunReport {
        self.tell(RunNews::Opened(&self.session));
        let end = loop {
            if let Some(end) = self.round().await {
                break end;
            }
        };
        self.settle();
        let report = RunReport {
            session: self.session.id().clone(),
            title: title(&self.runner.market.redactor().written(&self.goal)),
            ended: end.why,
            answer: std::mem::take(&mut self.answer),
            error: end.error,
            turns: self.turns,
            calls: self.calls,
            usage: self.place.meter.used(),
            exposure: self.exposure,
        };
        let receipt = self.session.record(report.event(), Vec::new());
        if let Err(error) = receipt.written().await {
            tracing::error!(%error, "the end of a run could not be recorded");
        }
        self.tell(RunNews::Finished(&report));
        report
    }

    /// Why not to ask the model again.
    fn stop(&self) -> Option<RunEnd> {
        match () {
            () if self.cancel.is_cancelled() => Some(RunEnd::Interrupted),
            () if self.turns >= self.profile.limits.turns => Some(RunEnd::TurnLimit),
            () if self.place.meter.is_empty() => Some(RunEnd::Budget),
            () => None,
        }
    }

    async fn round(&mut self) -> Option<End> {
        if let Some(why) = self.stop() {
            return Some(why.into());
        }
        let request = TurnRequest {
            goal: self.goal.clone(),
            touched: self.touched.clone(),
            project: self.profile.project.clone(),
            ..TurnRequest::default()
        };
        let format = self.profile.engine.format();
        let mut turn = self.session.next_turn(&request, format).await;
        self.tell(RunNews::Turn(&turn));
        self.explain(&turn);
        self.settle();
        self.exposure.shown += u64::from(turn.tokens.exposed);
        self.exposure.whole += u64::from(turn.tokens.catalog);
        let projection = Projection {
            tools: std::mem::take(&mut turn.tools),
            skills: std::mem::take(&mut turn.skills),
            resources: std::mem::take(&mut turn.resources),
            deferred: std::mem::take(&mut turn.deferred),
        };
        let answered = match self.ask(&turn, &projection).await {
            Ok(answered) => answered,
            Err(EngineError::Cancelled) => return Some(RunEnd::Interrupted.into()),
            Err(error) => {
                let reason = error.to_string();
                let body = EventBody::ModelFailed {
                    turn: turn.turn,
                    reason: shortened(&self.runner.market.redactor().written(&reason)),
                };
                self.session.record(body, Vec::new());
                return Some(End {
                    why: RunEnd::Failed,
                    error: Some(error),
                });
            }
        };
        self.turns += 1;
        self.place.meter.add(answered.usage);
        self.tell(RunNews::Responded(&answered));
        self.act(turn.turn, answered).await.map(End::from)
    }

    /// Puts what came into view before the model: all of it in the prompt of the first turn, later
    /// news at the end of the conversation.
    fn explain(&mut self, turn: &TurnReport) {
        if self.prompt.is_none() {
            let spec = &self.profile.spec;
            let about = About {
                agent: &spec.agent,
                workspace: &spec.workspace.display().to_string(),
                channel: &self.session.bounds().channel,
                instructions: &self.profile.instructions,
            };
            self.prompt = Some(system(&about, turn, &mut self.told));
            return;
        }
        let news = self.told.news(turn);
        let added = turn.diff.added.iter();
        let added = added.filter(|it| it.layer == Layer::Full && it.id.kind() == Kind::Tool);
        let reveals = added.filter_map(|added| {
            let entry = turn.visible.iter().find(|it| it.id == added.id)?;
            Some(entry.name.clone())
        });
        self.transcript.add_news(news, reveals.collect());
    }

    /// Records what is new in the conversation.
    fn settle(&mut self) {
        let redactor = self.runner.market.redactor();
        for (message, written) in self.transcript.settle(redactor) {
            if let Some(body) = transcript::event(self.called_in, message, &written) {
                let object = (written.digest, written.json);
                self.session.record(body, vec![object]);
            }
        }
    }

    /// Asks the model, making room if it has to be.
    async fn ask(
        &mut self,
        turn: &TurnReport,
        projection: &Projection,
    ) -> Result<ModelTurn, EngineError> {
        let mut pressure = Pressure::Usual;
        loop {
            self.make_room(turn, pressure);
            let asked = self.ask_once(turn, projection).await;
            match asked {
                Err(EngineError::TooLong { .. }) if pressure == Pressure::Usual => {
                    pressure = Pressure::Refused;
                }
                other => return other,
            }
        }
    }

    fn make_room(&mut self, turn: &TurnReport, pressure: Pressure) {
        let prompt = self.prompt.as_ref().map_or(0, Prompt::tokens);
        let beside = prompt + u64::from(turn.tokens.exposed);
        let made = make_room(
            &mut self.transcript,
            &self.session,
            turn.turn,
            beside,
            self.profile.engine.window(),
            pressure,
        );
        if let Some((from, to)) = made {
            self.tell(RunNews::Compacted { from, to });
        }
    }

    async fn ask_once(
        &mut self,
        turn: &TurnReport,
        projection: &Projection,
    ) -> Result<ModelTurn, EngineError> {
        let engine = Arc::clone(&self.profile.engine);
        let nothing = Prompt::default();
        let prompt = self.prompt.as_ref().unwrap_or(&nothing);
        let shown = u64::from(turn.tokens.exposed);
        let (request, tokens) = self.transcript.request(&projection.tools, shown, prompt);
        self.exposure.requested += tokens.total();
        self.exposure.prefix += tokens.prefix;
        self.session.record(
            EventBody::ModelRequested {
                turn: turn.turn,
                engine: engine.name().to_owned(),
                model: engine.model().to_owned(),
                request,
                messages: self.transcript.messages().len() as u32,
                tokens,
            },
            Vec::new(),
        );
        let request = ModelRequest {
            system: &prompt.blocks,
            projection,
            messages: self.transcript.messages(),
            options: ModelOptions::default(),
        };
        let hear = |news: ModelNews<'_>| self.tell(RunNews::Model(news));
        engine.turn(&request, &hear, &self.cancel).await
    }

    /// Does what the model wants, and records it.
    async fn act(&mut self, turn: u32, answered: ModelTurn) -> Option<RunEnd> {
        let named = answered.calls().map(|wanted| Intent {
            call: CallId(format!("call-{}", random_word(10))),
            wanted: wanted.clone(),
        });
        let intents: Vec<Intent> = named.collect();
        let redactor = self.runner.market.redactor();
        let text = answered.text();
        let (stop, usage) = (answered.stop, answered.usage);
        self.transcript.push(answered.into_message());
        for (_, written) in self.transcript.settle(redactor) {
            let body = EventBody::ModelResponded {
                turn,
                text: shortened(&redactor.written(&text)),
                intents: intents.iter().map(record).collect(),
                stop: word(stop).to_owned(),
                usage: recorded(&usage),
                message: written.digest,
            };
            self.session
                .record(body, vec![(written.digest, written.json)]);
        }
        if !text.trim().is_empty() {
            self.answer = text;
        }
        if intents.is_empty() {
            return Some(match stop {
                StopReason::Refused => RunEnd::Declined,
                StopReason::Answered | StopReason::WantsTools | StopReason::Length => {
                    RunEnd::Answered
                }
            });
        }
        self.called_in = turn;
        self.calls += intents.len() as u32;
        let calls = Calls {
            session: &self.session,
            who: &self.place.lineage,
            listener: &self.runner.listener,
            cancel: &self.cancel,
        };
        self.touched.extend(calls.touched(&intents));
        let results = calls.run(&intents).await;
        self.transcript.push(Message::Results { results });
        None
    }

    fn tell(&self, news: RunNews<'_>) {
        self.runner.listener.hear(&self.place.lineage, news);
    }
}

fn record(intent: &Intent) -> IntentRecord {
    IntentRecord {
        call: intent.call.clone(),
        id: intent.wanted.id.clone(),
        name: intent.wanted.name.clone(),
    }
}

fn word(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Answered => "answered",
        StopReason::WantsTools => "wantsTools",
        StopReason::Length => "length",
        StopReason::Refused => "refused",
    }
}
