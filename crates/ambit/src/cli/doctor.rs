//! `doctor`: each part of the installation, whether it works, and what to do if not. Works with a
//! broken configuration: that is when it is needed.

use ambit_runtime::approver::NobodyThere;
use ambit_runtime::journal::Journal;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::cli::fail::{Exit, Fail, with_sources};
use crate::cli::printer::{BAD, DIM, GOOD, Printer, WARN, styled};
use crate::cli::setup::Setup;
use crate::config::Severity;
use crate::places::Places;
use crate::secrets::SecretStore;
use crate::trust::TrustStore;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Health {
    Fine,
    Odd,
    Broken,
}

struct Finding {
    part: &'static str,
    health: Health,
    what: String,
    hint: Option<String>,
}

impl Finding {
    fn new(part: &'static str, health: Health, what: impl Into<String>) -> Self {
        Finding {
            part,
            health,
            what: what.into(),
            hint: None,
        }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

pub(crate) fn doctor(trust_project: bool, printer: &Printer) -> Result<Exit, Fail> {
    let places = Places::from_process()?;
    let mut findings = vec![Finding::new(
        "version",
        Health::Fine,
        env!("CARGO_PKG_VERSION"),
    )];
    findings.extend(configuration(trust_project));
    findings.push(journal(&places));
    findings.push(trust(&places));
    findings.push(secrets(&places));
    let broken = findings.iter().any(|it| it.health == Health::Broken);
    if printer.is_json() {
        let listed: Vec<Value> = findings
            .iter()
            .map(|it| json!({"part": it.part, "health": word(it.health), "what": it.what, "hint": it.hint}))
            .collect();
        printer.document(json!({"ok": !broken, "findings": listed}));
    } else {
        for it in &findings {
            let style = match it.health {
                Health::Fine => GOOD,
                Health::Odd => WARN,
                Health::Broken => BAD,
            };
            printer.line(format!(
                "{}  {:<9} {}",
                styled(style, format!("{:<6}", word(it.health))),
                it.part,
                it.what
            ));
            if let Some(hint) = &it.hint {
                printer.line(styled(DIM, format!("                  {hint}")));
            }
        }
    }
    Ok(if broken { Exit::No } else { Exit::Done })
}

fn word(health: Health) -> &'static str {
    match health {
        Health::Fine => "ok",
        Health::Odd => "note",
        Health::Broken => "broken",
    }
}

fn configuration(trust_project: bool) -> Vec<Finding> {
    let setup = match Setup::read(trust_project) {
        Ok(setup) => setup,
        Err(fail) => {
            let count = fail
                .problems
                .iter()
                .filter(|it| it.severity == Severity::Error)
                .count();
            let first = fail
                .problems
                .first()
                .map_or(String::new(), |it| match &it.at {
                    Some(at) => format!("{at}: {it}"),
                    None => it.to_string(),
                });
            return vec![
                Finding::new(
                    "config",
                    Health::Broken,
                    format!("{count} problems; {first}"),
                )
                .hint("`ambit check` shows all of them"),
            ];
        }
    };
    let files: Vec<String> = setup
        .loaded
        .files()
        .map(|it| it.display().to_string())
        .collect();
    let files = if files.is_empty() {
        "no files; defaults hold".to_owned()
    } else {
        files.join(", ")
    };
    let mut findings = vec![Finding::new("config", Health::Fine, files)];
    findings.extend(setup.loaded.warnings.iter().map(|it| {
        let finding = Finding::new("config", Health::Odd, it.to_string());
        match &it.hint {
            Some(hint) => finding.hint(hint),
            None => finding,
        }
    }));
    findings.push(Finding::new(
        "workspace",
        Health::Fine,
        setup.workspace.display().to_string(),
    ));
    let journal = Journal::in_memory().map_err(Fail::from);
    match journal.and_then(|it| setup.market(it, Arc::new(NobodyThere))) {
        Ok(market) => {
            let catalog = market.catalog();
            let tokens: u32 = catalog.iter().map(|it| it.tokens.full).sum();
            findings.push(Finding::new(
                "catalog",
                Health::Fine,
                format!("{} capabilities, {tokens} tokens in full", catalog.len()),
            ));
            for (name, agent) in &setup.loaded.config.agents {
                let checked = market.registry().check(
                    &agent.capabilities.to_value(),
                    setup.loaded.config.unknown_capabilities_of(agent),
                );
                findings.push(match checked {
                    Ok(checked) => {
                        let tools: usize = checked.grants.iter().map(|it| it.ids.len()).sum();
                        Finding::new(
                            "agent",
                            Health::Fine,
                            format!(
                                "{name}: {} capabilities, {tools} tools",
                                checked.grants.len()
                            ),
                        )
                    }
                    Err(problems) => {
                        let first = problems
                            .first()
                            .map(ToString::to_string)
                            .unwrap_or_default();
                        Finding::new("agent", Health::Broken, format!("{name}: {first}"))
                            .hint("`ambit check` shows the place")
                    }
                });
            }
        }
        Err(fail) => {
            let what = fail
                .problems
                .first()
                .map(ToString::to_string)
                .unwrap_or_default();
            findings.push(Finding::new("catalog", Health::Broken, what));
        }
    }
    findings
}

fn journal(places: &Places) -> Finding {
    let path = places.journal();
    if !path.exists() {
        return Finding::new(
            "journal",
            Health::Fine,
            format!("{} (nothing recorded yet)", path.display()),
        );
    }
    // Opened for writing: that it can be read says nothing about the next call.
    match Journal::open(&path)
        .map(|(journal, report)| (journal.reader().and_then(|it| it.verify()), report))
    {
        Err(error) => Finding::new("journal", Health::Broken, with_sources(&error))
            .hint("calls that change anything are refused until this is mended"),
        Ok((Err(error), _)) => Finding::new("journal", Health::Broken, with_sources(&error)),
        Ok((Ok(report), opened)) => match (report.damage, opened.repaired) {
            (Some(damage), _) => Finding::new("journal", Health::Broken, damage.what)
                .hint("`ambit log verify` names the event"),
            (None, Some(repaired)) => Finding::new("journal", Health::Odd, repaired),
            (None, None) => Finding::new(
                "journal",
                Health::Fine,
                format!(
                    "{}, {} events, every chain whole",
                    path.display(),
                    report.events
                ),
            ),
        },
    }
}

fn trust(places: &Places) -> Finding {
    match TrustStore::open(places)
        .and_then(|it| Ok((it.accepted_projects()?.len(), it.pending()?.len())))
    {
        Err(error) => Finding::new("trust", Health::Broken, with_sources(&error)),
        Ok((projects, 0)) => Finding::new(
            "trust",
            Health::Fine,
            format!("{projects} project files accepted, nothing waits"),
        ),
        Ok((_, waiting)) => Finding::new(
            "trust",
            Health::Odd,
            format!("{waiting} calls wait for a decision"),
        )
        .hint("`ambit approvals` shows them"),
    }
}

fn secrets(places: &Places) -> Finding {
    match SecretStore::open(places).names() {
        Ok(names) => Finding::new("secrets", Health::Fine, format!("{} stored", names.len())),
        Err(error) => {
            let finding = Finding::new("secrets", Health::Broken, with_sources(&error));
            match error.hint() {
                Some(hint) => finding.hint(hint),
                None => finding,
            }
        }
    }
}
