//! Which skills there are now. Those of people are looked at once; those agents write come and go
//! while Ambit runs, so they are looked at whenever somebody asks what there is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use ambit_core::digest::Digest;
use ambit_core::id::{CapabilityId, skeleton};

use crate::load::folder_digest;
use crate::root::agent_roots;
use crate::scan::{Skill, SkillSet, scan};

/// By id.
pub(crate) type Skills = BTreeMap<CapabilityId, Offered>;

/// A skill, and the digest a person accepts.
#[derive(Clone)]
pub(crate) struct Offered {
    pub(crate) skill: Skill,
    pub(crate) content: Digest,
}

impl Offered {
    /// Whoever else's skill it is, its whole folder is digested now: that is what a person is
    /// asked about. One that cannot be digested cannot be offered.
    fn new(skill: Skill) -> Option<Self> {
        let content = if skill.trust().needs_approval() {
            folder_digest(&skill).ok()?
        } else {
            skill.skill_md
        };
        Some(Offered { skill, content })
    }
}

/// All skills, those of people and those of agents.
pub(crate) struct Shelf {
    people: Arc<Skills>,
    /// The folder of agents' folders.
    agents: Option<PathBuf>,
    now: RwLock<Arc<Skills>>,
}

impl Shelf {
    pub(crate) fn new(set: SkillSet, agents: Option<PathBuf>) -> Arc<Self> {
        let people: Arc<Skills> = Arc::new(offered(set.skills).collect());
        let shelf = Shelf {
            now: RwLock::new(Arc::clone(&people)),
            people,
            agents,
        };
        shelf.look();
        Arc::new(shelf)
    }

    /// What there was at the last look: what has been offered.
    pub(crate) fn now(&self) -> Arc<Skills> {
        Arc::clone(&self.now.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks again.
    pub(crate) fn look(&self) -> Arc<Skills> {
        let Some(agents) = &self.agents else {
            return Arc::clone(&self.people);
        };
        let written = scan(&agent_roots(agents)).skills;
        let now = match written.is_empty() {
            true => Arc::clone(&self.people),
            false => Arc::new(self.beside_people(written)),
        };
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&now);
        now
    }

    /// No agent's skill stands in the place of a person's, or can be mistaken for one.
    fn beside_people(&self, written: Vec<Skill>) -> Skills {
        let taken: BTreeSet<String> = self
            .people
            .values()
            .map(|it| skeleton(it.skill.name()))
            .collect();
        let free = written
            .into_iter()
            .filter(|it| !taken.contains(&skeleton(it.name())));
        let mut all = Skills::clone(&self.people);
        all.extend(offered(free));
        all
    }
}

fn offered(
    skills: impl IntoIterator<Item = Skill>,
) -> impl Iterator<Item = (CapabilityId, Offered)> {
    skills
        .into_iter()
        .filter_map(|skill| Some((skill.id.clone(), Offered::new(skill)?)))
}
