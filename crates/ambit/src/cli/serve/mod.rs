//! `serve`: MCP clients and harnesses over HTTP.

mod desk;
mod hooks;
mod log;
mod reach;
mod reload;
mod welcome;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ambit_gateway::http::{Door, HttpFront, HttpLimits, Served, Tls, TokenDigest};
use ambit_runtime::CancellationToken;
use ambit_runtime::journal::Journal;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::cli::args::{AgentArgs, ServeArgs};
use crate::cli::ask::{AskAround, Person};
use crate::cli::call::told_to_stop;
use crate::cli::check::grant_problem;
use crate::cli::fail::{Exit, Fail, with_sources};
use crate::cli::printer::{BAD, Printer, WARN, styled};
use crate::cli::setup::Setup;
use crate::cli::triggers::background::{Background, Following};
use crate::cli::triggers::run::scheduler;
use crate::config::{Config, DEFAULT_AGENT, Problem};
use crate::trust::{IssuedToken, OPERATOR};

use desk::Desk;
use hooks::TriggerHooks;
use reach::Reach;
use reload::Reload;

/// How long the process takes to end what it began, once nobody is served any more.
const PATIENCE: Duration = Duration::from_millis(500);
/// Files this process needs for other things than connections.
const OWN_FILES: u64 = 128;

pub(crate) fn serve(setup: Setup, args: ServeArgs, printer: &Printer) -> Result<Exit, Fail> {
    log::start(args.log_format, args.log_level);
    let args = Arc::new(args);
    let config = &setup.loaded.config;
    let listen = address(config, &args)?;
    let reach = Reach::of(listen, &args);
    let names = names(config, &args)?;
    let door = door(config, &names, reach, &setup.trust.tokens()?);
    reach
        .check(&door, &args)
        .map_err(|not_ready| not_ready.fail(listen))?;
    let tls = tls(&args)?;
    let (journal, opened) = Journal::open(&setup.places.journal())?;
    if let Some(repaired) = opened.repaired {
        printer.note(styled(WARN, format!("journal: {repaired}")));
    }
    let served = served(&setup, &args, journal.clone())?;
    let following = following(&setup, &args, &served)?;
    let limits = within_files(config.serve.limits.clone());
    let scheme = if tls.is_some() { "https" } else { "http" };
    let ended = setup.runtime()?.block_on(async {
        let told_to_stop = told_to_stop()?;
        let front = HttpFront::bind(listen, tls, limits, door.clone(), served)
            .map_err(|error| cannot_listen(listen, &error))?;
        let stop = CancellationToken::new();
        let runtime = tokio::runtime::Handle::current();
        let reload = Reload::new(
            &setup,
            &args,
            reach,
            journal.clone(),
            front.control(),
            following.clone(),
            runtime,
        );
        reload.start(stop.clone());
        let scheduler = following.map(|it| tokio::spawn(scheduler(&setup, it).run(stop.clone())));
        welcome::welcome(front.address()?, scheme, &door, printer);
        let on_signal = stop.clone();
        tokio::spawn(async move {
            told_to_stop.await;
            on_signal.cancel();
        });
        front.serve(stop).await;
        if let Some(scheduler) = scheduler {
            // What it runs is ended and counts as interrupted.
            let _ = tokio::time::timeout(PATIENCE, scheduler).await;
        }
        if let Err(error) = journal.flush().await {
            printer.note(styled(BAD, format!("the journal is incomplete: {error}")));
        }
        Ok::<_, Fail>(())
    });
    setup.shut_down(PATIENCE);
    ended.map(|()| Exit::Done)
}

/// Who runs what triggers start, where there is a model to run it with.
fn following(
    setup: &Setup,
    args: &ServeArgs,
    served: &Served,
) -> Result<Option<Arc<Following>>, Fail> {
    if setup.loaded.config.models.is_empty() {
        return Ok(None);
    }
    let background = Background::new(setup, args.mode, &served.market)?;
    Ok(Some(Following::new(background)))
}

fn address(config: &Config, args: &ServeArgs) -> Result<SocketAddr, Fail> {
    if let Some(listen) = args.listen {
        return Ok(listen);
    }
    let written = config.serve.listen();
    // What the config says was checked when it was read.
    written.parse().map_err(|error| {
        let message = format!("`{written}` is no address to listen on: {error}");
        Fail::usage(Problem::error("serve_invalid", message))
    })
}

fn cannot_listen(listen: SocketAddr, error: &std::io::Error) -> Fail {
    let message = format!("`{listen}` cannot be listened on: {error}");
    Fail::usage(
        Problem::error("listen", message)
            .hint("choose another with `--listen`; port 0 takes any that is free"),
    )
}

fn tls(args: &ServeArgs) -> Result<Option<Tls>, Fail> {
    let (Some(chain), Some(key)) = (&args.tls_cert, &args.tls_key) else {
        return Ok(None);
    };
    Tls::load(chain, key).map(Some).map_err(|error| {
        Fail::usage(
            Problem::error("tls", with_sources(&error))
                .hint("`--tls-cert` takes a PEM chain, the server's own certificate first; `--tls-key` its key"),
        )
    })
}

/// Every connection is an open file: as many as the system lets this process have, and no more
/// connections than that.
fn within_files(limits: HttpLimits) -> HttpLimits {
    let files = getrlimit(Resource::Nofile);
    let most = Rlimit {
        current: files.maximum,
        ..files
    };
    let files = match setrlimit(Resource::Nofile, most) {
        Ok(()) => files.maximum,
        Err(_) => files.current,
    };
    let room = files.map_or(usize::MAX, |it| {
        usize::try_from(it.saturating_sub(OWN_FILES)).unwrap_or(usize::MAX)
    });
    HttpLimits {
        connections: limits.connections.min(room.max(1)),
        ..limits
    }
}

/// Whom to serve.
fn names(config: &Config, args: &ServeArgs) -> Result<Vec<String>, Fail> {
    if args.agents.is_empty() {
        return Ok(config.agents.keys().cloned().collect());
    }
    let named = args.agents.iter().map(|it| config.agent(Some(it)));
    let named: Result<Vec<_>, Problem> = named.map(|it| Ok(it?.0.to_owned())).collect();
    Ok(named?)
}

/// Who may come in, and to whom.
fn door(config: &Config, names: &[String], reach: Reach, tokens: &[IssuedToken]) -> Door {
    let main = match names {
        [only] => Some(only.clone()),
        several => several.iter().find(|it| *it == DEFAULT_AGENT).cloned(),
    };
    Door {
        hosts: config.serve.allowed_hosts(),
        origins: config.serve.allowed_origins(),
        agents: names
            .iter()
            .map(|it| (it.clone(), reach.lock(it, tokens)))
            .collect(),
        main,
        operators: operators(tokens),
    }
}

/// Who answers for a person.
fn operators(tokens: &[IssuedToken]) -> Vec<TokenDigest> {
    let live = tokens
        .iter()
        .filter(|it| it.agent == OPERATOR && it.revoked.is_none());
    live.map(|it| it.digest).collect()
}

/// The agents to serve, in a marketplace of their own.
fn served(setup: &Setup, args: &ServeArgs, journal: Journal) -> Result<Served, Fail> {
    let approver = Arc::new(AskAround {
        // Each client is asked by its own session; here is who is asked when it cannot be.
        person: Person::AtClient,
        trust: Arc::clone(&setup.trust),
    });
    let (market, servers) = setup.serving_market(journal, approver)?;
    let mut agents = BTreeMap::new();
    let mut problems: Vec<Problem> = Vec::new();
    for name in names(&setup.loaded.config, args)? {
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
            clients: setup.loaded.config.clients.clone(),
            upstreams: Arc::new(move || servers.states()),
            desk: Arc::new(Desk(Arc::clone(&setup.trust))),
            hooks: Arc::new(TriggerHooks(setup.builtins())),
        }),
        false => Err(problems.into()),
    }
}
