//! `run`: an agent at work, shown as it happens.

pub(crate) mod agents;
mod args;
mod show;
pub(crate) mod spinner;
mod stream;
mod words;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_agent::engine::Engine;
use ambit_agent::error::EngineError;
use ambit_agent::runner::{AgentRunner, FRONT, RunError, RunListener, RunReport, Task};
use ambit_agent::scripted::{Script, ScriptedEngine};
use ambit_agent::usage::Cost;
use ambit_core::event::EventBody;
use ambit_core::manifest::ChannelFeature;
use ambit_core::run::RunEnd;
use ambit_runtime::CancellationToken;
use ambit_runtime::journal::{EventFilter, Journal, JournalReader, SessionId};
use serde_json::json;

use crate::cli::ask::{AskAround, Person};
use crate::cli::call::told_to_stop;
use crate::cli::check::grant_problem;
use crate::cli::fail::{Exit, Fail};
use crate::cli::history::no_session;
use crate::cli::printer::{BAD, Printer, WARN, styled};
use crate::cli::setup::Setup;
use crate::config::Problem;
pub(crate) use agents::{ConfiguredAgents, Wanted};
pub(crate) use args::RunArgs;
use args::RunBudget;
use show::Show;
use stream::EventStream;

/// How long the process takes to end what it began.
const PATIENCE: Duration = Duration::from_millis(1_500);

pub(crate) fn run(setup: Setup, mut args: RunArgs, printer: &Printer) -> Result<Exit, Fail> {
    let person = Person::present(args.yes);
    // Whoever runs it sits at this machine: a file is handed over by saying where it is.
    let mut channel: BTreeSet<ChannelFeature> = [ChannelFeature::SendFiles].into();
    if let Person::AtTerminal = person {
        channel.insert(ChannelFeature::AskUser);
    }
    let (journal, opened) = Journal::open(&setup.places.journal())?;
    if let Some(repaired) = opened.repaired {
        printer.note(styled(WARN, format!("journal: {repaired}")));
    }
    let resumed = match &args.resume {
        Some(text) => Some(past_session(&journal.reader()?, text, &setup.workspace)?),
        None => None,
    };
    if let Some((_, agent)) = &resumed {
        // A session belongs to its agent; nobody has to say it again.
        args.agent.agent.get_or_insert_with(|| agent.clone());
    }
    let wanted = wanted(&setup, &args)?;
    let agents = ConfiguredAgents::new(&setup, wanted, &channel)?;
    let profile = agents.chosen(&setup, &args.agent)?;
    let agent = profile.spec.agent.clone();
    let task = match (resumed, args.goal.clone()) {
        (Some((session, _)), said) => Task::GoOn { session, said },
        (None, goal) => Task::Begin(goal.unwrap_or_default()),
    };
    let (market, _servers) = setup.working_market(
        journal,
        Arc::new(AskAround {
            person,
            trust: Arc::clone(&setup.trust),
        }),
    )?;
    let began = Instant::now();
    let ran = setup.runtime()?.block_on(async {
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let told_to_stop = told_to_stop()?;
        let watching = tokio::spawn(async move {
            told_to_stop.await;
            stop.cancel();
        });
        let stream = printer
            .is_json()
            .then(|| EventStream::follow(market.journal().clone()));
        let listener: Arc<dyn RunListener> = match &stream {
            Some(stream) => stream.listener(),
            None => Arc::new(Show::new()),
        };
        let runner = AgentRunner::new(Arc::clone(&market), Arc::new(agents), listener);
        let ran = runner.run(profile, task, &cancel).await;
        watching.abort();
        if let Err(error) = market.journal().flush().await {
            printer.note(styled(BAD, format!("the journal is incomplete: {error}")));
        }
        if let Some(stream) = stream {
            stream.finish().await;
        }
        Ok::<_, Fail>(ran)
    })?;
    let outcome = match ran {
        Ok(report) => Ok(finished(&report, began.elapsed(), printer)),
        Err(RunError::Grants(problems)) => {
            let problems = problems.iter();
            let problems = problems.map(|it| grant_problem(&setup, &agent, it));
            Err(problems.collect::<Vec<Problem>>().into())
        }
        Err(error) => Err(Fail::no(not_begun(&error))),
    };
    // What still runs is dropped, and says so in the journal.
    setup.shut_down(PATIENCE);
    outcome
}

/// Reads a script.
fn scripted(path: &Path) -> Result<Arc<dyn Engine>, Fail> {
    let script = Script::read(path).map_err(|error| engine_problem(&error.into()))?;
    Ok(Arc::new(ScriptedEngine::new(script)))
}

fn engine_problem(error: &EngineError) -> Problem {
    let problem = Problem::error("model", error.to_string());
    match error.hint() {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

fn not_begun(error: &RunError) -> Problem {
    let problem = Problem::error("not_begun", error.to_string());
    match error {
        RunError::NothingToDo(session) => {
            problem.hint(format!("`ambit run --resume {session} \"…\"`"))
        }
        _ => problem,
    }
}

/// The run a person means, and whose it is: by its name, or the last one in this workspace.
fn past_session(
    reader: &JournalReader,
    text: &str,
    workspace: &Path,
) -> Result<(SessionId, String), Fail> {
    let began = |session: &SessionId| {
        let filter = EventFilter {
            session: Some(session.clone()),
            limit: Some(1),
            ..EventFilter::default()
        };
        let events = reader.events(&filter).ok()?;
        match events.into_iter().next()?.body {
            EventBody::SessionStarted {
                agent,
                workspace,
                front,
                ..
            } => Some((agent, workspace, front)),
            _ => None,
        }
    };
    if text != "last" {
        let session = reader.find_session(text).map_err(no_session)?;
        return match began(&session) {
            Some((agent, _, Some(front))) if front == FRONT => Ok((session, agent)),
            _ => {
                let message = format!("session `{session}` was not begun by `ambit run`");
                let hint = "`ambit log --type run.finished` lists runs";
                Err(Fail::no(Problem::error("not_a_run", message).hint(hint)))
            }
        };
    }
    let here = workspace.display().to_string();
    let sessions = reader.sessions()?;
    let found = sessions.iter().rev().find_map(|it| {
        let (agent, place, front) = began(&it.id)?;
        (place == here && front.as_deref() == Some(FRONT)).then(|| (it.id.clone(), agent))
    });
    found.ok_or_else(|| {
        let problem = Problem::error("no_run", "there is no run to go on with in this workspace");
        Fail::no(problem.hint("begin one with `ambit run \"…\"`"))
    })
}

/// Says how it ended.
fn finished(report: &RunReport, took: Duration, printer: &Printer) -> Exit {
    if printer.is_json() {
        let usage = &report.usage;
        printer.document(json!({
            "type": "run.summary",
            "session": report.session,
            "ended": report.ended,
            "title": report.title,
            "answer": report.answer,
            "error": report.error.as_ref().map(ToString::to_string),
            "turns": report.turns,
            "calls": report.calls,
            "usage": usage,
            "tokens": {
                "shown": report.exposure.shown,
                "whole": report.exposure.whole,
                "requested": report.exposure.requested,
                "prefix": report.exposure.prefix,
            },
            "durationMs": took.as_secs_f64() * 1000.0,
        }));
    } else {
        if report.ended == RunEnd::Answered && !show::is_live() {
            printer.line(report.answer.trim_end());
        }
        if let Some(error) = &report.error {
            printer.problem(&engine_problem(error));
        }
        words::summary(report, took)
            .iter()
            .for_each(|it| printer.note(it));
    }
    match (report.ended, &report.error) {
        (RunEnd::Answered, _) => Exit::Done,
        (
            _,
            Some(
                EngineError::Unreachable { .. }
                | EngineError::Overloaded { .. }
                | EngineError::Silent { .. },
            ),
        ) => Exit::Unreachable,
        (_, Some(EngineError::Key { .. } | EngineError::Config(_))) => Exit::Usage,
        _ => Exit::No,
    }
}

/// What was typed, over what the config says.
fn wanted(setup: &Setup, args: &RunArgs) -> Result<Wanted, Fail> {
    let mut wanted = Wanted {
        mode: args.agent.mode,
        model: args.model.clone(),
        script: args.script.as_deref().map(scripted).transpose()?,
        ..Wanted::of(setup)
    };
    let limits = &mut wanted.limits;
    limits.turns = args.max_turns.unwrap_or(limits.turns);
    match args.budget {
        Some(RunBudget::Tokens(tokens)) => limits.tokens = Some(tokens),
        Some(RunBudget::Money(money)) => limits.cost = Some(Cost::of(money)),
        None => {}
    }
    Ok(wanted)
}
