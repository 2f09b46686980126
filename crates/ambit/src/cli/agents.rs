//! `agents`: who there is, and the tokens that open them to clients over HTTP.

use ambit_gateway::http::NewToken;
use serde_json::{Value, json};

use crate::cli::args::{AgentsCommand, TokenArgs};
use crate::cli::fail::{Exit, Fail};
use crate::cli::own;
use crate::cli::printer::{BOLD, DIM, Printer, columns, counted, styled};
use crate::cli::setup::Setup;
use crate::config::Problem;
use crate::places::Places;
use crate::trust::{IssuedToken, OPERATOR, TrustStore};

pub(crate) fn agents(
    setup: impl Fn() -> Result<Setup, Fail>,
    command: Option<AgentsCommand>,
    printer: &Printer,
) -> Result<Exit, Fail> {
    match command {
        None => list(&setup()?, printer),
        Some(AgentsCommand::History { name, number }) => {
            own::history(&setup()?, &name, number, printer)
        }
        Some(AgentsCommand::Undo { name, to }) => own::undo(&setup()?, &name, to, printer),
        Some(AgentsCommand::Token(args)) => {
            let name = args.name.as_deref().unwrap_or(OPERATOR);
            match (args.revoke, args.forget) {
                // Taking back must work whatever became of the configuration.
                (Some(number), _) => revoke(name, number, printer),
                (None, true) => forget(name, printer),
                (None, false) => issue(&setup()?, &args, printer),
            }
        }
    }
}

fn list(setup: &Setup, printer: &Printer) -> Result<Exit, Fail> {
    let config = &setup.loaded.config;
    let tokens = setup.trust.tokens()?;
    let of = |name: &str| {
        tokens
            .iter()
            .filter(move |it| it.agent == name)
            .collect::<Vec<_>>()
    };
    if printer.is_json() {
        let agents: Vec<Value> = config
            .agents
            .iter()
            .map(|(name, agent)| {
                let tokens = of(name);
                json!({
                    "name": name,
                    "description": agent.description,
                    "mode": config.mode_of(agent).as_str(),
                    "capabilities": agent.capabilities.0.keys().collect::<Vec<_>>(),
                    "needsToken": !tokens.is_empty(),
                    "tokens": tokens.iter().map(|it| token_json(it)).collect::<Vec<_>>(),
                })
            })
            .collect();
        printer.document(json!({"agents": agents}));
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = config
        .agents
        .iter()
        .map(|(name, agent)| {
            let keys: Vec<&str> = agent.capabilities.0.keys().map(String::as_str).collect();
            let tokens = of(name);
            let live = tokens.iter().filter(|it| it.revoked.is_none()).count();
            vec![
                name.clone(),
                config.mode_of(agent).as_str().to_owned(),
                match tokens.is_empty() {
                    true => "open on loopback".to_owned(),
                    false => counted(live, "token", "tokens"),
                },
                keys.join(", "),
            ]
        })
        .collect();
    columns(&rows).iter().for_each(|it| printer.line(it));
    for token in tokens.iter().filter(|it| it.revoked.is_none()) {
        let line = format!(
            "token {} of {}, issued {}",
            token.number, token.agent, token.at
        );
        printer.note(styled(DIM, line));
    }
    Ok(Exit::Done)
}

fn token_json(token: &IssuedToken) -> Value {
    json!({
        "number": token.number,
        "issued": token.at.to_string(),
        "revoked": token.revoked.map(|it| it.to_string()),
    })
}

/// Prints a new token, this once.
fn issue(setup: &Setup, args: &TokenArgs, printer: &Printer) -> Result<Exit, Fail> {
    let agent = match &args.name {
        Some(name) => setup.agent(Some(name))?.0,
        None => OPERATOR,
    };
    let token = NewToken::generate().map_err(|error| {
        let message = format!("the system gives no random numbers: {error}");
        Fail::usage(Problem::error("no_randomness", message))
    })?;
    let number = setup.trust.add_token(agent, &token.digest())?;
    if printer.is_json() {
        printer.document(json!({"agent": agent, "number": number, "token": token.expose()}));
        return Ok(Exit::Done);
    }
    printer.line(token.expose());
    printer.note(styled(
        DIM,
        format!(
            "token {number} of {agent}, shown this once; a client sends `Authorization: Bearer TOKEN`"
        ),
    ));
    let means = match agent {
        OPERATOR => {
            "with it `POST /v1/approvals/N` answers what waits for a person; keep it from agents"
                .to_owned()
        }
        agent => format!("from now on `ambit serve` lets nobody use {agent} without one"),
    };
    printer.note(styled(DIM, means));
    Ok(Exit::Done)
}

fn revoke(agent: &str, number: Option<i64>, printer: &Printer) -> Result<Exit, Fail> {
    let revoked = store()?.revoke_tokens(agent, number)?;
    if printer.is_json() {
        printer.document(json!({"agent": agent, "revoked": revoked}));
    } else {
        let what = counted(revoked, "token", "tokens");
        printer.line(format!("revoked {what} of {}", styled(BOLD, agent)));
    }
    Ok(if revoked > 0 { Exit::Done } else { Exit::No })
}

fn forget(agent: &str, printer: &Printer) -> Result<Exit, Fail> {
    let forgotten = store()?.forget_tokens(agent)?;
    if printer.is_json() {
        printer.document(json!({"agent": agent, "forgotten": forgotten}));
    } else {
        let what = counted(forgotten, "token", "tokens");
        printer.line(format!("forgot {what} of {}", styled(BOLD, agent)));
        if agent != OPERATOR {
            printer.note(styled(DIM, "on loopback it is open again"));
        }
    }
    Ok(if forgotten > 0 { Exit::Done } else { Exit::No })
}

fn store() -> Result<TrustStore, Fail> {
    Ok(TrustStore::open(&Places::from_process()?)?)
}
