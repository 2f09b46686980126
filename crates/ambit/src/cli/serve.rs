//! `serve`: MCP clients over HTTP.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ambit_gateway::http::{Door, HttpFront, Lock, Served};
use ambit_runtime::CancellationToken;
use ambit_runtime::journal::Journal;
use ambit_runtime::session::SessionSpec;
use serde_json::json;

use crate::cli::args::{AgentArgs, ServeArgs};
use crate::cli::ask::{AskAround, Person};
use crate::cli::call::told_to_stop;
use crate::cli::check::grant_problem;
use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{BAD, BOLD, DIM, Printer, WARN, styled};
use crate::cli::setup::Setup;
use crate::config::{DEFAULT_AGENT, Problem};

/// How long the process takes to end what it began, once nobody is served any more.
const PATIENCE: Duration = Duration::from_millis(500);

pub(crate) fn serve(setup: Setup, args: &ServeArgs, printer: &Printer) -> Result<Exit, Fail> {
    let listen = address(&setup, args)?;
    if !listen.ip().is_loopback() {
        let message = format!("`{listen}` can be reached from elsewhere, and nobody needs a token");
        return Err(Fail::usage(
            Problem::error("listen", message).hint("listen on a loopback address"),
        ));
    }
    let (journal, opened) = Journal::open(&setup.places.journal())?;
    if let Some(repaired) = opened.repaired {
        printer.note(styled(WARN, format!("journal: {repaired}")));
    }
    let served = served(&setup, args, journal.clone())?;
    let door = Door {
        hosts: setup.loaded.config.serve.allowed_hosts(),
        origins: setup.loaded.config.serve.allowed_origins(),
        agents: served
            .agents
            .keys()
            .map(|it| (it.clone(), Lock::Open))
            .collect(),
        main: main_agent(&served.agents),
    };
    let limits = setup.loaded.config.serve.limits.clone();
    let ended = setup.runtime()?.block_on(async {
        let told_to_stop = told_to_stop()?;
        let front = HttpFront::bind(listen, None, limits, door.clone(), served)
            .await
            .map_err(|error| cannot_listen(listen, &error))?;
        welcome(front.address()?, &door, printer);
        let stop = CancellationToken::new();
        let on_signal = stop.clone();
        tokio::spawn(async move {
            told_to_stop.await;
            on_signal.cancel();
        });
        front.serve(stop).await;
        if let Err(error) = journal.flush().await {
            printer.note(styled(BAD, format!("the journal is incomplete: {error}")));
        }
        Ok::<_, Fail>(())
    });
    setup.shut_down(PATIENCE);
    ended.map(|()| Exit::Done)
}

fn address(setup: &Setup, args: &ServeArgs) -> Result<SocketAddr, Fail> {
    if let Some(listen) = args.listen {
        return Ok(listen);
    }
    let written = setup.loaded.config.serve.listen();
    // What the config says was checked when it was read.
    written.parse().map_err(|error| {
        Fail::usage(Problem::error(
            "serve_invalid",
            format!("`{written}` is no address to listen on: {error}"),
        ))
    })
}

fn cannot_listen(listen: SocketAddr, error: &std::io::Error) -> Fail {
    let problem = Problem::error(
        "listen",
        format!("`{listen}` cannot be listened on: {error}"),
    );
    Fail::usage(problem.hint("choose another with `--listen`; port 0 takes any that is free"))
}

/// The agents to serve, in a marketplace of their own.
fn served(setup: &Setup, args: &ServeArgs, journal: Journal) -> Result<Served, Fail> {
    let market = setup.serving_market(
        journal,
        Arc::new(AskAround {
            // Each client is asked by its own session; here is who is asked when it cannot be.
            person: Person::AtClient,
            trust: Arc::clone(&setup.trust),
        }),
    )?;
    let names: Vec<String> = match args.agents.is_empty() {
        true => setup.loaded.config.agents.keys().cloned().collect(),
        false => args.agents.clone(),
    };
    let mut agents = BTreeMap::new();
    let mut problems: Vec<Problem> = Vec::new();
    for name in names {
        let chosen = AgentArgs {
            agent: Some(name),
            mode: args.mode,
        };
        let mut spec = setup.session(&chosen, Default::default())?;
        spec.discovery = setup.discovery();
        if let Err(found) = market.registry().check(&spec.capabilities, spec.unknown) {
            problems.extend(found.iter().map(|it| grant_problem(setup, &spec.agent, it)));
        }
        agents.insert(spec.agent.clone(), spec);
    }
    match problems.is_empty() {
        true => Ok(Served {
            market,
            agents,
            style: args.style,
        }),
        false => Err(problems.into()),
    }
}

/// The agent of `/mcp`: the only one, or the one that is called so.
fn main_agent(agents: &BTreeMap<String, SessionSpec>) -> Option<String> {
    let mut names = agents.keys();
    match (names.next(), names.next()) {
        (Some(only), None) => Some(only.clone()),
        _ => agents
            .contains_key(DEFAULT_AGENT)
            .then(|| DEFAULT_AGENT.to_owned()),
    }
}

/// Where to point a client, and what to paste.
fn welcome(address: SocketAddr, door: &Door, printer: &Printer) {
    let base = format!("http://{address}/mcp");
    let url = |agent: &String| match door.main.as_ref() == Some(agent) {
        true => base.clone(),
        false => format!("{base}/{agent}"),
    };
    if printer.is_json() {
        let agents: Vec<_> = door
            .agents
            .keys()
            .map(|agent| json!({"agent": agent, "url": url(agent)}))
            .collect();
        printer.document(json!({"url": base, "agents": agents}));
        return;
    }
    for agent in door.agents.keys() {
        printer.line(format!("{} at {}", styled(BOLD, agent), url(agent)));
    }
    let entry = json!({"mcpServers": {"ambit": {"type": "http", "url": base}}});
    printer.note(styled(DIM, "for a client, either of"));
    printer.note(format!("  {entry}"));
    printer.note(format!("  claude mcp add --transport http ambit {base}"));
}
