//! What taking over would do. Nothing is touched here, and nothing outside the arguments counts.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;

use super::clients::{ClientId, Scope, Syntax};
use super::dialect::KeptReason;
use super::json::{Members, insert_members};
use super::merge::{Fate, Merge, Planned};
use super::rewire::{EditError, Rewire, rewired};
use super::scan::{self, FileState, Scanned};
use super::secrets::NewSecret;
use crate::secrets::SecretValue;

/// What a plan depends on besides the clients' files.
pub struct World<'a> {
    /// Which scopes are taken over.
    pub scopes: &'a [Scope],
    /// Clients named by the person; none means all that have servers.
    pub clients: &'a [ClientId],
    /// `ambit.json` as it is, where it is there.
    pub config: Option<&'a str>,
    /// Names a server cannot have.
    pub reserved: &'a [&'a str],
    /// The program clients are to start.
    pub binary: &'a Path,
    /// The environment.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// The secret store.
    pub secret: &'a dyn Fn(&str) -> Option<SecretValue>,
    /// Whether a program can be found.
    pub on_path: &'a dyn Fn(&str) -> bool,
}

/// What taking over would do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The servers.
    pub servers: Vec<Planned>,
    /// What goes into the secret store.
    pub secrets: Vec<NewSecret>,
    /// The new text of `ambit.json`, where it changes.
    pub config: Option<String>,
    /// Whether `ambit.json` names agents: then what is new has to be granted.
    pub has_agents: bool,
    /// What would be written into which client's file.
    pub rewires: Vec<Rewire>,
}

/// Plans. The error is about `ambit.json`.
pub fn plan(scanned: &[Scanned], world: &World<'_>) -> Result<Plan, EditError> {
    let text = world.config.unwrap_or("{}\n");
    let existing = scan::parse(Syntax::Json, text).map_err(|_| EditError::Malformed)?;
    let servers = existing.get("mcpServers").and_then(Value::as_object);
    let mut merge = Merge::new(world, servers.cloned().unwrap_or_default());
    let chosen = |it: &&Scanned| {
        world.scopes.contains(&it.file.scope)
            && (world.clients.is_empty() || world.clients.contains(&it.file.client))
    };
    for it in scanned.iter().filter(chosen) {
        it.servers()
            .iter()
            .for_each(|found| merge.add(&it.file, found));
    }
    let (servers, secrets) = (merge.servers, merge.secrets);
    let added: Vec<(String, Members)> = servers
        .iter()
        .filter(|it| it.fate == Fate::Added)
        .map(|it| (it.name.clone(), written(it)))
        .collect();
    let config = match added.is_empty() {
        true => None,
        false => Some(insert_members(text, &["mcpServers"], &added)?),
    };
    let rewires = scanned.iter().filter(chosen);
    Ok(Plan {
        servers,
        secrets,
        config,
        has_agents: existing.get("agents").is_some(),
        rewires: rewires.filter_map(|it| rewire(it, world)).collect(),
    })
}

fn written(planned: &Planned) -> Members {
    let mut entry = planned.entry.clone();
    if planned.disabled {
        entry.push(("disabled".to_owned(), Value::Bool(true)));
    }
    entry
}

fn rewire(scanned: &Scanned, world: &World<'_>) -> Option<Rewire> {
    let FileState::Read {
        digest,
        text,
        servers,
    } = &scanned.state
    else {
        return None;
    };
    let taken: Vec<&str> = servers
        .iter()
        .filter(|it| it.launch.is_ok())
        .map(|it| it.name.as_str())
        .collect();
    let ours: Vec<&str> = servers
        .iter()
        .filter(|it| it.launch == Err(KeptReason::Ambit))
        .map(|it| it.name.as_str())
        .collect();
    // Without servers a client is given Ambit only where the person named it, and in its main
    // place only.
    if taken.is_empty() && (!ours.is_empty() || world.clients.is_empty() || !is_main(scanned)) {
        return None;
    }
    let replaced = [taken.as_slice(), ours.as_slice()].concat();
    Some(Rewire {
        client: scanned.file.client,
        path: scanned.file.path.clone(),
        syntax: scanned.file.syntax,
        section: scanned.file.section.clone(),
        expected: *digest,
        before: text.clone(),
        after: rewired(&scanned.file, text, &replaced, world.binary),
        taken: taken.into_iter().map(str::to_owned).collect(),
    })
}

/// Whether this is where the client looks first: not a nested section of older versions.
fn is_main(scanned: &Scanned) -> bool {
    scanned.file.scope == Scope::User && scanned.file.section.len() == 1
}
