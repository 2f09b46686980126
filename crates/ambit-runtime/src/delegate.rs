//! The port through which a capability asks another agent. Whoever runs agents implements it;
//! without one there is nobody to ask.

use ambit_core::diff::VisibleDiff;
use ambit_core::id::CapabilityId;
use ambit_core::intent::CallId;
use ambit_core::run::RunEnd;
use async_trait::async_trait;

use crate::conversation::Conversation;

/// An agent that may be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colleague {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Why it cannot be asked from here, where that is so.
    pub unavailable: Option<String>,
}

/// What another agent is to do.
#[derive(Clone, Debug)]
pub struct DelegatedTask {
    /// The call that asks.
    pub call: CallId,
    /// Who is to do it.
    pub worker: Worker,
}

/// Who does a task.
#[derive(Clone, Debug)]
pub enum Worker {
    /// Another agent.
    Agent {
        /// Its name.
        name: String,
        /// What it is asked.
        task: String,
    },
    /// The same agent apart from its conversation, following a skill.
    Skill {
        /// Which.
        id: CapabilityId,
        /// What the skill says.
        instructions: String,
    },
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Delegated {
    /// What it answered.
    pub answer: String,
    /// The session it worked in.
    pub session: String,
    /// Why it ended.
    pub ended: RunEnd,
    /// Turns of its model.
    pub turns: u32,
    /// What was visible to it in the end that was not to whoever asked, and the other way round.
    pub diff: VisibleDiff,
}

/// Runs agents for other agents, bound to one session and its lineage.
///
/// The contract: a sub-agent never may do what the session that asks may not, and `delegate` ends
/// what it started when its future is dropped. It keeps the call's deadline from passing while the
/// sub-agent works within bounds of its own.
#[async_trait]
pub trait Delegate: Send + Sync {
    /// Who can be asked.
    fn colleagues(&self) -> Vec<Colleague>;

    /// Has a task done. The error is for the model: why it cannot be.
    async fn delegate(
        &self,
        task: DelegatedTask,
        conversation: &Conversation,
    ) -> Result<Delegated, String>;
}
