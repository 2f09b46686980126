//! Skills agents write, between the tools that write them and the resolver that offers them: what
//! the format says of a text, whose a name is, and that what was written is offered.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};
use std::time::SystemTime;

use ambit_builtins::own::{SkillFormat, SkillText};
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_skills::problem::Severity;
use ambit_skills::resolver::SkillsResolver;
use ambit_skills::validate::check_skill_md;

/// Touched whenever an agent's skills have changed, for other processes to see.
const MARK: &str = ".skills";

/// The skills agents write.
pub struct WrittenSkills {
    resolver: Arc<SkillsResolver>,
    mark: PathBuf,
    market: OnceLock<Weak<CapabilityMarketplace>>,
}

impl WrittenSkills {
    /// Those offered by this resolver, below the folder of agents' folders.
    pub fn new(resolver: Arc<SkillsResolver>, agents: &Path) -> Self {
        WrittenSkills {
            resolver,
            mark: agents.join(MARK),
            market: OnceLock::new(),
        }
    }

    /// Where they are offered.
    pub fn offered_on(&self, market: &Arc<CapabilityMarketplace>) {
        let _ = self.market.set(Arc::downgrade(market));
    }

    /// When they were last changed by whichever process.
    pub fn changed_at(&self) -> Option<SystemTime> {
        self.mark.metadata().and_then(|it| it.modified()).ok()
    }
}

impl SkillFormat for WrittenSkills {
    fn read(&self, name: &str, skill_md: &str) -> Result<SkillText, String> {
        let checked = check_skill_md(skill_md.as_bytes(), name);
        match checked.valid {
            Some(valid) => Ok(SkillText {
                description: valid.frontmatter.description,
                instructions: valid.body.trim().to_owned(),
            }),
            None => {
                let errors = checked.problems.iter();
                let errors = errors.filter(|it| it.severity() == Severity::Error);
                Err(errors
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join("; "))
            }
        }
    }

    fn named_like(&self, name: &str) -> Option<PathBuf> {
        self.resolver.named_like(name)
    }

    fn changed(&self) {
        // Other processes notice with the next thing they notice, should this fail.
        let _ = File::create(&self.mark).and_then(|it| it.set_modified(SystemTime::now()));
        if let Some(market) = self.market.get().and_then(Weak::upgrade) {
            market.refresh();
        }
    }
}
