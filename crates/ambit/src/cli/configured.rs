//! Agents as they are configured, for the capability that edits them: read from both files, edited
//! in the one they stand in, and only as far as it is the caller's to do. The rest is left for a
//! person, who says yes with `ambit trust accept --edit`.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use ambit_builtins::management::{AgentEdit, AgentsFile, ConfiguredAgent, Edited};
use ambit_core::code::Code;
use ambit_core::digest::Digest;
use ambit_core::observation::Failure;
use ambit_core::suggest::{did_you_mean, suggest};
use serde_json::Value;

use crate::cli::check::grant_problem;
use crate::cli::edit::{Editing, Whose};
use crate::cli::fail::Fail;
use crate::cli::setup::{Instead, Setup, working_directory};
use crate::config::{
    Config, Document, Guard, Origin, Problem, Source, Widening, WideningReason, widened_by,
};
use crate::places::{Places, private_directory};
use crate::takeover::{edit_members, remove_member};
use crate::trust::{NewProposal, ProposedEdit, TrustStore};

const AGENTS: &str = "agents";
/// In the order a person would write them.
const MEMBERS: [&str; 5] = [
    "description",
    "instructions",
    "capabilities",
    "mode",
    "permissions",
];

/// The agents of the configuration, read anew for every question.
pub(crate) struct ConfiguredAgents;

impl AgentsFile for ConfiguredAgents {
    fn agents(&self) -> Result<Vec<ConfiguredAgent>, Failure> {
        let setup = Setup::read(false).map_err(failure)?;
        let config = &setup.loaded.config;
        let agents = config.agents.iter().map(|(name, agent)| ConfiguredAgent {
            name: name.clone(),
            file: match agent.origin {
                Origin::User => "user",
                Origin::Project => "project",
                Origin::Implied => "none",
            },
            mode: config.mode_of(agent).as_str(),
            entry: written_entry(&setup, name, agent.origin).unwrap_or_else(|| {
                // Nothing is written of an agent that is only implied.
                serde_json::json!({"capabilities": agent.capabilities.to_value()})
            }),
        });
        Ok(agents.collect())
    }

    fn edit(&self, callers: &[String], edit: &AgentEdit) -> Result<Edited, Failure> {
        let places = Places::from_process().map_err(|error| failure(error.into()))?;
        let _locked = lock(&places)?;
        let planned = Planned::new(&places, edit)?;
        let before = Setup::read(false).map_err(failure)?;
        let configured = &before.loaded.config.agents;
        if let Some(gone) = callers.iter().find(|it| !configured.contains_key(*it)) {
            return Err(Failure::refused(format!(
                "agent `{gone}` is not configured any more, so it cannot change others"
            )));
        }
        let after = planned.checked(edit.name())?;
        let reasons = reasons(callers, edit, &before, &after)?;
        if reasons.is_empty() {
            planned.write(&before.trust)?;
            return Ok(Edited::Written {
                file: planned.editing.path.display().to_string(),
            });
        }
        let proposal = NewProposal {
            agent: callers.first().cloned().unwrap_or_default(),
            path: planned.editing.path.clone(),
            edit: serde_json::to_string(edit).unwrap_or_default(),
            seen: planned.seen,
            what: reasons.join("\n"),
            diff: diff(planned.before(), &planned.text),
        };
        let number = before.trust.propose_edit(&proposal);
        let number = number.map_err(|error| failure(error.into()))?;
        Ok(Edited::Waits {
            because: reasons,
            how: format!("ambit trust accept --edit {number}"),
        })
    }
}

/// Makes an edit an agent proposed, now that a person has said yes.
pub(crate) fn accept(
    places: &Places,
    store: &TrustStore,
    proposed: &ProposedEdit,
) -> Result<(), Fail> {
    let refused = |failure: Failure| {
        let drop = format!("`ambit trust drop {}` forgets it", proposed.n);
        Fail::no(Problem::error(failure.code.as_str(), failure.message).hint(drop))
    };
    let unreadable = |error: serde_json::Error| {
        Problem::error("proposal", format!("the edit cannot be read: {error}"))
    };
    let edit: AgentEdit = serde_json::from_str(&proposed.proposal.edit).map_err(unreadable)?;
    let _locked = lock(places).map_err(refused)?;
    let planned = Planned::new(places, &edit).map_err(refused)?;
    if planned.editing.path != proposed.proposal.path || planned.seen != proposed.proposal.seen {
        let message = format!(
            "agent `{}` is not what it was when this edit of it was proposed",
            edit.name()
        );
        return Err(refused(Failure::refused(message)));
    }
    planned.checked(edit.name()).map_err(refused)?;
    planned.write(store).map_err(refused)?;
    store.drop_proposal(proposed.n)?;
    Ok(())
}

/// An edit, and what the file would say.
struct Planned<'a> {
    editing: Editing<'a>,
    text: String,
    /// Of what stands in its place now.
    seen: Digest,
}

impl<'a> Planned<'a> {
    fn new(places: &'a Places, edit: &AgentEdit) -> Result<Self, Failure> {
        let setup = Setup::read(false).map_err(failure)?;
        let whose = whose(&setup, edit)?;
        let directory = working_directory().map_err(failure)?;
        let editing = Editing::open(places, whose, &directory).map_err(failure)?;
        let before = editing.text.as_deref().unwrap_or("");
        let text = edited(before, edit).map_err(|error| failure(editing.unusable(error)))?;
        let seen = entry_in(&editing.path, before, edit.name());
        let seen = seen.and_then(|it| Digest::of(&it));
        Ok(Planned {
            seen: seen.unwrap_or(Digest::ZERO),
            editing,
            text,
        })
    }

    fn before(&self) -> &str {
        self.editing.text.as_deref().unwrap_or("")
    }

    /// The configuration as it would be, if it can be used at all.
    fn checked(&self, name: &str) -> Result<Setup, Failure> {
        let after = Setup::read_instead(&Instead {
            path: &self.editing.path,
            text: &self.text,
        });
        let after = after.map_err(failure)?;
        let Some(agent) = after.loaded.config.agents.get(name) else {
            return Ok(after);
        };
        let cache = after.cache().map_err(failure)?;
        let registry = after.registry(&after.servers(&cache));
        let unknown = after.loaded.config.unknown_capabilities_of(agent);
        let checked = registry.check(&agent.capabilities.to_value(), unknown);
        match checked {
            Ok(_) => Ok(after),
            Err(found) => {
                let problems = found.iter().map(|it| grant_problem(&after, name, it));
                Err(failure(problems.collect::<Vec<_>>().into()))
            }
        }
    }

    /// Writes it. Accepted as it is now, so that no running server asks about it again.
    fn write(&self, trust: &TrustStore) -> Result<(), Failure> {
        self.editing.write(&self.text).map_err(failure)?;
        let digest = Digest::of_bytes(self.text.as_bytes());
        let accepted = trust.accept_project(&self.editing.path, &digest);
        accepted.map_err(|error| failure(error.into()))
    }
}

/// Which file the edit is about: where the agent stands; for a new one the project's, if it is
/// accepted, else the user's.
fn whose(setup: &Setup, edit: &AgentEdit) -> Result<Whose, Failure> {
    let name = edit.name();
    let agents = &setup.loaded.config.agents;
    let found = agents.get(name).filter(|it| it.origin != Origin::Implied);
    let trusted = setup
        .loaded
        .project
        .as_ref()
        .is_some_and(|it| it.is_trusted());
    match (edit, found) {
        (AgentEdit::Create { .. }, Some(_)) => Err(Failure::refused(format!(
            "there is an agent `{name}` already; change it with update_agent"
        ))),
        (AgentEdit::Create { .. }, None) if trusted => Ok(Whose::Project),
        (AgentEdit::Create { .. }, None) => Ok(Whose::User),
        (_, Some(agent)) if agent.origin == Origin::Project => Ok(Whose::Project),
        (_, Some(_)) => Ok(Whose::User),
        (_, None) if agents.contains_key(name) => Err(Failure::refused(format!(
            "agent `{name}` is written in no file; add it with create_agent"
        ))),
        (_, None) => {
            let near = suggest(name, agents.keys().map(String::as_str));
            let hint = did_you_mean(&near);
            let hint = hint.unwrap_or_else(|| "list_agents says which there are".to_owned());
            Err(Failure::refused(format!(
                "there is no agent `{name}`; {hint}"
            )))
        }
    }
}

/// The text with the edit made and everything else as it was.
fn edited(text: &str, edit: &AgentEdit) -> Result<String, crate::takeover::EditError> {
    match edit {
        AgentEdit::Create { name, entry } | AgentEdit::Update { name, entry } => {
            let member = |it: &&str| Some(((*it).to_owned(), entry.get(*it)?.clone()));
            let members: Vec<(String, Value)> = MEMBERS.iter().filter_map(member).collect();
            edit_members(text, &[AGENTS, name], &members)
        }
        AgentEdit::Delete { name } => {
            let removed = remove_member(text, &[AGENTS], name)?;
            Ok(removed.unwrap_or_else(|| text.to_owned()))
        }
    }
}

/// Why it is not the callers' to do: it has to be within the bound of each of them.
fn reasons(
    callers: &[String],
    edit: &AgentEdit,
    before: &Setup,
    after: &Setup,
) -> Result<Vec<String>, Failure> {
    let (old, new) = (&before.loaded.config, &after.loaded.config);
    let others = Config {
        agents: old.agents.clone(),
        ..new.clone()
    };
    if others != *old {
        return Err(Failure::refused(
            "the edit would change more than this agent; a person has to make it",
        ));
    }
    let tokens = before.trust.tokens();
    let tokens = tokens.map_err(|error| failure(error.into()))?;
    let guard = |name: &str| match tokens.iter().any(|it| it.agent == name) {
        true => Guard::Token,
        false => Guard::Open,
    };
    let more = callers
        .iter()
        .flat_map(|it| widened_by(it, old, new, &guard));
    let mut found: Vec<Widening> = more.collect();
    found.extend(filled_in(edit).into_iter().map(|member| Widening {
        agent: edit.name().to_owned(),
        tense: crate::config::Tense::After,
        reason: WideningReason::FillsIn { member },
    }));
    let mut lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    lines.dedup();
    Ok(lines)
}

/// Members beside the capabilities that would have something filled in: what is in a description
/// can be read by whoever reads agents. A capability's config is compared as a whole.
fn filled_in(edit: &AgentEdit) -> Vec<String> {
    let (AgentEdit::Create { entry, .. } | AgentEdit::Update { entry, .. }) = edit else {
        return Vec::new();
    };
    let members = entry.iter().filter(|(name, _)| *name != "capabilities");
    let filled = members.filter(|(_, value)| value.to_string().contains("${"));
    filled.map(|(name, _)| name.clone()).collect()
}

/// What the file says of an agent, nothing filled in.
fn written_entry(setup: &Setup, name: &str, origin: Origin) -> Option<Value> {
    let path = match origin {
        Origin::Project => setup.loaded.project.as_ref()?.path.clone(),
        Origin::User => setup.places.config_file().to_owned(),
        Origin::Implied => return None,
    };
    let text = std::fs::read_to_string(&path).ok()?;
    entry_in(&path, &text, name)
}

fn entry_in(path: &Path, text: &str, name: &str) -> Option<Value> {
    let document = Document::parse(Source::new(path, text)).ok()?;
    document.value.get(AGENTS)?.get(name).cloned()
}

/// The lines that differ, and two around them. An edit is in one place.
fn diff(before: &str, after: &str) -> String {
    const CONTEXT: usize = 2;
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(same).count();
    let left = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev());
    let tail = tail.take(left).take_while(same).count();
    let part = |lines: &[&str], mark: &str| -> Vec<String> {
        let end = lines.len() - tail;
        let part = lines.iter().take(end).skip(head);
        part.map(|it| format!("{mark} {it}")).collect()
    };
    let around = |from: usize, to: usize| {
        let lines = new.iter().take(to).skip(from);
        lines.map(|it| format!("  {it}")).collect::<Vec<_>>()
    };
    let end = new.len() - tail;
    let lines = [
        around(head.saturating_sub(CONTEXT), head),
        part(&old, "-"),
        part(&new, "+"),
        around(end, (end + CONTEXT).min(new.len())),
    ];
    lines.concat().join("\n")
}

/// One edit at a time, in all processes of this user.
fn lock(places: &Places) -> Result<File, Failure> {
    let path: PathBuf = places.state().join("edit.lock");
    let locked = || -> io::Result<File> {
        private_directory(places.state())?;
        let mut options = OpenOptions::new();
        let file = options.append(true).create(true).mode(0o600).open(&path)?;
        file.lock()?;
        Ok(file)
    };
    locked().map_err(|error| {
        let message = format!("`{}` cannot be locked: {error}", path.display());
        Failure::new(Code::ProviderFailed, message)
    })
}

/// What is wrong, and what to do about it, for whoever called.
fn failure(fail: Fail) -> Failure {
    let line = |it: &Problem| match &it.hint {
        Some(hint) => format!("{it} ({hint})"),
        None => it.to_string(),
    };
    let lines: Vec<String> = fail.problems.iter().map(line).collect();
    Failure::refused(lines.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_shows_the_place_that_changes() {
        let before = "{\n  // a\n  \"a\": 1,\n  \"b\": 2\n}\n";
        let after = "{\n  // a\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}\n";
        assert_eq!(
            diff(before, after),
            "    // a\n    \"a\": 1,\n-   \"b\": 2\n+   \"b\": 2,\n+   \"c\": 3\n  }"
        );
        assert_eq!(diff("", "a"), "+ a");
        assert_eq!(diff("a", ""), "- a");
        assert_eq!(diff("a\na", "a"), "  a\n- a");
    }

    #[test]
    fn an_edit_touches_its_entry_and_nothing_else() {
        let text = "// mine\n{\n  \"agents\": {\n    // for code\n    \"a\": { \"capabilities\": {}, /* why */ \"mode\": \"ask\" },\n  },\n}\n";
        let update = |entry: Value| AgentEdit::Update {
            name: "a".to_owned(),
            entry: entry.as_object().unwrap().clone(),
        };
        let out = edited(
            text,
            &update(serde_json::json!({"mode": "auto", "description": "d"})),
        )
        .unwrap();
        for kept in [
            "// mine",
            "// for code",
            "/* why */",
            "\"mode\": \"auto\"",
            "\"description\": \"d\"",
        ] {
            assert!(out.contains(kept), "{kept}: {out}");
        }
        let out = edited(text, &update(serde_json::json!({"mode": null}))).unwrap();
        assert!(
            !out.contains("mode") && out.contains("// for code"),
            "{out}"
        );
    }
}
