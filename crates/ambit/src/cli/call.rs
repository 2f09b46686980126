//! `call`: one call through the pipeline.

use std::io::Read;
use std::sync::Arc;

use ambit_core::code::Code;
use ambit_core::json::parse_strict;
use ambit_core::manifest::ChannelFeature;
use ambit_core::observation::{Completed, Observation};
use ambit_core::visible::VisibleSet;
use ambit_runtime::discovery::TurnRequest;
use ambit_runtime::journal::{Journal, SessionId};
use ambit_runtime::{CallReport, CallRequest, CancellationToken, ObservedCall};
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::args::CallArgs;
use crate::cli::ask::{AskAround, Person};
use crate::cli::check::grant_problem;
use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{BAD, DIM, Printer, WARN, styled};
use crate::cli::setup::Setup;
use crate::config::Problem;

pub(crate) fn call(setup: &Setup, args: CallArgs, printer: &Printer) -> Result<Exit, Fail> {
    let arguments = read_input(&args.input, setup.loaded.config.limits.input_bytes)?;
    let person = Person::present(args.yes);
    let channel = if matches!(person, Person::AtTerminal) {
        [ChannelFeature::AskUser].into()
    } else {
        Default::default()
    };
    let spec = setup.session(&args.agent, channel)?;
    let (journal, opened) = Journal::open(&setup.places.journal())?;
    if let Some(repaired) = opened.repaired {
        printer.note(styled(WARN, format!("journal: {repaired}")));
    }
    let market = setup.market(
        journal,
        Arc::new(AskAround {
            person,
            trust: Arc::clone(&setup.trust),
        }),
    )?;
    let agent = spec.agent.clone();
    setup.runtime()?.block_on(async {
        let session = market.open_session(spec).await.map_err(|problems| {
            problems
                .iter()
                .map(|it| grant_problem(setup, &agent, it))
                .collect::<Vec<Problem>>()
        })?;
        let visible = session.begin_turn(&TurnRequest::default());
        let cancel = CancellationToken::new();
        let on_interrupt = cancel.clone();
        let told_to_stop = told_to_stop()?;
        let interrupted = tokio::spawn(async move {
            told_to_stop.await;
            on_interrupt.cancel();
        });
        let report = session
            .call(
                CallRequest {
                    target: args.id.clone(),
                    arguments,
                },
                &cancel,
            )
            .await;
        interrupted.abort();
        let unwritten = market.journal().flush().await.err();
        let code = report.observation.code();
        print(report, session.id(), printer);
        if let Some(error) = unwritten {
            // The call is over; that its record is incomplete must still be heard.
            printer.note(styled(BAD, format!("the journal is incomplete: {error}")));
        }
        if code == Some(Code::NotVisible) {
            explain_hidden(&visible, &args.id, printer);
        }
        Ok(match code {
            None => Exit::Done,
            Some(Code::ProviderUnreachable | Code::LoginRequired) => Exit::Unreachable,
            Some(_) => Exit::No,
        })
    })
}

/// Ctrl-C, `kill` or the end of the terminal, from now on: each is a reason to end what was
/// started, not to leave it behind.
pub(crate) fn told_to_stop() -> std::io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

/// The caller is told the same about hidden and missing; the person at the terminal may know more.
fn explain_hidden(visible: &VisibleSet, target: &str, printer: &Printer) {
    match visible.find_hidden(target) {
        Some((id, reason)) => printer.note(styled(
            DIM,
            format!("`{id}` exists, and is hidden: {reason}"),
        )),
        None => {
            let names = visible
                .entries()
                .iter()
                .flat_map(|it| [it.id.as_str(), it.id.name()]);
            let near = ambit_core::suggest::suggest(target, names);
            let hint = ambit_core::suggest::did_you_mean(&near)
                .unwrap_or_else(|| "`ambit ls` lists what there is".to_owned());
            printer.note(styled(DIM, hint));
        }
    }
}

fn print(report: CallReport, session: &SessionId, printer: &Printer) {
    if printer.is_json() {
        let observed = serde_json::to_value(ObservedCall::new(session, report));
        return printer.document(observed.unwrap_or_default());
    }
    match &report.observation {
        Observation::Completed(completed) => print_result(completed, printer),
        other => {
            let code = other.code().map_or("", Code::as_str);
            let line = format!(
                "{} ({code}): {}",
                other.status(),
                other.reason().unwrap_or_default()
            );
            printer.note(styled(BAD, line));
        }
    }
}

fn print_result(completed: &Completed, printer: &Printer) {
    for block in &completed.output.content {
        match block.as_text() {
            Some(text) if text.ends_with('\n') => printer.raw(text),
            Some(text) => printer.raw(&format!("{text}\n")),
            None => printer.json_line(block),
        }
    }
    completed
        .notes
        .iter()
        .for_each(|it| printer.note(styled(DIM, it)));
}

/// The arguments: inline, from a file, or from standard input; never more than the limit.
fn read_input(input: &str, limit: u64) -> Result<Value, Fail> {
    let bad = |code, message: String| {
        Fail::usage(
            Problem::error(code, message)
                .hint("`--input` takes JSON, `@FILE`, or `-` for standard input"),
        )
    };
    let read = |from: &mut dyn Read| -> Result<Vec<u8>, Fail> {
        let mut bytes = Vec::new();
        from.take(limit + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = match input.strip_prefix('@') {
        _ if input == "-" => read(&mut std::io::stdin().lock())?,
        Some(path) => {
            let mut file = std::fs::File::open(path).map_err(|error| {
                bad(
                    "input_unreadable",
                    format!("`{path}` cannot be read: {error}"),
                )
            })?;
            read(&mut file)?
        }
        None => input.as_bytes().to_vec(),
    };
    if bytes.len() as u64 > limit {
        let message = format!("the input is larger than {limit} bytes");
        return Err(Fail::no(
            Problem::error("input_too_large", message)
                .hint("`limits.inputBytes` in ambit.json raises the limit"),
        ));
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| bad("input_not_utf8", format!("the input is not UTF-8: {error}")))?;
    parse_strict(text).map_err(|error| {
        bad(
            "input_not_json",
            format!("the input is not usable JSON: {error}"),
        )
    })
}
