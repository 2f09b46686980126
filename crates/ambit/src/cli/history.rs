//! `log` and `replay`: what happened, and does it reproduce.

use ambit_core::event::EventBody;
use ambit_runtime::journal::{Event, EventFilter, Journal, JournalError, JournalReader};
use ambit_runtime::replay;
use serde_json::json;

use crate::cli::args::{LogArgs, LogCommand, ReplayArgs};
use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{BAD, BOLD, DIM, GOOD, Printer, WARN, columns, fit, styled};
use crate::config::Problem;
use crate::places::Places;

pub(crate) fn reader() -> Result<JournalReader, Fail> {
    let path = Places::from_process()?.journal();
    if !path.exists() {
        return Err(Fail::no(
            Problem::error("no_journal", "nothing has been recorded yet")
                .hint("`ambit call` records what it does"),
        ));
    }
    Ok(Journal::open_read_only(&path)?)
}

pub(crate) fn log(args: LogArgs, printer: &Printer) -> Result<Exit, Fail> {
    match args.command {
        Some(LogCommand::Verify) => verify(printer),
        Some(LogCommand::Sessions) => sessions(printer),
        None => events(&args, printer),
    }
}

fn events(args: &LogArgs, printer: &Printer) -> Result<Exit, Fail> {
    let reader = reader()?;
    let session = args
        .session
        .as_deref()
        .map(|it| reader.find_session(it))
        .transpose()
        .map_err(no_session)?;
    let filter = EventFilter {
        session,
        types: args.types.clone(),
        ..EventFilter::default()
    };
    let mut events = reader.events(&filter)?;
    if let Some(limit) = args.limit {
        events.drain(..events.len().saturating_sub(limit));
    }
    if printer.is_json() {
        events.iter().for_each(|it| printer.json_line(it));
        return Ok(Exit::Done);
    }
    let mut session = None;
    for event in &events {
        if session != Some(&event.session) {
            printer.line(styled(BOLD, format!("session {}", event.session)));
            session = Some(&event.session);
        }
        let time = event.at.strftime("%H:%M:%S%.3f");
        printer.line(format!(
            "{:>6}  {}  {:<20} {}",
            event.seq,
            styled(DIM, time),
            event.body.type_name(),
            fit(&describe(&event.body), 110)
        ));
    }
    Ok(Exit::Done)
}

/// One line about an event.
fn describe(body: &EventBody) -> String {
    match body {
        EventBody::SessionStarted {
            agent,
            mode,
            workspace,
            ..
        } => format!("{agent}, mode {}, in {workspace}", mode.as_str()),
        EventBody::SessionResumed { mode, turn, .. } => {
            format!("after turn {turn}, mode {}", mode.as_str())
        }
        EventBody::SessionEnded { turn } => format!("after turn {turn}"),
        EventBody::CatalogChanged {
            revision, change, ..
        } => {
            format!(
                "revision {revision}: {} added, {} removed, {} changed",
                change.added.len(),
                change.removed.len(),
                change.changed.len()
            )
        }
        EventBody::CapabilityQuarantined { id, reason, .. } => format!("{id}: {reason}"),
        EventBody::TurnStarted { turn, input, .. } => {
            let goal = input.relevance.first().map_or("", |it| it.text.as_str());
            format!("turn {turn}, mode {} {goal}", input.mode.as_str())
        }

        EventBody::CapabilityDiff { diff, .. } => {
            format!(
                "{} visible now, {} no longer",
                diff.added.len(),
                diff.removed.len()
            )
        }
        EventBody::SearchPerformed {
            query, candidates, ..
        } => format!("{query}: {} candidates", candidates.len()),
        EventBody::CapabilityLoaded { id, .. } => id.to_string(),
        EventBody::ToolIntent {
            target, arguments, ..
        } => format!("{target} {arguments}"),
        EventBody::CapabilityRefused { target, why, .. } => match why {
            Some(why) => format!("{target}: {why}"),
            None => format!("{target}: there is no such capability"),
        },
        EventBody::ToolValidation { problems, .. } if problems.is_empty() => {
            "arguments fit".to_owned()
        }
        EventBody::ToolValidation { problems, .. } => ambit_core::schema::describe(problems),
        EventBody::ToolPermission { decision, .. } => {
            serde_json::to_string(decision).unwrap_or_default()
        }
        EventBody::ApprovalRequested { reason, .. } => reason.to_string(),
        EventBody::ApprovalDecided { outcome, .. } => {
            serde_json::to_string(outcome).unwrap_or_default()
        }
        EventBody::HookDecided { notes, refused, .. } => {
            refused.clone().unwrap_or_else(|| notes.join("; "))
        }
        EventBody::ToolStarted { id, effects, .. } => format!("{id} ({effects})"),
        EventBody::ToolObservation(record) => match &record.reason {
            Some(reason) => format!(
                "{} {}: {reason}",
                record.status,
                record.code.map_or("", |it| it.as_str())
            ),
            None => format!(
                "{}, {} bytes, {} ms",
                record.status, record.bytes, record.duration_ms
            ),
        },
        EventBody::MessageUser { text, .. } => text.clone(),
        EventBody::ModelRequested {
            model,
            messages,
            tokens,
            ..
        } => format!("{model}, {messages} messages, {} tokens", tokens.total()),
        EventBody::ModelResponded { text, intents, .. } => {
            let names: Vec<&str> = intents.iter().map(|it| it.name.as_str()).collect();
            match names.is_empty() {
                true => text.clone(),
                false => format!("calls {} {text}", names.join(", ")),
            }
        }
        EventBody::ModelFailed { reason, .. } => reason.clone(),
        EventBody::MessageResults { turn, .. } => format!("of turn {turn}"),
        EventBody::ContextCompacted { from, to, .. } => format!("{from} to {to} tokens"),
        EventBody::RunFinished { title, ended, .. } => format!("{}: {title}", ended.as_str()),
        EventBody::DelegationStarted { agent, task, .. } => format!("{agent}: {task}"),
        EventBody::DelegationFinished { child, ended, .. } => {
            format!("{}: session {child}", ended.as_str())
        }
    }
}

fn sessions(printer: &Printer) -> Result<Exit, Fail> {
    let sessions = reader()?.sessions()?;
    if printer.is_json() {
        printer.document(json!({"sessions": sessions}));
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = sessions
        .iter()
        .map(|it| {
            vec![
                it.id.to_string(),
                it.agent.clone().unwrap_or_default(),
                format!("{} events", it.events),
                it.last.strftime("%Y-%m-%d %H:%M:%S").to_string(),
            ]
        })
        .collect();
    columns(&rows).iter().for_each(|it| printer.line(it));
    Ok(Exit::Done)
}

fn verify(printer: &Printer) -> Result<Exit, Fail> {
    let report = reader()?.verify()?;
    let whole = report.damage.is_none();
    if printer.is_json() {
        let mut document = serde_json::to_value(&report).unwrap_or_default();
        if let Some(map) = document.as_object_mut() {
            map.insert("ok".to_owned(), json!(whole));
        }
        printer.document(document);
    } else {
        match &report.damage {
            None => printer.line(format!(
                "{} {} events in {} sessions, every chain whole",
                styled(GOOD, "ok"),
                report.events,
                report.sessions
            )),
            Some(damage) => printer.line(format!("{} {damage}", styled(BAD, "damaged"))),
        }
        for it in &report.unfinished {
            printer.line(styled(
                WARN,
                format!(
                    "event {}: call {} of session {} began and has no end on record",
                    it.seq, it.call, it.session
                ),
            ));
        }
    }
    Ok(if whole { Exit::Done } else { Exit::No })
}

pub(crate) fn replay(args: &ReplayArgs, printer: &Printer) -> Result<Exit, Fail> {
    let reader = reader()?;
    let session = reader.find_session(&args.session).map_err(no_session)?;
    let events: Vec<Event> = reader.events(&EventFilter {
        session: Some(session.clone()),
        ..EventFilter::default()
    })?;
    let report = replay::replay(&events, |digest| reader.object(digest).ok().flatten());
    let same = report.differences.is_empty();
    if printer.is_json() {
        let mut document = serde_json::to_value(&report).unwrap_or_default();
        if let Some(map) = document.as_object_mut() {
            map.insert("session".to_owned(), json!(session));
            map.insert("same".to_owned(), json!(same));
        }
        printer.document(document);
    } else {
        let counted = format!(
            "{} turns, {} calls, {} decisions reproduced",
            report.turns, report.calls, report.reproduced
        );
        match report.differences.first() {
            None => printer.line(format!("{} {session}: {counted}", styled(GOOD, "same"))),
            Some(first) => printer.line(format!(
                "{} {session}: event {}: {}",
                styled(BAD, "different"),
                first.seq,
                first.what
            )),
        }
        for it in &report.unverifiable {
            printer.note(styled(
                DIM,
                format!("event {} cannot be recomputed: {}", it.seq, it.what),
            ));
        }
    }
    Ok(if same { Exit::Done } else { Exit::No })
}

pub(crate) fn no_session(error: JournalError) -> Fail {
    let hint = error
        .hint()
        .unwrap_or_else(|| "`ambit log sessions` lists them".to_owned());
    Fail::no(Problem::error("unknown_session", error.to_string()).hint(hint))
}
