//! `doctor`: each part of the installation, whether it works, and what to do if not. Works with a
//! broken configuration: that is when it is needed.

mod servers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ambit_core::id::Kind;
use ambit_runtime::approver::NobodyThere;
use ambit_runtime::discovery::TurnRequest;
use ambit_runtime::journal::Journal;
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::session::SessionSpec;
use serde_json::{Value, json};

use self::servers::Checked;
use crate::browser::{Browser, INSTALL};
use crate::cli::args::AgentArgs;
use crate::cli::fail::{Exit, Fail, with_sources};
use crate::cli::printer::{BAD, DIM, GOOD, Printer, WARN, styled};
use crate::cli::setup::Setup;
use crate::cli::unresolved::unresolved;
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
    hints: Vec<String>,
}

impl Finding {
    fn new(part: &'static str, health: Health, what: impl Into<String>) -> Self {
        Finding {
            part,
            health,
            what: what.into(),
            hints: Vec::new(),
        }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
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
    let configured = configuration(trust_project);
    findings.extend(configured.findings);
    findings.push(journal(&places));
    findings.push(trust(&places));
    findings.push(secrets(&places));
    let broken = findings.iter().any(|it| it.health == Health::Broken);
    if printer.is_json() {
        let listed: Vec<Value> = findings
            .iter()
            .map(|it| json!({"part": it.part, "health": word(it.health), "what": it.what, "hint": (!it.hints.is_empty()).then(|| it.hints.join("\n"))}))
            .collect();
        printer.document(json!({
            "ok": !broken, "findings": listed, "servers": configured.servers,
            "tokens": {"everything": configured.everything, "shown": configured.shown},
        }));
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
            for hint in &it.hints {
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

/// What became of the configuration and of what it names.
#[derive(Default)]
struct Configured {
    findings: Vec<Finding>,
    servers: Vec<Checked>,
    /// Tokens of all that servers offer.
    everything: u32,
    /// Tokens each agent is shown at the beginning of a session.
    shown: BTreeMap<String, u32>,
}

fn configuration(trust_project: bool) -> Configured {
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
            let what = format!("{count} problems; {first}");
            let finding = Finding::new("config", Health::Broken, what);
            return Configured {
                findings: vec![finding.hint("`ambit check` shows all of them")],
                ..Configured::default()
            };
        }
    };
    let mut configured = Configured {
        findings: files(&setup),
        ..Configured::default()
    };
    configured.findings.push(kept(&setup));
    if let Err(fail) = capabilities(&setup, &mut configured) {
        let what = fail.problems.first().map(ToString::to_string);
        let finding = Finding::new("catalog", Health::Broken, what.unwrap_or_default());
        configured.findings.push(finding);
    }
    configured
}

fn files(setup: &Setup) -> Vec<Finding> {
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
    findings
}

/// The servers, the catalog, and what each agent has of it.
fn capabilities(setup: &Setup, configured: &mut Configured) -> Result<(), Fail> {
    let cache = setup.cache()?;
    let all = setup.servers(&cache);
    if !all.connectable().is_empty() {
        let checking = servers::check(all.connectable(), &cache, &setup.redactor);
        configured.servers = setup.runtime()?.block_on(checking);
        configured.everything = servers::tokens(&configured.servers);
        let findings = servers::findings(&configured.servers);
        configured.findings.extend(findings);
    }
    let browser = all.browser().filter(|it| it.is_wanted());
    configured.findings.extend(browser.map(browser_finding));
    let market = setup.market_of(&all, cache, Journal::in_memory()?, Arc::new(NobodyThere))?;
    let catalog = market.catalog();
    let tokens: u32 = catalog.iter().map(|it| it.tokens.full).sum();
    configured.findings.push(Finding::new(
        "catalog",
        Health::Fine,
        format!("{} capabilities, {tokens} tokens in full", catalog.len()),
    ));
    for (name, agent) in &setup.loaded.config.agents {
        let unknown = setup.loaded.config.unknown_capabilities_of(agent);
        let checked = market
            .registry()
            .check(&agent.capabilities.to_value(), unknown);
        let finding = match checked {
            Ok(checked) => {
                let granted = checked.grants.iter().flat_map(|it| &it.ids);
                let tools = granted.filter(|it| it.kind() == Kind::Tool).count();
                let shown = shown(setup, &market, name)?;
                configured.shown.insert(name.clone(), shown);
                let what = format!(
                    "{name}: {} capabilities, {tools} tools, {shown} tokens shown",
                    checked.grants.len()
                );
                Finding::new("agent", Health::Fine, what)
            }
            Err(problems) => {
                let first = problems.first().map(ToString::to_string);
                let what = format!("{name}: {}", first.unwrap_or_default());
                Finding::new("agent", Health::Broken, what).hint("`ambit check` shows the place")
            }
        };
        configured.findings.push(finding);
    }
    configured.findings.extend(builtins(setup, &market)?);
    configured.findings.extend(saved(configured));
    Ok(())
}

/// How the browser is started, and where it comes from.
fn browser_finding(browser: &Browser) -> Finding {
    let command = browser.start().command().join(" ");
    let what = format!("starts when it is used: `{command}`");
    Finding::new("browser", Health::Fine, what)
        .hint(format!("if there is no browser yet: `{INSTALL}`"))
}

/// Built-in capabilities that bring nothing, and what to do about it.
fn builtins(setup: &Setup, market: &CapabilityMarketplace) -> Result<Vec<Finding>, Fail> {
    let unresolved = unresolved(setup, market)?;
    let (granted, others): (Vec<_>, Vec<_>) = unresolved
        .into_iter()
        .partition(|(_, it)| it.granted_to.is_some());
    let mut findings: Vec<Finding> = granted
        .into_iter()
        .map(|(key, it)| {
            let agent = it.granted_to.unwrap_or_default();
            let what = format!("`{key}` was granted to {agent} and brings nothing");
            Finding::new("built-in", Health::Odd, what).hint(it.reason)
        })
        .collect();
    if !others.is_empty() {
        let keys: Vec<&str> = others.iter().map(|(key, _)| key.as_str()).collect();
        let what = format!("not in use and not configured: {}", keys.join(", "));
        let finding = Finding::new("built-in", Health::Fine, what);
        findings.push(others.into_iter().fold(finding, |finding, (key, it)| {
            finding.hint(format!("{key}: {}", it.reason))
        }));
    }
    Ok(findings)
}

/// What built-in capabilities keep for this workspace.
fn kept(setup: &Setup) -> Finding {
    let store = setup.store();
    match store.check() {
        Ok(()) if !store.path().exists() => {
            let what = format!("{} (nothing kept yet)", store.folder().display());
            Finding::new("data", Health::Fine, what)
        }
        Ok(()) => Finding::new("data", Health::Fine, store.folder().display().to_string()),
        Err(error) => Finding::new("data", Health::Broken, error.to_string()),
    }
}

/// What an agent's model is shown at the beginning of a session.
pub(crate) fn shown(
    setup: &Setup,
    market: &Arc<CapabilityMarketplace>,
    agent: &str,
) -> Result<u32, Fail> {
    let args = AgentArgs {
        agent: Some(agent.to_owned()),
        ..AgentArgs::default()
    };
    let spec = SessionSpec {
        discovery: setup.discovery(),
        ..setup.session(&args, BTreeSet::new())?
    };
    // It was checked a moment ago.
    let opened = setup.runtime()?.block_on(market.open_session(spec));
    let visible = opened.ok().map(|it| it.begin_turn(&TurnRequest::default()));
    Ok(visible.map_or(0, |it| it.tokens()))
}

/// What clients of the servers would have paid, beside what is shown now.
fn saved(configured: &Configured) -> Option<Finding> {
    if configured.servers.is_empty() {
        return None;
    }
    let shown: Vec<String> = configured
        .shown
        .iter()
        .map(|(agent, tokens)| format!("{agent} is shown {tokens}"))
        .collect();
    let what = format!(
        "{} for the tools of all servers in full; {}, built-in tools included",
        configured.everything,
        shown.join(", ")
    );
    Some(Finding::new("tokens", Health::Fine, what))
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
    let counts = TrustStore::open(places).and_then(|it| {
        let projects = it.accepted_projects()?.len();
        Ok((projects, it.pending()?.len(), it.held_definitions()?.len()))
    });
    let (projects, calls, definitions) = match counts {
        Ok(counts) => counts,
        Err(error) => return Finding::new("trust", Health::Broken, with_sources(&error)),
    };
    if calls + definitions == 0 {
        let what = format!("{projects} project files accepted, nothing waits");
        return Finding::new("trust", Health::Fine, what);
    }
    let what = format!("{calls} calls and {definitions} definitions wait for a decision");
    let mut finding = Finding::new("trust", Health::Odd, what);
    if calls > 0 {
        finding = finding.hint("`ambit approvals` shows the calls");
    }
    if definitions > 0 {
        finding = finding.hint("`ambit trust ls` shows the definitions");
    }
    finding
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
