//! `search` and `visible`: what an agent could find, and what a model would see.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ambit_core::catalog::CatalogSnapshot;
use ambit_core::id::{CapabilityId, Kind};
use ambit_core::projection::ToolFormat;
use ambit_core::search::{Hit, SearchRequest};
use ambit_core::visible::{HiddenReason, VisibleReason, VisibleSet};
use ambit_core::wire::is_injection;
use ambit_runtime::approver::NobodyThere;
use ambit_runtime::discovery::TurnRequest;
use ambit_runtime::journal::Journal;
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::session::Session;
use serde_json::{Value, json};

use crate::cli::args::{AgentArgs, Format, SearchArgs, TurnArgs, VisibleArgs};
use crate::cli::check::grant_problem;
use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{BOLD, DIM, GOOD, Printer, WARN, columns, fit, styled};
use crate::cli::setup::Setup;
use crate::config::Problem;
use crate::project::project_kinds;

/// A session to look at. What is only imagined is not recorded.
pub(crate) fn imagine(
    setup: &Setup,
    args: &AgentArgs,
) -> Result<(Arc<CapabilityMarketplace>, Session), Fail> {
    let market = setup.market(Journal::in_memory()?, Arc::new(NobodyThere))?;
    let mut spec = setup.session(args, BTreeSet::new())?;
    spec.discovery = setup.discovery();
    let agent = spec.agent.clone();
    let session = setup
        .runtime()?
        .block_on(market.open_session(spec))
        .map_err(|problems| {
            problems
                .iter()
                .map(|it| grant_problem(setup, &agent, it))
                .collect::<Vec<Problem>>()
        })?;
    Ok((market, session))
}

/// What is said at the beginning of a turn.
pub(crate) fn turn_request(setup: &Setup, args: &TurnArgs) -> TurnRequest {
    TurnRequest {
        goal: args.goal.clone().unwrap_or_default(),
        touched: args.touched.iter().cloned().collect(),
        project: project_kinds(&setup.workspace),
        evidence: args.evidence.clone(),
        budget: args.budget,
        mode: None,
    }
}

pub(crate) fn search(setup: &Setup, args: &SearchArgs, printer: &Printer) -> Result<Exit, Fail> {
    let (market, session) = imagine(setup, &args.agent)?;
    let request = SearchRequest {
        server: args.server.clone(),
        limit: args.limit,
        ..SearchRequest::new(args.query.as_str())
    };
    let hits = market.search(&session.bounds(), &request);
    let catalog = market.catalog();
    let summary = |hit: &Hit| {
        catalog
            .get(&hit.id)
            .map_or(String::new(), |it| it.summary.clone())
    };
    if printer.is_json() {
        let hits: Vec<Value> = hits
            .iter()
            .map(|it| {
                let why: Vec<String> = it.why.iter().map(ToString::to_string).collect();
                json!({"id": it.id, "score": it.score, "summary": summary(it), "why": why})
            })
            .collect();
        printer.document(json!({"hits": hits}));
        return Ok(Exit::Done);
    }
    for hit in &hits {
        let why: Vec<String> = hit.why.iter().map(ToString::to_string).collect();
        printer.line(format!(
            "{:>6}  {}  {}",
            hit.score.0,
            styled(BOLD, &hit.id),
            fit(&summary(hit), 80)
        ));
        printer.line(styled(
            DIM,
            format!("        {}", fit(&why.join(", "), 110)),
        ));
    }
    if hits.is_empty() {
        printer.note("nothing this agent may use fits; `ambit ls` lists everything there is");
    }
    Ok(Exit::Done)
}

pub(crate) fn visible(setup: &Setup, args: &VisibleArgs, printer: &Printer) -> Result<Exit, Fail> {
    let (market, session) = imagine(setup, &args.agent)?;
    let visible = session.begin_turn(&turn_request(setup, &args.turn));
    let catalog = market.catalog();
    if let Some(format) = args.format {
        let format = match format {
            Format::Openai => ToolFormat::OpenAi,
            Format::Anthropic => ToolFormat::Anthropic,
            Format::Mcp => ToolFormat::Mcp,
        };
        printer.document(session.projection(format).to_json());
        return Ok(Exit::Done);
    }
    // What nobody granted would not have been listed by anybody.
    let granted = catalog
        .iter()
        .filter(|it| visible.hidden_reason(&it.id) != Some(&HiddenReason::NotGranted));
    let whole: u32 = granted
        .map(|it| it.tokens.full)
        .fold(0, u32::saturating_add);
    if printer.is_json() {
        printer.document(shape(&visible, whole));
    } else {
        print(&visible, &catalog, whole, args, printer);
    }
    Ok(Exit::Done)
}

fn shape(visible: &VisibleSet, whole: u32) -> Value {
    let hidden: Vec<Value> = hidden(visible)
        .map(|(id, reason)| json!({"id": id, "reason": reason.as_str(), "detail": reason.to_string()}))
        .collect();
    json!({
        "digest": visible.digest(),
        "visible": visible.entries(),
        "hidden": hidden,
        "tokens": {"projection": visible.tokens(), "catalogFull": whole},
    })
}

/// What is hidden, and why. Tools the runtime wires only for other entry points are nobody's to
/// grant, so there is nothing to tell.
fn hidden(visible: &VisibleSet) -> impl Iterator<Item = &(CapabilityId, HiddenReason)> {
    let unwired = |id: &CapabilityId, reason: &HiddenReason| {
        is_injection(id) && *reason == HiddenReason::NotGranted
    };
    visible
        .hidden()
        .iter()
        .filter(move |(id, reason)| !unwired(id, reason))
}

/// The key that would grant it.
fn key_of(id: &CapabilityId) -> &str {
    match id.kind() {
        Kind::Skill => "skills",
        _ => id.owner(),
    }
}

/// The reasons of an entry in one line.
pub(crate) fn reasons(reasons: &[VisibleReason]) -> String {
    reasons
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

fn print(
    visible: &VisibleSet,
    catalog: &CatalogSnapshot,
    whole: u32,
    args: &VisibleArgs,
    printer: &Printer,
) {
    let rows: Vec<Vec<String>> = visible
        .entries()
        .iter()
        .map(|it| {
            let why = match args.explain {
                true => reasons(&it.reasons),
                false => catalog
                    .get(&it.id)
                    .map_or(String::new(), |it| fit(&it.summary, 72)),
            };
            vec![
                it.id.to_string(),
                it.layer.as_str().to_owned(),
                it.tokens.to_string(),
                why,
            ]
        })
        .collect();
    columns(&rows).iter().for_each(|it| printer.line(it));
    if args.explain {
        let mut not_granted: BTreeMap<&str, usize> = BTreeMap::new();
        for (id, reason) in hidden(visible) {
            match reason {
                // There is much an agent could have been granted; its keys say enough.
                HiddenReason::NotGranted => *not_granted.entry(key_of(id)).or_default() += 1,
                _ => printer.line(format!("{}  {}", styled(DIM, id), styled(WARN, reason))),
            }
        }
        if !not_granted.is_empty() {
            let keys = not_granted.iter();
            let keys: Vec<String> = keys.map(|(key, count)| format!("{key} {count}")).collect();
            let line = format!("not in the agent's `capabilities`: {}", keys.join(", "));
            printer.line(styled(DIM, line));
        }
    }
    let shown = format!(
        "{} visible, {} hidden",
        visible.entries().len(),
        hidden(visible).count()
    );
    let cost = format!("{} tokens instead of {whole}", visible.tokens());
    printer.note(format!("{}; {}", shown, styled(GOOD, cost)));
}
