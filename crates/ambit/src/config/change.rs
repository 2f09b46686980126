//! What an edit does: nothing, something, or something that widens what an agent may do and
//! therefore waits for a person.
//!
//! Where it cannot be told whether a change widens, it counts as widening.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use ambit_gateway::client::ClientTable;
use ambit_mcp::NewTools;
use serde_json::{Map, Value};

use super::file::Agent;
use super::merged::Config;
use ambit_core::permission::Subject;

use super::rules::RuleLists;
use super::server::{McpServer, ServerSettings};

/// What became of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigChange {
    /// Both say the same.
    Unchanged,
    /// They differ, and no agent may do more than before.
    Changed {
        /// What differs, a line each.
        what: Vec<String>,
    },
    /// Some agent may do more than before, or something else runs than before.
    Widens {
        /// What widens, a line each.
        what: Vec<String>,
    },
}

/// What the edit from `before` to `after` does.
pub fn compare(before: &Config, after: &Config) -> ConfigChange {
    let mut found = Found::default();
    found.agents(before, after);
    found.servers(&before.mcp_servers, &after.mcp_servers);
    found.ordered("mode", &before.mode, &after.mode);
    found.rules("", &before.permissions, &after.permissions);
    found.rules("your ", &before.user_permissions, &after.user_permissions);
    found.hooks(before, after);
    let (old, new) = (&before.limits, &after.limits);
    found.ordered("limit `resultBytes`", &old.result_bytes, &new.result_bytes);
    found.ordered("limit `inputBytes`", &old.input_bytes, &new.input_bytes);
    found.ordered("limit `callSeconds`", &old.call, &new.call);
    found.ordered("limit `approvalSeconds`", &old.approval, &new.approval);
    found.ordered("limit `runTurns`", &old.run_turns, &new.run_turns);
    let most = |it: Option<u64>| it.unwrap_or(u64::MAX);
    found.ordered(
        "limit `runTokens`",
        &most(old.run_tokens),
        &most(new.run_tokens),
    );
    found.models(before, after);
    // What is shown stays inside what is granted, so it never widens.
    if before.discovery != after.discovery {
        found.changes("`discovery` is another");
    }
    found.names("`serve.hosts`", &before.serve.hosts, &after.serve.hosts);
    found.names(
        "`serve.origins`",
        &before.serve.origins,
        &after.serve.origins,
    );
    // Where it listens and how much it takes is settled when it starts.
    if (&before.serve.listen, &before.serve.limits) != (&after.serve.listen, &after.serve.limits) {
        found.changes("`serve` is another, from the next start on");
    }
    found.clients(&before.clients, &after.clients);
    if before.unknown_capabilities != after.unknown_capabilities {
        found.changes("`unknownCapabilities` is another");
    }
    found.verdict()
}

#[derive(Default)]
struct Found {
    changes: Vec<String>,
    widens: Vec<String>,
}

impl Found {
    fn verdict(self) -> ConfigChange {
        if !self.widens.is_empty() {
            ConfigChange::Widens { what: self.widens }
        } else if !self.changes.is_empty() {
            ConfigChange::Changed { what: self.changes }
        } else {
            ConfigChange::Unchanged
        }
    }

    fn changes(&mut self, what: impl Display) {
        self.changes.push(what.to_string());
    }

    fn widens(&mut self, what: impl Display) {
        self.widens.push(what.to_string());
    }

    /// Something of which more is wider.
    fn ordered<T: Ord>(&mut self, what: &str, before: &T, after: &T) {
        match before.cmp(after) {
            std::cmp::Ordering::Less => self.widens(format_args!("{what} is looser")),
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => self.changes(format_args!("{what} is stricter")),
        }
    }

    /// A list of which each entry lets somebody in.
    fn names(&mut self, what: &str, before: &BTreeSet<String>, after: &BTreeSet<String>) {
        for name in after.difference(before) {
            self.widens(format_args!("{what} has `{name}`"));
        }
        for name in before.difference(after) {
            self.changes(format_args!("{what} has `{name}` no more"));
        }
    }

    fn agents(&mut self, before: &Config, after: &Config) {
        for name in before.agents.keys() {
            if !after.agents.contains_key(name) {
                self.changes(format_args!("agent `{name}` is gone"));
            }
        }
        for (name, new) in &after.agents {
            let Some(old) = before.agents.get(name) else {
                self.widens(format_args!("agent `{name}` is new"));
                continue;
            };
            let who = format!("agent `{name}`");
            self.capabilities(&who, old, new);
            let mode = format!("{who}: mode");
            self.ordered(&mode, &before.mode_of(old), &after.mode_of(new));
            self.rules(&format!("{who}: "), &old.permissions, &new.permissions);
            if old.description != new.description {
                self.changes(format_args!("{who}: description is another"));
            }
            if old.instructions != new.instructions || old.model != new.model {
                self.changes(format_args!(
                    "{who}: what it is told or run with is another"
                ));
            }
            if old.unknown_capabilities != new.unknown_capabilities || old.origin != new.origin {
                self.changes(format_args!(
                    "{who}: where it stands or how it is read is another"
                ));
            }
        }
    }

    /// Where a conversation is sent.
    fn models(&mut self, before: &Config, after: &Config) {
        for name in before.models.keys() {
            if !after.models.contains_key(name) {
                self.changes(format_args!("model `{name}` is gone"));
            }
        }
        for (name, new) in &after.models {
            match before.models.get(name) {
                None => self.widens(format_args!("model `{name}` is new")),
                Some(old) if old != new => self.widens(format_args!("model `{name}` is another")),
                Some(_) => {}
            }
        }
        if before.default_model != after.default_model {
            self.changes("`defaultModel` is another");
        }
    }

    fn capabilities(&mut self, who: &str, old: &Agent, new: &Agent) {
        let (old, new) = (&old.capabilities.0, &new.capabilities.0);
        for key in old.keys().filter(|key| !new.contains_key(*key)) {
            self.changes(format_args!("{who}: `{key}` is gone"));
        }
        for (key, new) in new {
            match old.get(key) {
                None => self.widens(format_args!("{who}: `{key}` is new")),
                Some(old) => self.capability(&format!("{who}: `{key}`"), old, new),
            }
        }
    }

    fn capability(&mut self, what: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        let config = |it: &Map<String, Value>| {
            let mut rest = it.clone();
            let tools = rest.remove("tools");
            (rest, tools)
        };
        let ((old_rest, old_tools), (new_rest, new_tools)) = (config(old), config(new));
        if old_rest != new_rest {
            self.widens(format_args!("{what}: its config is another"));
        }
        let set = |tools: &Value| -> BTreeSet<String> {
            let tools = tools.as_array().into_iter().flatten();
            tools.map(Value::to_string).collect()
        };
        match (&old_tools, &new_tools) {
            (Some(_), None) => self.widens(format_args!("{what}: `tools` is gone, so it has all")),
            (None, Some(_)) => self.changes(format_args!("{what}: only some `tools` are left")),
            (Some(old), Some(new)) if old != new => {
                let (old, new) = (set(old), set(new));
                if new.is_subset(&old) {
                    self.changes(format_args!("{what}: fewer `tools`"));
                }
                for tool in new.difference(&old) {
                    self.widens(format_args!("{what}: tool {tool} is new"));
                }
            }
            _ => {}
        }
    }

    fn servers(
        &mut self,
        before: &BTreeMap<String, McpServer>,
        after: &BTreeMap<String, McpServer>,
    ) {
        for name in before.keys().filter(|name| !after.contains_key(*name)) {
            self.changes(format_args!("server `{name}` is gone"));
        }
        for (name, new) in after {
            let Some(old) = before.get(name) else {
                self.widens(format_args!("server `{name}` is new"));
                continue;
            };
            match (old.disabled, new.disabled) {
                (true, false) => self.widens(format_args!("server `{name}` is enabled")),
                (false, true) => self.changes(format_args!("server `{name}` is disabled")),
                _ => {}
            }
            self.settings(name, old, new);
            // Whatever else differs, another program may run or answer.
            let same_otherwise = McpServer {
                disabled: new.disabled,
                settings: new.settings.clone(),
                unknown: new.unknown.clone(),
                ..old.clone()
            };
            if same_otherwise != *new {
                self.widens(format_args!(
                    "server `{name}` is started or reached otherwise"
                ));
            }
        }
    }

    fn settings(&mut self, name: &str, old: &McpServer, new: &McpServer) {
        match (old.new_tools(), new.new_tools()) {
            (NewTools::Ask, NewTools::Allow) => {
                self.widens(format_args!("server `{name}` may add tools"))
            }
            (NewTools::Allow, NewTools::Ask) => {
                self.changes(format_args!("server `{name}` may not add tools"))
            }
            _ => {}
        }
        let (old, new) = (&old.settings, &new.settings);
        if old.effects != new.effects {
            self.widens(format_args!(
                "server `{name}`: its tools count as something else"
            ));
        }
        if old.names != new.names {
            self.changes(format_args!(
                "server `{name}`: its tools are named otherwise"
            ));
        }
        let same_otherwise = ServerSettings {
            names: new.names,
            new_tools: new.new_tools,
            effects: new.effects.clone(),
            ..old.clone()
        };
        if same_otherwise != *new {
            self.changes(format_args!(
                "server `{name}` is waited for or kept otherwise"
            ));
        }
    }

    fn clients(&mut self, before: &ClientTable, after: &ClientTable) {
        let asks = |table: &ClientTable, name: &str| table.0.get(name).and_then(|it| it.asks);
        for name in after.0.keys() {
            if asks(after, name) == Some(true) && asks(before, name) != Some(true) {
                self.widens(format_args!("client `{name}` is taken at its word"));
            }
        }
        // What is forgotten of a client may be that it does not ask.
        for name in before.0.keys() {
            if asks(before, name) == Some(false) && asks(after, name).is_none() {
                self.widens(format_args!("client `{name}` may be taken at its word"));
            }
        }
        if before != after {
            self.changes("`clients` is another");
        }
    }

    fn rules(&mut self, whose: &str, before: &RuleLists, after: &RuleLists) {
        let gained = |old: &BTreeSet<Subject>, new: &BTreeSet<Subject>| -> Vec<Subject> {
            new.difference(old).cloned().collect()
        };
        for it in gained(&before.allow, &after.allow) {
            self.widens(format_args!("{whose}`allow` has `{it}`"));
        }
        for it in gained(&after.allow, &before.allow) {
            self.changes(format_args!("{whose}`allow` has `{it}` no more"));
        }
        for it in gained(&before.ask, &after.ask) {
            // Asking is stricter than allowing, but where it is the more specific rule it
            // outweighs a denial.
            let line = format!("{whose}`ask` has `{it}`");
            if before.deny.is_empty() || before.allow.contains(&it) {
                self.changes(line);
            } else {
                self.widens(line);
            }
        }
        for it in gained(&after.ask, &before.ask) {
            self.widens(format_args!("{whose}`ask` has `{it}` no more"));
        }
        for it in gained(&before.deny, &after.deny) {
            self.changes(format_args!("{whose}`deny` has `{it}`"));
        }
        for it in gained(&after.deny, &before.deny) {
            self.widens(format_args!("{whose}`deny` has `{it}` no more"));
        }
    }

    fn hooks(&mut self, before: &Config, after: &Config) {
        if before.hooks == after.hooks {
            return;
        }
        for old in &before.hooks {
            let name = &old.name;
            let same = |it: &&super::file::Hook| it.name == *name && it.origin == old.origin;
            match after.hooks.iter().find(same) {
                None => self.widens(format_args!("hook `{name}` is gone")),
                Some(new) if new != old => self.widens(format_args!("hook `{name}` is another")),
                Some(_) => {}
            }
        }
        self.changes("there are other hooks, or in another order");
    }
}
