//! The servers of all clients as entries of one `ambit.json`: the same server once, different
//! servers of one name apart, and nothing that is there already touched.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ambit_core::id::{is_owner, skeleton};
use serde_json::{Map, Value, json};

use super::clients::{ClientFile, ClientId, Scope};
use super::dialect::{FoundServer, Launch};
use super::json::Members;
use super::plan::World;
use super::secrets::{NewSecret, in_sight, keep_secrets};
use super::variables::{Note, translate};
use crate::secrets::SecretValue;

/// Who has a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The client.
    pub client: ClientId,
    /// For whom.
    pub scope: Scope,
    /// In which file.
    pub path: PathBuf,
    /// Under which name.
    pub name: String,
}

/// What becomes of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is written.
    Added,
    /// It is there already.
    Present,
    /// Another of its name is there already, and stays.
    Differs,
}

impl Fate {
    /// In a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Fate::Added => "added",
            Fate::Present => "present",
            Fate::Differs => "differs",
        }
    }
}

/// A server as it is to stand in `ambit.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Its name there.
    pub name: String,
    /// Its entry.
    pub entry: Members,
    /// Who has it now; more than one means it was configured more than once.
    pub uses: Vec<Use>,
    /// What becomes of it.
    pub fate: Fate,
    /// Written switched off.
    pub disabled: bool,
    /// What a person should know.
    pub notes: Vec<Note>,
    /// Names of the secrets that go into the store.
    pub secrets: Vec<String>,
    /// As configured, its inline secrets included: what makes two of them the same.
    launch: Launch,
}

/// The servers so far.
pub(super) struct Merge<'a> {
    world: &'a World<'a>,
    existing: Map<String, Value>,
    pub(super) servers: Vec<Planned>,
    pub(super) secrets: Vec<NewSecret>,
}

impl<'a> Merge<'a> {
    pub(super) fn new(world: &'a World<'a>, existing: Map<String, Value>) -> Self {
        Merge {
            world,
            existing,
            servers: Vec::new(),
            secrets: Vec::new(),
        }
    }

    /// Takes in a server of a client.
    pub(super) fn add(&mut self, file: &ClientFile, found: &FoundServer) {
        let Ok(launch) = &found.launch else {
            return;
        };
        let usage = Use {
            client: file.client,
            scope: file.scope,
            path: file.path.clone(),
            name: found.name.clone(),
        };
        let translated = translate(file.client, launch, self.world.variable);
        if let Some(same) = self
            .servers
            .iter_mut()
            .find(|it| it.launch == translated.launch)
        {
            same.uses.push(usage);
            let needs_someone = same.notes.iter().any(Note::switches_off);
            if !found.switched_off && !needs_someone {
                same.disabled = false;
            }
            return;
        }
        let mut notes = found.notes.clone();
        notes.extend(translated.notes);
        notes.retain(|it| match it {
            Note::Input(name) => self.kept(name).is_none(),
            _ => true,
        });
        if in_sight(&translated.launch) {
            notes.push(Note::SecretInSight);
        }
        if let Launch::Command { command, .. } = &translated.launch
            && !(self.world.on_path)(command)
        {
            notes.push(Note::Dead(command.clone()));
        }
        let name = self.free_name(&found.name, file.client);
        let kept = |name: &str| self.kept(name);
        let (launch, new) = keep_secrets(&name, translated.launch.clone(), &kept);
        let entry = entry(&launch);
        let (name, fate) = self.fate(name, &entry);
        if fate == Fate::Added {
            self.secrets.extend(new.iter().cloned());
        }
        self.servers.push(Planned {
            name,
            entry,
            uses: vec![usage],
            fate,
            disabled: found.switched_off || notes.iter().any(Note::switches_off),
            notes,
            secrets: new.into_iter().map(|it| it.name).collect(),
            launch: translated.launch,
        });
    }

    fn kept(&self, name: &str) -> Option<SecretValue> {
        let new = self.secrets.iter().find(|it| it.name == name);
        new.map(|it| it.value.clone())
            .or_else(|| (self.world.secret)(name))
    }

    /// A name Ambit accepts, and that nobody can mistake for another server's.
    fn free_name(&self, wanted: &str, client: ClientId) -> String {
        let clean: String = wanted
            .chars()
            .map(|c| match c.is_ascii_alphanumeric() || c == '-' {
                true => c,
                false => '-',
            })
            .collect();
        let clean = clean.trim_matches('-');
        let base = match is_owner(wanted) {
            true => wanted.to_owned(),
            false if is_owner(clean) => clean.to_owned(),
            false => "server".to_owned(),
        };
        let base = match self.world.reserved.contains(&base.as_str()) {
            true => format!("{base}-mcp"),
            false => base,
        };
        let taken = |name: &str| {
            let looks = skeleton(name);
            let existing = self.existing.keys().filter(|it| it.as_str() != name);
            let planned = self.servers.iter().map(|it| &it.name);
            existing.chain(planned).any(|it| skeleton(it) == looks)
        };
        let by_client = format!("{base}-{client}");
        let numbered = (2..1000).map(|n| format!("{by_client}-{n}"));
        let mut names = [base.clone(), by_client.clone()]
            .into_iter()
            .chain(numbered);
        names.find(|it| is_owner(it) && !taken(it)).unwrap_or(base)
    }

    /// Under which name it stands in `ambit.json`, and whether it is there already.
    fn fate(&self, name: String, entry: &Members) -> (String, Fate) {
        let entry: Map<String, Value> = entry.iter().cloned().collect();
        let same = |existing: &Value| {
            let existing = existing.as_object().into_iter().flatten();
            let launch = existing.filter(|(key, _)| LAUNCH.contains(&key.as_str()));
            launch
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect::<Map<_, _>>()
                == entry
        };
        if let Some(existing) = self.existing.get(&name) {
            let fate = match same(existing) {
                true => Fate::Present,
                false => Fate::Differs,
            };
            return (name, fate);
        }
        match self.existing.iter().find(|(_, it)| same(it)) {
            Some((other, _)) => (other.clone(), Fate::Present),
            None => (name, Fate::Added),
        }
    }
}

/// The keys of an entry that say how it is reached.
const LAUNCH: [&str; 6] = ["command", "args", "env", "cwd", "url", "headers"];

/// A launch as an entry of `mcpServers`.
pub fn entry(launch: &Launch) -> Vec<(String, Value)> {
    let map = |it: &BTreeMap<String, String>| json!(it);
    let members = match launch {
        Launch::Command {
            command,
            args,
            env,
            cwd,
        } => vec![
            ("command", json!(command)),
            ("args", json!(args)),
            ("env", map(env)),
            ("cwd", json!(cwd)),
        ],
        Launch::Address { url, headers } => vec![("url", json!(url)), ("headers", map(headers))],
    };
    let says_something = |value: &Value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    };
    let members = members
        .into_iter()
        .filter(|(_, value)| says_something(value));
    members
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}
