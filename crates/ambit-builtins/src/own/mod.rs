//! `self`: an agent's own instructions, responsibilities and skills, which it may read and, where a
//! person agrees, change.
//!
//! All of it is text. None of it is looked at when it is decided what the agent may do, so nothing
//! written here grants anything. Every change keeps what was there before (`changes`), and a person
//! takes it back.

mod changes;
mod document;
mod instructions;
mod responsibilities;
mod skills;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ambit_core::effects::Effects;
use ambit_core::manifest::Acceptance;
use ambit_core::observation::{Failure, Output};
use ambit_core::printable::is_bidirectional;
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::declare::object;
use crate::pack::{Pack, Tool};
use crate::store::Store;
use crate::{Builtins, Clock};

pub(crate) use changes::PART;
pub use changes::{By, Change, Undone};
pub use instructions::own_instructions;
pub use responsibilities::{Responsibility, responsibilities};
pub use skills::{SkillFormat, SkillText};

/// The key.
pub const KEY: &str = "self";
const READ: &[&str] = &["self:read"];
const WRITE: &[&str] = &["self:write"];

static PACK: Pack<Own> = Pack {
    key: KEY,
    summary: "Read and change what the agent itself is told: its instructions, responsibilities and skills.",
    tools: &[
        instructions::READ,
        instructions::UPDATE,
        responsibilities::LIST,
        responsibilities::ADD,
        responsibilities::UPDATE,
        responsibilities::REMOVE,
        skills::LIST,
        skills::CREATE,
        skills::UPDATE,
        skills::DELETE,
    ],
};

/// What is one agent's own.
#[derive(Clone)]
pub struct Own {
    store: Arc<Store>,
    clock: Clock,
    agent: String,
    folder: PathBuf,
    skills: Option<Arc<dyn SkillFormat>>,
}

impl Own {
    /// Of this agent, whose folder this is.
    pub fn of(builtins: &Builtins, agent: &str, folder: &Path) -> Self {
        Own {
            store: Arc::clone(&builtins.store),
            clock: Arc::clone(&builtins.clock),
            agent: agent.to_owned(),
            folder: folder.to_owned(),
            skills: builtins.skills.clone(),
        }
    }
}

/// Makes `self` grantable.
pub(crate) struct SelfResolver(pub(crate) Builtins);

#[async_trait]
impl CapabilityResolver for SelfResolver {
    fn key(&self) -> &str {
        KEY
    }

    fn summary(&self) -> &str {
        PACK.summary
    }

    fn offer(&self) -> Offer {
        let Offer::Declared(mut manifests) = PACK.offer() else {
            return Offer::Declared(Vec::new());
        };
        for manifest in manifests.iter_mut().filter(|it| it.effects.changes()) {
            manifest.acceptance = Acceptance::EveryCall;
        }
        Offer::Declared(manifests)
    }

    fn config_schema(&self) -> Value {
        object(&[], json!({}))
    }

    async fn resolve(
        &self,
        _: &Value,
        context: &ResolverContext,
    ) -> Result<Resolution, ResolveError> {
        let own = Own::of(&self.0, &context.agent, &context.agent_dir);
        let can_write_skills = own.skills.is_some();
        let executor = PACK.executor(own);
        if can_write_skills {
            return Ok(Resolution::Ready(executor));
        }
        let Offer::Declared(manifests) = self.offer() else {
            return Ok(Resolution::Ready(executor));
        };
        let ids = manifests.into_iter().map(|it| it.id);
        let ids = ids.filter(|it| !it.name().contains("skill")).collect();
        Ok(Resolution::Only { executor, ids })
    }
}

/// What every tool of this key has in common.
const fn tool(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    effects: Effects,
    input: fn() -> Value,
    run: fn(&Own, Value) -> Result<Output, Failure>,
) -> Tool<Own> {
    Tool {
        name,
        title,
        description,
        effects,
        risk: None,
        permissions: READ,
        tags: &["self"],
        needs: &[],
        input,
        output: None,
        run,
    }
}

/// The same for one that changes something.
const fn change(it: Tool<Own>) -> Tool<Own> {
    Tool {
        risk: Some(ambit_core::effects::Risk::High),
        permissions: WRITE,
        ..it
    }
}

fn answer(value: Value) -> Output {
    Output::text(value.to_string()).with_structured(value)
}

/// Text a person can look at and see all of.
fn plain(what: &str, text: &str) -> Result<String, Failure> {
    let hidden = |c: &char| (c.is_control() && !matches!(c, '\n' | '\t')) || is_bidirectional(*c);
    let text = text.replace("\r\n", "\n");
    match text.chars().find(hidden) {
        None => Ok(text),
        Some(found) => Err(Failure::refused(format!(
            "`{what}` holds the character U+{:04X}, which cannot be seen; leave it out",
            u32::from(found)
        ))),
    }
}

/// A text on one line.
fn line(what: &str, text: &str) -> Result<String, Failure> {
    let words: Vec<_> = text.split_whitespace().collect();
    match words.is_empty() {
        true => Err(Failure::refused(format!("`{what}` is empty"))),
        false => plain(what, &words.join(" ")),
    }
}
