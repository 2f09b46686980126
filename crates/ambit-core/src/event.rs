//! What the journal remembers. The JSON of these types is a stable format.

mod name;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalog::CatalogChange;
use crate::code::Code;
use crate::diff::VisibleDiff;
use crate::digest::Digest;
use crate::effects::Effects;
use crate::id::CapabilityId;
use crate::intent::CallId;
use crate::observation::ResultRef;
use crate::permission::{Answer, AskReason, Mode, PermissionDecision, PermissionInput};
use crate::quarantine::QuarantineReason;
use crate::run::{IntentRecord, ModelUsage, RequestTokens, RunEnd};
use crate::schema::SchemaProblem;
use crate::turn::TurnInput;
use crate::visible::HiddenReason;

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HookStage {
    /// After permission, before the start is recorded.
    Before,
    /// After execution, before anyone sees the result.
    After,
}

/// What came of asking a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApprovalOutcome {
    /// An answer.
    Answered(Answer),
    /// Nobody could be asked.
    NobodyToAsk,
    /// Nobody answered in time.
    TimedOut,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum EventBody {
    /// A session began.
    #[serde(rename = "session.started")]
    SessionStarted {
        /// For whom.
        agent: String,
        /// How freely.
        mode: Mode,
        /// Where.
        workspace: String,
        /// Which Ambit.
        version: String,
        /// Where it came in, if that is where it can be gone on with: `turns`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        front: Option<String>,
    },
    /// A session goes on: with what it had seen and heard, in the bounds of now.
    #[serde(rename = "session.resumed")]
    SessionResumed {
        /// How freely.
        mode: Mode,
        /// The last turn before.
        turn: u32,
        /// Which Ambit.
        version: String,
    },
    /// Somebody ended a session for good.
    #[serde(rename = "session.ended")]
    SessionEnded {
        /// The last turn.
        turn: u32,
    },
    /// A source said what it offers, and that was news.
    #[serde(rename = "catalog.changed")]
    CatalogChanged {
        /// The new revision.
        revision: u64,
        /// The new contents.
        catalog: Digest,
        /// What changed.
        change: CatalogChange,
    },
    /// Something granted is held back until a person has accepted it as it is now.
    #[serde(rename = "capability.quarantined")]
    CapabilityQuarantined {
        /// Which.
        id: CapabilityId,
        /// Why.
        reason: QuarantineReason,
        /// What is different from what was accepted, line by line.
        diff: String,
    },
    /// A turn began: what its selection depended on.
    #[serde(rename = "turn.started")]
    TurnStarted {
        /// Counts turns of this session.
        turn: u32,
        /// The catalog it looked at.
        catalog: Digest,
        /// The policy that selected.
        policy: u32,
        /// What was granted.
        granted: Digest,
        /// What else the selection depended on.
        input: Box<TurnInput>,
    },
    /// What the selection changed.
    #[serde(rename = "capability.diff")]
    CapabilityDiff {
        /// The turn.
        turn: u32,
        /// The whole visible set.
        visible: Digest,
        /// What changed since the turn before.
        #[serde(flatten)]
        diff: VisibleDiff,
    },
    /// Somebody searched. Candidates may become visible in the next turn; nothing is granted.
    #[serde(rename = "search.performed")]
    SearchPerformed {
        /// The call that searched.
        call: CallId,
        /// For what, redacted.
        query: String,
        /// What was found, best first.
        candidates: Vec<CapabilityId>,
    },
    /// Detail was loaded: a skill's body is in the conversation now.
    #[serde(rename = "capability.loaded")]
    CapabilityLoaded {
        /// The call that loaded it.
        call: CallId,
        /// Which.
        id: CapabilityId,
        /// As it was defined then.
        definition: Digest,
    },
    /// Somebody wants to call something.
    #[serde(rename = "tool.intent")]
    ToolIntent {
        /// The call.
        call: CallId,
        /// The turn it belongs to.
        turn: u32,
        /// As the caller wrote it.
        target: String,
        /// The dispatching tool it came through, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        via: Option<String>,
        /// What it names in this turn's visible set, if anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<CapabilityId>,
        /// The arguments, redacted.
        arguments: Value,
        /// Of the arguments as given.
        digest: Digest,
    },
    /// The first gate said no. The caller is told less than this.
    #[serde(rename = "capability.refused")]
    CapabilityRefused {
        /// The call.
        call: CallId,
        /// As the caller wrote it.
        target: String,
        /// Why it is hidden; nothing where it does not exist.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<HiddenReason>,
    },
    /// The arguments were checked.
    #[serde(rename = "tool.validation")]
    ToolValidation {
        /// The call.
        call: CallId,
        /// The definition they were checked against.
        definition: Digest,
        /// What does not fit; nothing where all does.
        problems: Vec<SchemaProblem>,
    },
    /// The second gate answered.
    #[serde(rename = "tool.permission")]
    ToolPermission {
        /// The call.
        call: CallId,
        /// What the answer depended on.
        input: Arc<PermissionInput>,
        /// The answer.
        #[serde(flatten)]
        decision: PermissionDecision,
    },
    /// A person was asked.
    #[serde(rename = "approval.requested")]
    ApprovalRequested {
        /// The call.
        call: CallId,
        /// What an answer is bound to.
        digest: Digest,
        /// Why.
        #[serde(flatten)]
        reason: AskReason,
    },
    /// A person answered, or not.
    #[serde(rename = "approval.decided")]
    ApprovalDecided {
        /// The call.
        call: CallId,
        /// What came of it.
        outcome: ApprovalOutcome,
    },
    /// A hook refused, broke or had something to say.
    #[serde(rename = "hook.decided")]
    HookDecided {
        /// The call.
        call: CallId,
        /// When.
        stage: HookStage,
        /// What hooks had to say.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
        /// Why it refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refused: Option<String>,
    },
    /// It is about to run. For a call with effects this is synced before anything happens.
    #[serde(rename = "tool.started")]
    ToolStarted {
        /// The call.
        call: CallId,
        /// Which capability.
        id: CapabilityId,
        /// What approvals were bound to.
        digest: Digest,
        /// What it may do.
        effects: Effects,
    },
    /// How it ended.
    #[serde(rename = "tool.observation")]
    ToolObservation(ObservationRecord),
    /// Somebody said something to an agent that runs.
    #[serde(rename = "message.user")]
    MessageUser {
        /// The beginning of it, redacted.
        text: String,
        /// The whole message, redacted, stored by digest.
        message: Digest,
    },
    /// A model was asked for its next turn.
    #[serde(rename = "model.requested")]
    ModelRequested {
        /// The turn whose visible set it was given.
        turn: u32,
        /// What speaks to it.
        engine: String,
        /// The model, as its provider calls it.
        model: String,
        /// Of everything it was asked with.
        request: Digest,
        /// How many messages that were.
        messages: u32,
        /// What that costs, by Ambit's own count.
        tokens: RequestTokens,
    },
    /// A model answered.
    #[serde(rename = "model.responded")]
    ModelResponded {
        /// The turn.
        turn: u32,
        /// The beginning of what it said, redacted.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// What it wants to call, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        intents: Vec<IntentRecord>,
        /// Why it stopped: `answered`, `wantsTools`, `length` or `refused`.
        stop: String,
        /// What it cost, as the provider counts.
        usage: ModelUsage,
        /// The whole message, redacted, stored by digest.
        message: Digest,
    },
    /// A model gave no answer.
    #[serde(rename = "model.failed")]
    ModelFailed {
        /// The turn.
        turn: u32,
        /// Why, redacted.
        reason: String,
    },
    /// What the calls of a turn brought went back to the model.
    #[serde(rename = "message.results")]
    MessageResults {
        /// The turn that called.
        turn: u32,
        /// The whole message, redacted, stored by digest.
        message: Digest,
    },
    /// Old results were replaced by references, so that the conversation fits the model's window.
    #[serde(rename = "context.compacted")]
    ContextCompacted {
        /// The turn it was done for.
        turn: u32,
        /// Results in messages before this one are references now.
        before: u32,
        /// What the conversation cost.
        from: u64,
        /// What it costs now.
        to: u64,
        /// Which messages were replaced, by their place, and by what, stored by digest.
        replaced: Vec<(u32, Digest)>,
    },
    /// A run of an agent ended. Its session can go on.
    #[serde(rename = "run.finished")]
    RunFinished {
        /// What it was about, in a few words.
        title: String,
        /// Why it ended.
        ended: RunEnd,
        /// Turns of the model.
        turns: u32,
        /// Calls.
        calls: u32,
        /// What the model cost.
        usage: ModelUsage,
    },
    /// A sub-agent was asked.
    #[serde(rename = "delegation.started")]
    DelegationStarted {
        /// The call that asked.
        call: CallId,
        /// Whom.
        agent: String,
        /// In which session it works.
        child: String,
        /// Everybody in between, the first who asked first.
        chain: Vec<String>,
        /// What it was asked, redacted and shortened.
        task: String,
        /// The skill it follows, where a skill is run in a sub-agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        skill: Option<CapabilityId>,
    },
    /// A sub-agent is done.
    #[serde(rename = "delegation.finished")]
    DelegationFinished {
        /// The call that asked.
        call: CallId,
        /// Its session.
        child: String,
        /// Why it ended.
        ended: RunEnd,
        /// Turns of its model.
        turns: u32,
        /// What its model cost.
        usage: ModelUsage,
    },
}

/// How a call ended, without the result itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservationRecord {
    /// The call.
    pub call: CallId,
    /// `completed`, `denied` or `failed`.
    pub status: String,
    /// The stable code, unless it completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// The reason, unless it completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Bytes of the whole result.
    pub bytes: u64,
    /// Of what the caller was given.
    pub digest: Digest,
    /// The beginning of the result, redacted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub excerpt: String,
    /// Where the whole is, when it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_ref: Option<ResultRef>,
    /// Whether it came from outside.
    #[serde(default)]
    pub untrusted: bool,
    /// How long the execution took.
    pub duration_ms: u64,
}
