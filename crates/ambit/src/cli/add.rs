//! `add` and `remove`: one server in `ambit.json`, comments and all else as they were.

use std::collections::BTreeMap;

use ambit_core::id::is_owner;
use serde_json::json;

use crate::cli::args::{AddArgs, RemoveArgs};
use crate::cli::edit::{Editing, Whose};
use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{BOLD, Printer, styled};
use crate::cli::setup::working_directory;
use crate::config::{Document, Problem, Source};
use crate::keys;
use crate::places::Places;
use crate::secrets::SecretStore;
use crate::takeover::{Launch, entry, insert_members, keep_secrets, remove_member};

const SERVERS: &[&str] = &["mcpServers"];

pub(crate) fn add(args: AddArgs, printer: &Printer) -> Result<Exit, Fail> {
    let name = args.name.clone();
    let whose = whose(args.project);
    check_name(&name)?;
    let launch = launch(args)?;
    let places = Places::from_process()?;
    let editing = Editing::open(&places, whose, &working_directory()?)?;
    if has(&editing, &name) {
        let message = format!("`{}` has a server `{name}`", editing.path.display());
        return Err(Problem::error("exists", message)
            .hint(format!(
                "choose another name, or `ambit remove {name}` first"
            ))
            .into());
    }
    let store = SecretStore::open(&places);
    store.names()?;
    let kept = |name: &str| store.get(name).ok().flatten();
    let (launch, secrets) = keep_secrets(&name, launch, &kept);
    let text = editing.text.as_deref().unwrap_or("");
    let text = insert_members(text, SERVERS, &[(name.clone(), entry(&launch))])
        .map_err(|error| editing.unusable(error))?;
    for secret in &secrets {
        store.set(&secret.name, secret.value.clone())?;
    }
    editing.write(&text)?;
    let stored: Vec<&str> = secrets.iter().map(|it| it.name.as_str()).collect();
    if printer.is_json() {
        printer.document(json!({"added": name, "file": editing.path, "secrets": stored}));
        return Ok(Exit::Done);
    }
    printer.line(format!(
        "added {} to {}",
        styled(BOLD, &name),
        editing.path.display()
    ));
    for secret in stored {
        printer.line(format!("  kept in the secret store as `{secret}`"));
    }
    // A project's servers are granted by name even where no agent is configured.
    if editing.has_agents() || whose == Whose::Project {
        printer.note(format!(
            "next: grant it with `\"{name}\": {{}}` in an agent's `capabilities`, then `ambit ls`"
        ));
    } else {
        printer.note("next: `ambit ls` shows what it offers");
    }
    Ok(Exit::Done)
}

pub(crate) fn remove(args: &RemoveArgs, printer: &Printer) -> Result<Exit, Fail> {
    let name = &args.name;
    let places = Places::from_process()?;
    let directory = working_directory()?;
    let editing = Editing::open(&places, whose(args.project), &directory)?;
    let text = editing.text.as_deref().unwrap_or("{}");
    let removed = remove_member(text, SERVERS, name).map_err(|error| editing.unusable(error))?;
    let Some(text) = removed else {
        let message = format!("`{}` has no server `{name}`", editing.path.display());
        let problem = Problem::error("unknown_server", message);
        return Err(Fail::no(match args.project {
            false => problem.hint("`--project` looks in this folder's file"),
            true => problem.hint("without `--project` your own file is edited"),
        }));
    };
    editing.write(&text)?;
    if printer.is_json() {
        printer.document(json!({"removed": name, "file": editing.path}));
    } else {
        printer.line(format!(
            "removed {} from {}",
            styled(BOLD, name),
            editing.path.display()
        ));
        if editing.has_agents() {
            printer.note("next: `ambit check` says whether an agent still grants it");
        }
    }
    Ok(Exit::Done)
}

fn whose(project: bool) -> Whose {
    match project {
        true => Whose::Project,
        false => Whose::User,
    }
}

fn has(editing: &Editing<'_>, name: &str) -> bool {
    let text = editing.text.as_deref().unwrap_or("{}");
    let document = Document::parse(Source::new(&editing.path, text));
    document.is_ok_and(|it| {
        let servers = it.value.get("mcpServers");
        servers.is_some_and(|it| it.get(name).is_some())
    })
}

fn check_name(name: &str) -> Result<(), Fail> {
    if !is_owner(name) {
        let message = format!("`{name}` cannot name a server");
        return Err(Problem::error("server_name_invalid", message)
            .hint("use letters, digits, `-` and single `_`, beginning with a letter or digit")
            .into());
    }
    if keys::reserved().iter().any(|it| it == name) {
        let message = format!("a built-in capability is called `{name}`");
        return Err(Problem::error("name_taken", message)
            .hint("give the server another name")
            .into());
    }
    Ok(())
}

fn launch(args: AddArgs) -> Result<Launch, Fail> {
    let map = |pairs: Vec<(String, String)>| pairs.into_iter().collect::<BTreeMap<_, _>>();
    let wrong = |message: &str| {
        let hint = "`ambit add NAME -- COMMAND…` starts a program, `ambit add NAME URL` reaches an address";
        Fail::usage(Problem::error("usage", message).hint(hint))
    };
    let mut words = args.command.into_iter();
    match (words.next(), args.url) {
        (Some(_), Some(_)) => Err(wrong("a server has a command or an address, not both")),
        (None, None) => Err(wrong("neither a command nor an address was given")),
        (Some(_), None) if !args.headers.is_empty() => {
            Err(wrong("`--header` is for servers with an address"))
        }
        (None, Some(_)) if !args.env.is_empty() => {
            Err(wrong("`--env` is for servers with a command"))
        }
        (Some(command), None) => Ok(Launch::Command {
            command,
            args: words.collect(),
            env: map(args.env),
            cwd: None,
        }),
        (None, Some(url)) if !is_address(&url) => Err(wrong(
            "an address begins with `http://` or `https://`; a command stands after `--`",
        )),
        (None, Some(url)) => Ok(Launch::Address {
            url,
            headers: map(args.headers),
        }),
    }
}

fn is_address(url: &str) -> bool {
    ["http://", "https://", "${"]
        .iter()
        .any(|it| url.starts_with(it))
}
