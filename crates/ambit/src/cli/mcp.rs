//! `mcp`: one MCP client on standard input and output.

use std::sync::Arc;
use std::time::Duration;

use ambit_core::suggest::{did_you_mean, suggest};
use ambit_gateway::{GatewayOptions, serve_stdio};
use ambit_runtime::CancellationToken;
use ambit_runtime::journal::Journal;
use ambit_runtime::session::SessionSpec;
use serde_json::{Map, Value};

use crate::cli::args::McpArgs;
use crate::cli::ask::{AskAround, Person};
use crate::cli::call::told_to_stop;
use crate::cli::check::grant_problem;
use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{BAD, Printer, WARN, styled};
use crate::cli::setup::Setup;
use crate::config::Problem;

/// How long the process takes to end what it began.
const PATIENCE: Duration = Duration::from_millis(500);

/// Standard output belongs to the protocol from here on: whatever is to be said goes beside it.
pub(crate) fn mcp(setup: Setup, args: &McpArgs, printer: &Printer) -> Result<Exit, Fail> {
    let mut spec = setup.session(&args.agent, Default::default())?;
    spec.discovery = setup.discovery();
    if !args.servers.is_empty() {
        spec.capabilities = only(&setup, &spec, &args.servers)?;
    }
    let (journal, opened) = Journal::open(&setup.places.journal())?;
    if let Some(repaired) = opened.repaired {
        printer.note(styled(WARN, format!("journal: {repaired}")));
    }
    let (market, _servers) = setup.serving_market(
        journal,
        Arc::new(AskAround {
            person: Person::AtClient,
            trust: Arc::clone(&setup.trust),
        }),
    )?;
    // Now rather than when a client is there: it could only be told that something is wrong.
    let checked = market.registry().check(&spec.capabilities, spec.unknown);
    if let Err(problems) = checked {
        let problems = problems.iter();
        return Err(problems
            .map(|it| grant_problem(&setup, &spec.agent, it))
            .collect::<Vec<Problem>>()
            .into());
    }
    let options = GatewayOptions {
        style: args.style,
        clients: setup.loaded.config.clients.clone(),
        stop: CancellationToken::new(),
    };
    let served = setup.runtime()?.block_on(async {
        let stop = options.stop.clone();
        let told_to_stop = told_to_stop()?;
        tokio::spawn(async move {
            told_to_stop.await;
            stop.cancel();
        });
        let served = serve_stdio(Arc::clone(&market), spec, options).await;
        if let Err(error) = market.journal().flush().await {
            printer.note(styled(BAD, format!("the journal is incomplete: {error}")));
        }
        Ok::<_, Fail>(served?)
    });
    // What still runs is dropped, and says so in the journal. A terminal on standard input is read
    // by a thread that nothing can call back, so not for ever.
    setup.shut_down(PATIENCE);
    served.map(|()| Exit::Done)
}

/// What an agent is granted of these servers, and nothing else of what it is granted.
fn only(setup: &Setup, spec: &SessionSpec, servers: &[String]) -> Result<Value, Fail> {
    let is_server = |key: &&String| setup.loaded.config.mcp_servers.contains_key(*key);
    let granted = spec.capabilities.as_object();
    let granted = || granted.into_iter().flatten();
    let mut kept = Map::new();
    for name in servers {
        let found = granted().find(|(key, _)| *key == name && is_server(key));
        let (key, config) = found.ok_or_else(|| {
            let keys = granted().map(|(key, _)| key).filter(is_server);
            let hint = did_you_mean(&suggest(name, keys.map(String::as_str)));
            let hint = hint.unwrap_or_else(|| "`ambit resolve` lists what it has".to_owned());
            let message = format!("agent `{}` is granted no server `{name}`", spec.agent);
            Fail::usage(Problem::error("server_not_granted", message).hint(hint))
        })?;
        kept.insert(key.clone(), config.clone());
    }
    Ok(Value::Object(kept))
}
