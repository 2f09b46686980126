//! `trust` and `approvals`: what a person accepts, and what waits for one.

use std::path::PathBuf;

use ambit_core::digest::Digest;
use ambit_core::permission::Answer;
use serde_json::{Value, json};

use crate::cli::args::{ApprovalScope, ApprovalsCommand, TrustCommand};
use crate::cli::definitions;
use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{BOLD, DIM, GOOD, Printer, WARN, columns, counted, styled};
use crate::cli::proposals;
use crate::cli::setup::{Setup, working_directory};
use crate::config::{Problem, find_project};
use crate::places::Places;
use crate::trust::{HeldEdit, ProjectTrust, Scope, TrustStore};

pub(crate) fn trust(command: Option<TrustCommand>, printer: &Printer) -> Result<Exit, Fail> {
    let places = Places::from_process()?;
    let store = TrustStore::open(&places)?;
    match command {
        // Where there is no project, there may still be something to be told.
        None => match this_project(&places) {
            Err(_) if something_waits(&store)? => list(&places, &store, printer),
            _ => accept(&places, &store, printer),
        },
        Some(TrustCommand::Ls) => list(&places, &store, printer),
        Some(TrustCommand::Accept { ids, server, edit }) => match edit.is_empty() {
            true => definitions::accept(&store, &ids, &server, printer),
            false => proposals::accept(&places, &store, &edit, printer),
        },
        Some(TrustCommand::Drop { number }) => proposals::drop(&store, number, printer),
        Some(TrustCommand::Reload) => reload(&store, printer),
        Some(TrustCommand::Revoke { path }) => {
            let path = match path {
                Some(path) => path.canonicalize().unwrap_or(path),
                None => this_project(&places)?,
            };
            let was = store.revoke_project(&path)? > 0;
            if printer.is_json() {
                printer.document(json!({"path": path, "revoked": was}));
            } else {
                printer.line(format!(
                    "{} {}",
                    if was {
                        "no longer trusted:"
                    } else {
                        "was not trusted:"
                    },
                    path.display()
                ));
            }
            Ok(if was { Exit::Done } else { Exit::No })
        }
    }
}

fn something_waits(store: &TrustStore) -> Result<bool, Fail> {
    Ok(!store.held_definitions()?.is_empty() || !store.proposed_edits()?.is_empty())
}

fn this_project(places: &Places) -> Result<PathBuf, Fail> {
    find_project(&working_directory()?, places.config_file()).ok_or_else(|| {
        Fail::usage(
            Problem::error("no_project", "there is no ambit.json here or above")
                .hint("`ambit init --starter` writes one"),
        )
    })
}

/// Accepts the project's file as it is now. What it says must be sound first: nobody can accept
/// what nobody can read.
fn accept(places: &Places, store: &TrustStore, printer: &Printer) -> Result<Exit, Fail> {
    let path = this_project(places)?;
    let setup = Setup::read(true)?;
    let Some(project) = setup.loaded.project.as_ref().filter(|it| it.path == path) else {
        return Err(Fail::usage(Problem::error(
            "no_project",
            format!("`{}` went away", path.display()),
        )));
    };
    let before = store.project_trust(&path, &project.digest)?;
    store.accept_project(&path, &project.digest)?;
    if printer.is_json() {
        printer.document(json!({
            "path": path, "digest": project.digest, "was": trust_word(&before),
            "definitions": definitions::as_json(&store.held_definitions()?),
        }));
        return Ok(Exit::Done);
    }
    let verb = if before == ProjectTrust::Trusted {
        "already trusted"
    } else {
        "trusted"
    };
    printer.line(format!("{} {}", styled(GOOD, verb), path.display()));
    for (name, agent) in &setup.loaded.config.agents {
        let keys: Vec<_> = agent.capabilities.0.keys().map(String::as_str).collect();
        printer.line(format!(
            "  agent {}: {} {}",
            styled(BOLD, name),
            keys.join(", "),
            styled(
                DIM,
                format!("(mode {})", setup.loaded.config.mode_of(agent).as_str())
            )
        ));
    }
    printer.note(styled(
        DIM,
        "any change to the file has to be accepted again",
    ));
    definitions::print(&store.held_definitions()?, printer);
    proposals::print(&store.proposed_edits()?, printer);
    Ok(Exit::Done)
}

/// Accepts what a running server holds back: those edits, and no later ones.
fn reload(store: &TrustStore, printer: &Printer) -> Result<Exit, Fail> {
    let held = store.held_edits()?;
    for edit in &held {
        store.accept_project(&edit.path, &edit.digest)?;
        store.release_edit(&edit.path)?;
    }
    if printer.is_json() {
        let accepted: Vec<Value> = held.iter().map(held_json).collect();
        printer.document(json!({"accepted": accepted}));
    } else if held.is_empty() {
        printer.note("no edit is held back");
    }
    if !printer.is_json() {
        for edit in &held {
            printer.line(format!(
                "{} {}",
                styled(GOOD, "accepted"),
                edit.path.display()
            ));
            edit.what
                .lines()
                .for_each(|it| printer.line(format!("  {it}")));
        }
    }
    Ok(if held.is_empty() {
        Exit::No
    } else {
        Exit::Done
    })
}

fn held_json(edit: &HeldEdit) -> Value {
    json!({
        "path": edit.path,
        "digest": edit.digest,
        "what": edit.what.lines().collect::<Vec<_>>(),
        "at": edit.at.to_string(),
    })
}

fn trust_word(trust: &ProjectTrust) -> &'static str {
    match trust {
        ProjectTrust::Trusted => "trusted",
        ProjectTrust::Changed { .. } => "changed",
        ProjectTrust::Unknown => "unknown",
    }
}

fn list(places: &Places, store: &TrustStore, printer: &Printer) -> Result<Exit, Fail> {
    let accepted = store.accepted_projects()?;
    let definitions = store.held_definitions()?;
    let held = store.held_edits()?;
    let proposed = store.proposed_edits()?;
    let here = find_project(&working_directory()?, places.config_file());
    let waiting = here.and_then(|path| {
        let digest = Digest::of_bytes(&std::fs::read(&path).ok()?);
        let trust = store.project_trust(&path, &digest).ok()?;
        (trust != ProjectTrust::Trusted).then_some((path, trust))
    });
    if printer.is_json() {
        let projects: Vec<Value> = accepted
            .iter()
            .map(|it| json!({"path": it.path, "digest": it.digest, "at": it.at.to_string()}))
            .collect();
        let waiting: Vec<Value> = waiting
            .iter()
            .map(|(path, trust)| json!({"path": path, "was": trust_word(trust)}))
            .collect();
        let held: Vec<Value> = held.iter().map(held_json).collect();
        printer.document(json!({
            "projects": projects, "waiting": waiting, "held": held,
            "pinned": store.pinned_definitions()?, "definitions": definitions::as_json(&definitions),
            "proposed": proposals::as_json(&proposed),
        }));
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = accepted
        .iter()
        .map(|it| {
            vec![
                it.path.display().to_string(),
                it.digest.short(),
                it.at.to_string(),
            ]
        })
        .collect();
    columns(&rows).iter().for_each(|it| printer.line(it));
    if let Some((path, trust)) = &waiting {
        printer.line(format!(
            "{} {} ({}); accept it with `ambit trust`",
            styled(WARN, "waits"),
            path.display(),
            trust_word(trust)
        ));
    }
    for edit in &held {
        printer.line(format!(
            "{} {}, held back by a running `ambit serve`; accept it with `ambit trust reload`",
            styled(WARN, "waits"),
            edit.path.display(),
        ));
        edit.what
            .lines()
            .for_each(|it| printer.line(format!("  {it}")));
    }
    let pinned = store.pinned_definitions()?;
    if pinned > 0 {
        let count = counted(pinned as usize, "definition", "definitions");
        printer.line(format!("{count} of servers' tools"));
    }
    definitions::print(&definitions, printer);
    proposals::print(&proposed, printer);
    let nothing_waits =
        waiting.is_none() && held.is_empty() && definitions.is_empty() && proposed.is_empty();
    if accepted.is_empty() && pinned == 0 && nothing_waits {
        printer.note("nothing has been accepted, and nothing waits");
    }
    Ok(Exit::Done)
}

pub(crate) fn approvals(
    command: Option<ApprovalsCommand>,
    printer: &Printer,
) -> Result<Exit, Fail> {
    let store = TrustStore::open(&Places::from_process()?)?;
    match command {
        None => show(&store, printer),
        Some(ApprovalsCommand::Allow { number, scope }) => {
            let answer = match scope {
                ApprovalScope::Once => Answer::Once,
                ApprovalScope::Session => Answer::Session,
                ApprovalScope::Always => Answer::Always,
            };
            decide(&store, number, answer, printer)
        }
        Some(ApprovalsCommand::Deny { number }) => decide(&store, number, Answer::Deny, printer),
        Some(ApprovalsCommand::Revoke { number }) => {
            let was = store.remove_standing(number)?;
            if printer.is_json() {
                printer.document(json!({"revoked": was}));
            } else {
                printer.line(if was {
                    "taken back"
                } else {
                    "there is no standing approval of that number"
                });
            }
            Ok(if was { Exit::Done } else { Exit::No })
        }
    }
}

fn decide(
    store: &TrustStore,
    number: i64,
    answer: Answer,
    printer: &Printer,
) -> Result<Exit, Fail> {
    let (decided, answer) = match store.decide(number, answer) {
        Ok(decided) => decided,
        Err(error @ crate::trust::TrustError::NoSuchRequest(_)) => {
            return Err(Fail::no(
                Problem::error("no_such_request", error.to_string())
                    .hint("`ambit approvals` lists what waits"),
            ));
        }
        Err(error) => return Err(error.into()),
    };
    let request = &decided.request;
    if printer.is_json() {
        printer.document(json!({"number": number, "id": request.capability, "answer": answer}));
    } else if answer == Answer::Deny {
        printer.line(format!(
            "denied {} for {}",
            request.capability, request.agent
        ));
    } else {
        printer.line(format!(
            "{} {} for {}; the call may be tried again now",
            styled(GOOD, "allowed"),
            request.capability,
            request.agent
        ));
    }
    Ok(Exit::Done)
}

fn show(store: &TrustStore, printer: &Printer) -> Result<Exit, Fail> {
    let pending = store.pending()?;
    let standing = store.standing(None)?;
    if printer.is_json() {
        let pending: Vec<Value> = pending
            .iter()
            .map(|it| {
                let arguments: Value = serde_json::from_str(&it.request.arguments).unwrap_or(Value::Null);
                json!({"number": it.n, "agent": it.request.agent, "session": it.request.session, "id": it.request.capability,
                    "arguments": arguments, "why": it.request.why, "call": it.request.call, "at": it.at.to_string()})
            })
            .collect();
        let standing: Vec<Value> = standing
            .iter()
            .map(|it| {
                let scope = if it.scope == Scope::Always { "always" } else { "session" };
                json!({"number": it.n, "agent": it.agent, "id": it.capability, "definition": it.definition, "scope": scope, "at": it.at.to_string()})
            })
            .collect();
        printer.document(json!({"pending": pending, "standing": standing}));
        return Ok(Exit::Done);
    }
    for it in &pending {
        printer.line(format!(
            "{}  {} wants {}",
            styled(WARN, it.n),
            styled(BOLD, &it.request.agent),
            styled(BOLD, &it.request.capability)
        ));
        printer.line(format!("   {}", it.request.arguments));
        printer.line(styled(
            DIM,
            format!("   {}; since {}", it.request.why, it.at),
        ));
    }
    for it in &standing {
        let (agent, capability) = (&it.agent, &it.capability);
        let what = match &it.scope {
            Scope::Always => format!("{agent} may always use {capability}"),
            Scope::Session(session) => format!("{agent} may use {capability} in {session}"),
        };
        printer.line(format!("{}  {what}", styled(GOOD, it.n)));
    }
    match (pending.is_empty(), standing.is_empty()) {
        (true, true) => printer.note("nothing waits, and nothing stands"),
        (false, _) => printer.note(styled(DIM, "decide with `ambit approvals allow N [--for session|always]` or `ambit approvals deny N`")),
        (true, false) => printer.note(styled(DIM, "nothing waits; take back with `ambit approvals revoke N`")),
    }
    Ok(Exit::Done)
}
