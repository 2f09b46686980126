//! `triggers run`: starts what is due, in the foreground, until it is stopped.

use std::sync::Arc;
use std::time::Duration;

use ambit_builtins::triggers::{DueRun, RunEnd, Scheduler, Starter};
use ambit_runtime::CancellationToken;
use ambit_runtime::journal::Journal;
use async_trait::async_trait;
use serde_json::json;

use super::background::Background;
use crate::cli::ask::{AskAround, Person};
use crate::cli::call::told_to_stop;
use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{BAD, GOOD, Printer, WARN, styled};
use crate::cli::setup::Setup;
use crate::config::Problem;

/// How long the process takes to end what it began.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// The scheduler of a workspace.
pub(crate) fn scheduler(setup: &Setup, starter: Arc<dyn Starter>) -> Scheduler {
    let builtins = setup.builtins();
    Scheduler {
        store: builtins.store,
        clock: builtins.clock,
        workspace: setup.workspace.clone(),
        starter,
    }
}

pub(super) fn run(setup: Setup, printer: &Printer) -> Result<Exit, Fail> {
    if setup.loaded.config.models.is_empty() {
        let problem = Problem::error("no_model", "no model is configured to run agents with");
        return Err(Fail::usage(
            problem.hint("add one to `models` in ambit.json, as for `ambit run`"),
        ));
    }
    if setup.builtins().triggers().is_on_duty() {
        printer.note(styled(
            WARN,
            "another process starts what is due here; this one takes over when it ends",
        ));
    }
    let (journal, opened) = Journal::open(&setup.places.journal())?;
    if let Some(repaired) = opened.repaired {
        printer.note(styled(WARN, format!("journal: {repaired}")));
    }
    let approver = Arc::new(AskAround {
        person: Person::Elsewhere,
        trust: Arc::clone(&setup.trust),
    });
    let (market, _servers) = setup.working_market(journal, approver)?;
    let starter = Telling {
        starter: Background::new(&setup, None, &market)?,
        printer: Printer::new(printer.is_json()),
    };
    let scheduler = scheduler(&setup, Arc::new(starter));
    let ended = setup.runtime()?.block_on(async {
        let told_to_stop = told_to_stop()?;
        let stop = CancellationToken::new();
        let scheduling = tokio::spawn(scheduler.run(stop.clone()));
        printer.note("waiting for what is due; stop with Ctrl-C");
        told_to_stop.await;
        stop.cancel();
        let _ = scheduling.await;
        if let Err(error) = market.journal().flush().await {
            printer.note(styled(BAD, format!("the journal is incomplete: {error}")));
        }
        Ok::<_, Fail>(())
    });
    setup.shut_down(PATIENCE);
    ended.map(|()| Exit::Done)
}

/// Tells what is started, and how it ended.
struct Telling {
    starter: Background,
    printer: Printer,
}

#[async_trait]
impl Starter for Telling {
    async fn start(&self, run: DueRun) -> RunEnd {
        let (trigger, agent, due) = (run.trigger.clone(), run.agent.clone(), run.due);
        if !self.printer.is_json() {
            let reason = run.reason.as_str();
            self.printer
                .line(format!("{due}  {trigger}  {agent} started ({reason})"));
        }
        let end = self.starter.start(run).await;
        let (state, said, style) = match &end {
            RunEnd::Done(said) => ("done", said, GOOD),
            RunEnd::Failed(said) => ("failed", said, BAD),
        };
        if self.printer.is_json() {
            self.printer.document(json!({
                "trigger": trigger, "agent": agent, "due": due.to_string(),
                "state": state, "said": said,
            }));
        } else {
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            let state = styled(style, state);
            self.printer
                .line(format!("{due}  {trigger}  {agent} {state}: {said}"));
        }
        end
    }
}
