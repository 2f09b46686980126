//! The second gate's rules: may this invocation run, must a person say so, or is it forbidden?
//!
//! A rule speaks about an id, a declared permission or an effect, in that order of specificity.
//! The most specific wins, `deny` wins ties, and no rule reaches outside the granted set: rules
//! are only ever asked about what is visible.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::descriptor::CapabilityDescriptor;
use crate::digest::Digest;
use crate::effects::{Effect, Risk};
use crate::id::{CapabilityId, Source};
use crate::manifest::Permission;

/// How freely an agent may act.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Whatever changes something is hidden.
    ReadOnly,
    /// Changes are visible, and a person is asked per call.
    #[default]
    Ask,
    /// Nothing is asked; high-risk writes outside this machine are hidden instead.
    Auto,
}

impl Mode {
    /// All of them.
    pub const ALL: [Mode; 3] = [Mode::ReadOnly, Mode::Ask, Mode::Auto];

    /// The word used in config and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::ReadOnly => "read-only",
            Mode::Ask => "ask",
            Mode::Auto => "auto",
        }
    }

    /// Whether this mode lets a model plan with a capability at all.
    pub fn shows(self, capability: &CapabilityDescriptor) -> bool {
        match self {
            Mode::ReadOnly => !capability.effects.changes(),
            Mode::Ask => true,
            Mode::Auto => {
                !(capability.effects.changes()
                    && capability.risk == Risk::High
                    && is_external(&capability.id))
            }
        }
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Mode::ALL
            .into_iter()
            .find(|it| it.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not a mode (`read-only`, `ask` or `auto`)"))
    }
}

/// Whether a capability's results come from outside and its calls go there.
pub fn is_external(id: &CapabilityId) -> bool {
    !matches!(id.source(), Source::Local | Source::Skill)
}

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Run without asking.
    Allow,
    /// Ask a person.
    Ask,
    /// Do not run.
    Deny,
}

/// What a rule speaks about. The order is its specificity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Subject {
    /// Everything with an effect.
    Effect(Effect),
    /// Everything that declares a permission.
    Permission(Permission),
    /// One capability.
    Id(CapabilityId),
}

impl Subject {
    /// Whether it speaks about this capability.
    pub fn covers(&self, capability: &CapabilityDescriptor) -> bool {
        match self {
            Subject::Effect(effect) => capability.effects.has(*effect),
            Subject::Permission(permission) => capability.permissions.contains(permission),
            Subject::Id(id) => capability.id == *id,
        }
    }

    fn specificity(&self) -> u8 {
        match self {
            Subject::Effect(_) => 0,
            Subject::Permission(_) => 1,
            Subject::Id(_) => 2,
        }
    }
}

impl FromStr for Subject {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(effect) = Effect::parse(text) {
            return Ok(Subject::Effect(effect));
        }
        if text.contains("__") {
            return text
                .parse()
                .map(Subject::Id)
                .map_err(|error: crate::id::IdError| error.to_string());
        }
        text.parse()
            .map(Subject::Permission)
            .map_err(|_| format!("`{text}` is not an id, a permission or an effect"))
    }
}

impl TryFrom<String> for Subject {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Subject> for String {
    fn from(it: Subject) -> String {
        it.to_string()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Effect(it) => f.write_str(it.as_str()),
            Subject::Permission(it) => it.fmt(f),
            Subject::Id(it) => it.fmt(f),
        }
    }
}

/// One rule of the config.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Rule {
    /// What it says.
    pub verdict: Verdict,
    /// What about.
    pub subject: Subject,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        };
        write!(f, "{verdict} {}", self.subject)
    }
}

/// All rules that hold for one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Every rule, in one order whatever order they came in.
    all: Vec<Rule>,
    /// The user's own, kept apart: what they forbid stays forbidden, however specific a rule of a
    /// project is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    user: Vec<Rule>,
}

impl Rules {
    /// These rules, all the user's own.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        Rules {
            all: ordered(rules),
            user: Vec::new(),
        }
    }

    /// The user's rules, and a project's beside them.
    pub fn layered(
        user: impl IntoIterator<Item = Rule>,
        project: impl IntoIterator<Item = Rule>,
    ) -> Self {
        let user = ordered(user);
        let project = ordered(project);
        if project.is_empty() {
            return Rules {
                all: user,
                user: Vec::new(),
            };
        }
        Rules {
            all: ordered(user.iter().cloned().chain(project)),
            user,
        }
    }

    /// The rule that decides about a capability: most specific first, then `deny`, `ask`, `allow`;
    /// but a user's `deny` before everything.
    pub fn deciding(&self, capability: &CapabilityDescriptor) -> Option<&Rule> {
        strongest(&self.user, capability)
            .filter(|rule| rule.verdict == Verdict::Deny)
            .or_else(|| strongest(&self.all, capability))
    }

    /// The rule that forbids a capability, if one does.
    pub fn forbidding(&self, capability: &CapabilityDescriptor) -> Option<&Rule> {
        self.deciding(capability)
            .filter(|rule| rule.verdict == Verdict::Deny)
    }
}

fn ordered(rules: impl IntoIterator<Item = Rule>) -> Vec<Rule> {
    let mut rules: Vec<_> = rules.into_iter().collect();
    rules.sort();
    rules.dedup();
    rules
}

fn strongest<'a>(rules: &'a [Rule], capability: &CapabilityDescriptor) -> Option<&'a Rule> {
    let covering = rules.iter().filter(|rule| rule.subject.covers(capability));
    covering.max_by_key(|rule| (rule.subject.specificity(), rule.verdict))
}

/// A person's yes to one capability as it was defined then, for a session or for good.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StandingApproval {
    /// Which capability.
    pub id: CapabilityId,
    /// Its definition when the person said yes; another definition is another question.
    pub definition: Digest,
}

/// Facts of a session that make sending data out a person's decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Taint {
    /// Private data has been read.
    pub read_private: bool,
    /// Content from outside has been seen.
    pub saw_untrusted: bool,
}

impl Taint {
    /// What a completed call adds.
    #[must_use]
    pub fn after(self, capability: &CapabilityDescriptor) -> Taint {
        let external = is_external(&capability.id);
        Taint {
            read_private: self.read_private || (!external && capability.effects.has(Effect::Reads)),
            saw_untrusted: self.saw_untrusted || external,
        }
    }

    /// Whether both facts hold.
    pub fn is_full(self) -> bool {
        self.read_private && self.saw_untrusted
    }
}

/// What permission depends on, besides the call itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionInput {
    /// Who asks.
    #[serde(default)]
    pub agent: String,
    /// How freely the agent may act.
    pub mode: Mode,
    /// The rules that hold.
    #[serde(default)]
    pub rules: Rules,
    /// What a person has said yes to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standing: Vec<StandingApproval>,
    /// What the session has seen.
    #[serde(default)]
    pub taint: Taint,
}

impl PermissionInput {
    /// What an approval is bound to besides the call: another agent or another policy is another
    /// question.
    pub fn version(&self) -> Digest {
        Digest::of(&(&self.agent, self.mode, &self.rules)).unwrap_or(Digest::ZERO)
    }
}

/// Why a call needs no person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "camelCase")]
pub enum AllowReason {
    /// It changes nothing.
    ReadsOnly,
    /// The mode asks for nothing.
    Mode,
    /// A rule allows it.
    Rule {
        /// Which.
        rule: String,
    },
    /// A person said yes to all such calls.
    StandingApproval,
    /// A person said yes to this call.
    Approval {
        /// For how long.
        answer: Answer,
    },
}

/// Why a person has to be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "because", rename_all = "camelCase")]
pub enum AskReason {
    /// It changes something, and the mode is `ask`.
    Changes,
    /// It can carry data out of this machine, and the mode is `ask`.
    SendsOut,
    /// A rule wants it.
    Rule {
        /// Which.
        rule: String,
    },
    /// Private data was read and outside content was seen; this could carry one to the other.
    Taint,
    /// It is somebody else's, and nobody has accepted it as it is now.
    NotAccepted,
}

impl fmt::Display for AskReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AskReason::Changes => f.write_str("it changes something and the mode is `ask`"),
            AskReason::SendsOut => f.write_str("it can send data out and the mode is `ask`"),
            AskReason::Rule { rule } => write!(f, "the rule `{rule}` wants a person to decide"),
            AskReason::NotAccepted => f.write_str("it is somebody else's and has not been accepted as it is now"),
            AskReason::Taint => f.write_str(
                "this session has read private data and seen outside content, and the call can send data out",
            ),
        }
    }
}

/// A person's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// Yes, to exactly this call.
    Once,
    /// Yes, to this capability until the session ends.
    Session,
    /// Yes, to this capability as it is defined now.
    Always,
    /// No.
    Deny,
}

/// What the rules say about one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "lowercase")]
pub enum PermissionDecision {
    /// It may run.
    Allow {
        /// Why.
        reason: AllowReason,
    },
    /// A person decides.
    Ask {
        /// Why.
        reason: AskReason,
    },
    /// It may not run.
    Deny {
        /// The rule that says so.
        rule: String,
    },
}

/// Decides about a visible capability. Total, and every answer has its reason.
pub fn decide(capability: &CapabilityDescriptor, input: &PermissionInput) -> PermissionDecision {
    let rule = input.rules.deciding(capability);
    if let Some(rule) = rule.filter(|it| it.verdict == Verdict::Deny) {
        return PermissionDecision::Deny {
            rule: rule.to_string(),
        };
    }
    // Before everything that could say yes: this question is for a person whatever was said before.
    if input.taint.is_full() && capability.effects.has(Effect::Egress) {
        return PermissionDecision::Ask {
            reason: AskReason::Taint,
        };
    }
    let standing = || {
        let yes = StandingApproval {
            id: capability.id.clone(),
            definition: capability.digest,
        };
        input.standing.contains(&yes)
    };
    let allow = |reason| PermissionDecision::Allow { reason };
    // Like the taint, a question no mode and no effect answers; only somebody who saw it can.
    if capability.acceptance.is_needed() && !standing() {
        return PermissionDecision::Ask {
            reason: AskReason::NotAccepted,
        };
    }
    match rule {
        Some(rule) if rule.verdict == Verdict::Allow => allow(AllowReason::Rule {
            rule: rule.to_string(),
        }),
        Some(_) if standing() => allow(AllowReason::StandingApproval),
        Some(rule) => PermissionDecision::Ask {
            reason: AskReason::Rule {
                rule: rule.to_string(),
            },
        },
        None if !capability.effects.is_effectful() => allow(AllowReason::ReadsOnly),
        None if input.mode == Mode::Auto => allow(AllowReason::Mode),
        None if standing() => allow(AllowReason::StandingApproval),
        None if capability.effects.changes() => PermissionDecision::Ask {
            reason: AskReason::Changes,
        },
        None => PermissionDecision::Ask {
            reason: AskReason::SendsOut,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::descriptor;

    fn rules(text: &str) -> Rules {
        Rules::new(text.split(',').filter(|it| !it.is_empty()).map(|line| {
            let (verdict, subject) = line.trim().split_once(' ').unwrap();
            Rule {
                verdict: serde_json::from_value(verdict.into()).unwrap(),
                subject: subject.parse().unwrap(),
            }
        }))
    }

    #[track_caller]
    fn check(mode: &str, rule_text: &str, line: &str, expected: &str) {
        let input = PermissionInput {
            mode: mode.parse().unwrap(),
            rules: rules(rule_text),
            ..Default::default()
        };
        let decision = decide(&descriptor(line), &input);
        let word = match decision {
            PermissionDecision::Allow { .. } => "allow",
            PermissionDecision::Ask { .. } => "ask",
            PermissionDecision::Deny { .. } => "deny",
        };
        assert_eq!(word, expected, "{mode} [{rule_text}] {line}");
    }

    #[test]
    fn modes_without_rules() {
        check("ask", "", "local__f__r reads", "allow");
        check("ask", "", "local__f__w writes", "ask");
        check("ask", "", "local__f__e reads egress", "ask");
        check("auto", "", "local__f__w writes", "allow");
        check("read-only", "", "local__f__r reads", "allow");
    }

    #[test]
    fn the_most_specific_rule_wins_and_deny_wins_ties() {
        let line = "local__f__w writes fs:write";
        check("ask", "allow writes", line, "allow");
        check("auto", "ask writes", line, "ask");
        check("auto", "deny writes", line, "deny");
        check("auto", "deny writes,allow fs:write", line, "allow");
        check("auto", "allow fs:write,deny local__f__w", line, "deny");
        check("auto", "deny fs:write,allow local__f__w", line, "allow");
        check("auto", "allow local__f__w,deny local__f__w", line, "deny");
        check("ask", "allow local__f__other", line, "ask");
    }

    #[test]
    fn a_project_cannot_lift_what_the_user_forbids() {
        let line = descriptor("local__f__w writes fs:write");
        let split = |text: &str| rules(text).all;
        for (user, project, forbidden) in [
            ("deny writes", "allow local__f__w", true),
            ("deny writes,allow local__f__w", "", false),
            ("deny writes,allow fs:write", "allow local__f__w", false),
            ("", "deny writes", true),
            ("allow local__f__w", "deny writes", false),
        ] {
            let rules = Rules::layered(split(user), split(project));
            assert_eq!(
                rules.forbidding(&line).is_some(),
                forbidden,
                "{user} / {project}"
            );
        }
    }

    #[test]
    fn standing_approvals_hold_for_one_definition() {
        let it = descriptor("local__f__w writes");
        let mut input = PermissionInput {
            standing: vec![StandingApproval {
                id: it.id.clone(),
                definition: it.digest,
            }],
            ..Default::default()
        };
        assert!(matches!(
            decide(&it, &input),
            PermissionDecision::Allow {
                reason: AllowReason::StandingApproval
            }
        ));
        input.standing[0].definition = Digest::ZERO;
        assert!(matches!(
            decide(&it, &input),
            PermissionDecision::Ask { .. }
        ));
    }

    #[test]
    fn with_both_taints_sending_out_needs_a_person() {
        let outside = descriptor("mcp__web__fetch reads open-world");
        let file = descriptor("local__files__read reads");
        let send = descriptor("mcp__mail__send reads egress");
        let taint = Taint::default().after(&outside);
        assert!(!taint.is_full());
        let input = PermissionInput {
            mode: Mode::Auto,
            rules: rules("allow mcp__mail__send"),
            taint: taint.after(&file),
            ..Default::default()
        };
        assert_eq!(
            decide(&send, &input),
            PermissionDecision::Ask {
                reason: AskReason::Taint
            }
        );
        assert!(matches!(
            decide(&file, &input),
            PermissionDecision::Allow { .. }
        ));
    }

    #[test]
    fn modes_hide() {
        for (mode, line, shown) in [
            (Mode::ReadOnly, "local__f__r reads", true),
            (Mode::ReadOnly, "local__f__w writes", false),
            (Mode::ReadOnly, "local__f__d destructive", false),
            (Mode::Auto, "mcp__x__w writes open-world", false),
            (
                Mode::Auto,
                "local__shell__w writes destructive open-world",
                true,
            ),
            (Mode::Ask, "mcp__x__w writes open-world", true),
        ] {
            assert_eq!(mode.shows(&descriptor(line)), shown, "{mode:?} {line}");
        }
    }
}
