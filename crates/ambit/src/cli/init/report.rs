//! What `init` says: what was found, who uses what, what was or would be done, and what comes
//! next. Values of secrets are in none of it.

use std::path::Path;

use ambit_core::printable::printable;
use serde_json::{Value, json};

use super::cost::Cost;
use crate::cli::args::InitArgs;
use crate::cli::printer::{BAD, BOLD, DIM, GOOD, Printer, WARN, columns, counted, fit, styled};
use crate::takeover::{
    Applied, Fate, FileState, KeptReason, Note, Plan, Planned, Scanned, Scope, SkillFolder,
};

/// What became of a client's file.
pub(super) enum Outcome {
    Planned,
    Applied(Applied),
    Refused(String),
}

/// Everything there is to say.
pub(super) struct Report<'a> {
    pub(super) args: &'a InitArgs,
    pub(super) scanned: &'a [Scanned],
    pub(super) config: &'a Path,
    pub(super) home: &'a Path,
    pub(super) skills: Vec<SkillFolder>,
    pub(super) plan: Plan,
    /// One for each of the plan's rewires.
    pub(super) outcomes: Vec<Outcome>,
    pub(super) cost: Option<Cost>,
}

/// How wide the way a server is reached may be.
const WIDTH: usize = 60;

impl Report<'_> {
    pub(super) fn is_refused(&self) -> bool {
        let mut outcomes = self.outcomes.iter();
        outcomes.any(|it| matches!(it, Outcome::Refused(_)))
    }

    pub(super) fn print(&self, printer: &Printer) {
        self.print_found(printer);
        self.print_servers(printer);
        self.print_done(printer);
        if let Some(cost) = &self.cost {
            print_cost(cost, printer);
        }
        printer.note(format!("next: {}", self.next()));
    }

    fn found(&self) -> impl Iterator<Item = &Scanned> {
        self.scanned.iter().filter(|it| match &it.state {
            FileState::Absent => false,
            FileState::Unusable(_) => it.file.scope != Scope::Local,
            FileState::Read { servers, .. } => !servers.is_empty(),
        })
    }

    fn shown(&self, path: &Path) -> String {
        shown(path, self.home)
    }

    fn print_found(&self, printer: &Printer) {
        let mut rows = Vec::new();
        for it in self.found() {
            let state = match &it.state {
                FileState::Unusable(why) => format!("left alone: {}", printable(why)),
                _ => counted(it.servers().len(), "server", "servers"),
            };
            let whose = match it.file.scope {
                Scope::User => "",
                Scope::Local => "(for this folder)",
                Scope::Project => "(this folder's)",
            };
            rows.push(vec![
                it.file.client.to_string(),
                self.shown(&it.file.path),
                format!("{state} {whose}").trim_end().to_owned(),
            ]);
        }
        for it in &self.skills {
            let read = match it.is_read {
                true => "",
                false => ", which Ambit does not read",
            };
            let skills = counted(it.skills, "skill", "skills");
            rows.push(vec![
                "skills".to_owned(),
                self.shown(&it.path),
                format!("{skills}{read}"),
            ]);
        }
        if rows.is_empty() {
            return printer.line("no client with MCP servers was found");
        }
        printer.line(styled(BOLD, "found"));
        columns(&rows)
            .iter()
            .for_each(|it| printer.line(format!("  {it}")));
    }

    fn print_servers(&self, printer: &Printer) {
        let plan = &self.plan;
        if !plan.servers.is_empty() {
            printer.line(styled(BOLD, "servers"));
        }
        let rows: Vec<Vec<String>> = plan.servers.iter().map(server_row).collect();
        for (line, it) in columns(&rows).iter().zip(&plan.servers) {
            printer.line(format!("  {line}"));
            for note in server_notes(it) {
                printer.line(styled(DIM, format!("      {note}")));
            }
        }
        for it in self.scanned {
            for (server, reason) in kept(it) {
                printer.line(format!(
                    "  {} stays with {}: {}",
                    printable(server),
                    it.file.client,
                    reason.text()
                ));
            }
        }
    }

    fn print_done(&self, printer: &Printer) {
        let plan = &self.plan;
        let dry = self.args.dry_run;
        let added = plan.servers.iter().filter(|it| it.fate == Fate::Added);
        let path = self.shown(self.config);
        match (plan.config.is_some(), dry) {
            (true, dry) => {
                let verb = if dry { "would add" } else { "added" };
                let servers = counted(added.count(), "server", "servers");
                printer.line(format!("{verb} {servers} to {path}"));
            }
            (false, _) if !plan.servers.is_empty() => {
                printer.line(format!("{path} has all of them"));
            }
            _ => {}
        }
        if !plan.secrets.is_empty() {
            let verb = if dry { "would move" } else { "moved" };
            let secrets = counted(plan.secrets.len(), "value", "values");
            printer.line(format!("{verb} {secrets} into the secret store"));
        }
        for (rewire, outcome) in plan.rewires.iter().zip(&self.outcomes) {
            let (client, path) = (rewire.client, self.shown(&rewire.path));
            match (outcome, &rewire.after) {
                (Outcome::Planned, Err(error)) => {
                    printer.line(format!(
                        "{client} cannot be pointed at Ambit: {path}: {error}"
                    ));
                }
                (Outcome::Planned, Ok(_)) if dry && self.args.apply => {
                    printer.line(format!("would point {client} at Ambit: {path}"));
                }
                (Outcome::Planned, Ok(_)) => {}
                (Outcome::Applied(_), _) => {
                    printer.line(format!(
                        "{} {client} starts Ambit now: {path}",
                        styled(GOOD, "ok")
                    ));
                }
                (Outcome::Refused(why), _) => {
                    printer.line(format!("{} {client}: {path}: {why}", styled(BAD, "no")));
                }
            }
        }
        if plan.has_agents && plan.config.is_some() {
            printer.line(styled(
                WARN,
                "your ambit.json names agents: grant the new servers in their `capabilities`",
            ));
        }
    }

    fn next(&self) -> String {
        let editable = self.plan.rewires.iter().filter(|it| it.after.is_ok());
        let clients: Vec<&str> = editable.map(|it| it.client.as_str()).collect();
        let flags = match self.args.project {
            true => " --project",
            false => "",
        };
        if self
            .outcomes
            .iter()
            .any(|it| matches!(it, Outcome::Applied(_)))
        {
            return "restart these clients; `ambit doctor` tries every server, `ambit init --undo` goes back".to_owned();
        }
        if self.args.dry_run && self.plan.config.is_some() {
            return format!(
                "`ambit init{flags}` writes ambit.json, with `--apply` the clients' files too"
            );
        }
        if !clients.is_empty() && !self.args.apply {
            return format!(
                "`ambit init{flags} --apply` points {} at Ambit, `ambit init --undo` takes that back",
                clients.join(", ")
            );
        }
        let here = self.found().filter(|it| it.file.scope != Scope::User);
        if !self.args.project && here.into_iter().next().is_some() {
            return "`ambit init --project` takes over what is configured for this folder"
                .to_owned();
        }
        match self.plan.servers.is_empty() {
            true => "`ambit add NAME -- COMMAND…` adds a server, `ambit init --starter` writes a commented ambit.json here".to_owned(),
            false => "`ambit ls` shows what there is".to_owned(),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let found: Vec<Value> = self.found().map(found_json).collect();
        let servers: Vec<Value> = self.plan.servers.iter().map(server_json).collect();
        let rewires = self.plan.rewires.iter().zip(&self.outcomes);
        let clients: Vec<Value> = rewires
            .map(|(it, outcome)| {
                let (state, why, backup) = match outcome {
                    Outcome::Planned => (
                        "planned",
                        it.after.as_ref().err().map(ToString::to_string),
                        None,
                    ),
                    Outcome::Applied(it) => ("applied", None, Some(&it.backup)),
                    Outcome::Refused(why) => ("refused", Some(why.clone()), None),
                };
                json!({
                    "client": it.client.as_str(), "path": it.path, "digest": it.expected,
                    "servers": it.taken, "state": state, "why": why, "backup": backup,
                })
            })
            .collect();
        let skills: Vec<Value> = self
            .skills
            .iter()
            .map(|it| json!({"path": it.path, "skills": it.skills, "read": it.is_read}))
            .collect();
        json!({
            "dryRun": self.args.dry_run,
            "found": found,
            "skills": skills,
            "servers": servers,
            "config": {"path": self.config, "changes": self.plan.config.is_some()},
            "secrets": self.plan.secrets.iter().map(|it| &it.name).collect::<Vec<_>>(),
            "clients": clients,
            "tokens": self.cost,
            "next": self.next(),
        })
    }
}

/// A path as people write it.
pub(super) fn shown(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(below) => format!("~/{}", below.display()),
        Err(_) => path.display().to_string(),
    }
}

/// The servers that stay with their client. That Ambit stays needs no mention.
fn kept(scanned: &Scanned) -> impl Iterator<Item = (&str, KeptReason)> {
    let servers = scanned.servers().iter();
    servers.filter_map(|it| match it.launch {
        Err(KeptReason::Ambit) | Ok(_) => None,
        Err(reason) => Some((it.name.as_str(), reason)),
    })
}

fn server_row(it: &Planned) -> Vec<String> {
    let mut clients: Vec<&str> = it.uses.iter().map(|it| it.client.as_str()).collect();
    clients.dedup();
    vec![
        it.name.clone(),
        clients.join(", "),
        fit(&reached(it), WIDTH),
    ]
}

/// How it is reached, without what may be secret.
fn reached(it: &Planned) -> String {
    let member = |key: &str| it.entry.iter().find(|(name, _)| name == key);
    let text = |key: &str| member(key).and_then(|(_, it)| it.as_str()).unwrap_or("");
    if let Some(url) = text("url").split('?').next().filter(|it| !it.is_empty()) {
        return printable(url);
    }
    let args = member("args").and_then(|(_, it)| it.as_array());
    let args = args.into_iter().flatten().filter_map(Value::as_str);
    let args: Vec<&str> = match it.notes.contains(&Note::SecretInSight) {
        true => vec!["…"],
        false => args.collect(),
    };
    printable(format!("{} {}", text("command"), args.join(" ")).trim_end())
}

fn server_notes(it: &Planned) -> Vec<String> {
    let mut notes = Vec::new();
    match it.fate {
        Fate::Added => {}
        Fate::Present => notes.push("in ambit.json already".to_owned()),
        Fate::Differs => notes.push("ambit.json has another of this name, which stays".to_owned()),
    }
    if it.uses.len() > 1 {
        notes.push(format!("configured {} times, kept once", it.uses.len()));
    }
    let renamed = it.uses.iter().find(|usage| usage.name != it.name);
    if let Some(usage) = renamed {
        let name = printable(&usage.name);
        notes.push(format!("called `{name}` in {}", usage.client));
    }
    if it.disabled {
        notes.push("switched off".to_owned());
    }
    notes.extend(it.secrets.iter().map(|it| format!("secret `{it}`")));
    notes.extend(it.notes.iter().map(|it| printable(&it.text())));
    notes
}

fn print_cost(cost: &Cost, printer: &Printer) {
    let known = match (cost.before, cost.after) {
        (0, _) => "not known yet".to_owned(),
        (before, Some(after)) => {
            format!("{before} for the tools of all servers in full before, {after} shown by Ambit")
        }
        (before, None) => format!("{before} for the tools of all servers in full"),
    };
    let unseen = match cost.unseen.as_slice() {
        [] => String::new(),
        unseen => format!(
            "; nothing is known of {}: `ambit init --look` connects them",
            unseen.join(", ")
        ),
    };
    printer.line(format!("tokens: {known}{unseen}"));
}

fn found_json(it: &Scanned) -> Value {
    let scope = match it.file.scope {
        Scope::User => "user",
        Scope::Local => "local",
        Scope::Project => "project",
    };
    let why = match &it.state {
        FileState::Unusable(why) => Some(why),
        FileState::Absent | FileState::Read { .. } => None,
    };
    let servers: Vec<&str> = it.servers().iter().map(|it| it.name.as_str()).collect();
    let kept: Vec<Value> = kept(it)
        .map(|(name, reason)| json!({"name": name, "why": reason.text()}))
        .collect();
    json!({
        "client": it.file.client.as_str(), "scope": scope, "path": it.file.path,
        "servers": servers, "stay": kept, "unusable": why,
    })
}

fn server_json(it: &Planned) -> Value {
    let uses: Vec<Value> = it
        .uses
        .iter()
        .map(|it| json!({"client": it.client.as_str(), "path": it.path, "name": it.name}))
        .collect();
    let notes: Vec<Value> = it
        .notes
        .iter()
        .map(|it| json!({"code": it.code(), "message": it.text()}))
        .collect();
    json!({
        "name": it.name, "state": it.fate.as_str(), "disabled": it.disabled,
        "uses": uses, "secrets": it.secrets, "notes": notes,
    })
}
