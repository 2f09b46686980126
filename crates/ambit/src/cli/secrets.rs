//! `secrets`: names are shown, values are not.

use std::io::{self, IsTerminal, Read};

use ambit_builtins::secrets::SecretRequest;
use ambit_core::printable::printable;
use serde_json::json;

use crate::cli::args::SecretsCommand;
use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::Printer;
use crate::cli::setup::Setup;
use crate::config::Problem;
use crate::places::Places;
use crate::secrets::{SecretStore, SecretValue};

/// Longest secret: keys and certificates fit, files do not.
const LONGEST: u64 = 64 << 10;

pub(crate) fn secrets(
    setup: impl FnOnce() -> Result<Setup, Fail>,
    command: SecretsCommand,
    printer: &Printer,
) -> Result<Exit, Fail> {
    let store = SecretStore::open(&Places::from_process()?);
    match command {
        SecretsCommand::Set { name } => {
            let value = read_value(&name)?;
            store.set(&name, value)?;
            answered(&name);
            if printer.is_json() {
                printer.document(json!({"name": name, "stored": true}));
            } else {
                printer.line(format!("stored `{name}`; use it as ${{secret:{name}}}"));
            }
            Ok(Exit::Done)
        }
        SecretsCommand::Ls => {
            let names = store.names()?;
            if printer.is_json() {
                printer.document(json!({"names": names}));
            } else {
                names.iter().for_each(|it| printer.line(it));
            }
            Ok(Exit::Done)
        }
        SecretsCommand::Requests => requests(&setup()?, printer),
        SecretsCommand::Rm { name } => {
            let was = store.remove(&name)?;
            if !was {
                return Err(unknown(&name));
            }
            if printer.is_json() {
                printer.document(json!({"name": name, "removed": true}));
            } else {
                printer.line(format!("removed `{name}`"));
            }
            Ok(Exit::Done)
        }
        SecretsCommand::Get { name } => {
            if !io::stdout().is_terminal() {
                return Err(Fail::usage(
                    Problem::error("not_a_terminal", "a secret is only shown on a terminal")
                        .hint("programs use ${secret:NAME} in ambit.json"),
                ));
            }
            let value = store.get(&name)?.ok_or_else(|| unknown(&name))?;
            printer.line(value.expose());
            Ok(Exit::Done)
        }
    }
}

/// Whoever asked for it in this workspace need not ask any longer. What cannot be looked up here,
/// with a broken config for one, stays asked for.
fn answered(name: &str) {
    if let Ok(setup) = Setup::read(false) {
        let store = setup.store();
        if store.path().exists() {
            let _ = SecretRequest::answered(&store, name);
        }
    }
}

fn requests(setup: &Setup, printer: &Printer) -> Result<Exit, Fail> {
    let store = setup.store();
    let requests = match store.path().exists() {
        true => SecretRequest::all(&store)
            .map_err(|error| Fail::no(Problem::error("data_unusable", error.to_string())))?,
        false => Vec::new(),
    };
    if printer.is_json() {
        let requests: Vec<_> = requests
            .iter()
            .map(|it| json!({"name": it.name, "agent": it.agent, "reason": it.reason, "at": it.at.to_string()}))
            .collect();
        printer.document(json!({"requests": requests}));
    } else if requests.is_empty() {
        printer.note("no agent asks for a secret");
    } else {
        for it in &requests {
            let (name, reason) = (printable(&it.name), printable(&it.reason));
            printer.line(format!("{name}  for {}: {reason}", it.agent));
        }
        printer.note("set one with `ambit secrets set NAME`");
    }
    Ok(Exit::Done)
}

fn unknown(name: &str) -> Fail {
    Fail::no(
        Problem::error("unknown_secret", format!("there is no secret `{name}`"))
            .hint("`ambit secrets ls` lists names"),
    )
}

fn read_value(name: &str) -> Result<SecretValue, Fail> {
    let text = if io::stdin().is_terminal() {
        rpassword::prompt_password(format!("value of `{name}` (hidden): "))?
    } else {
        let mut text = String::new();
        io::stdin()
            .lock()
            .take(LONGEST + 1)
            .read_to_string(&mut text)?;
        // A pipe usually ends with a line end nobody meant.
        text.strip_suffix('\n')
            .map(|it| it.strip_suffix('\r').unwrap_or(it))
            .map_or(text.clone(), str::to_owned)
    };
    if text.is_empty() || text.len() as u64 > LONGEST {
        return Err(Fail::usage(
            Problem::error("bad_secret", format!("a secret has 1 to {LONGEST} bytes"))
                .hint("type it at the prompt, or pipe it in"),
        ));
    }
    Ok(SecretValue::new(text))
}
