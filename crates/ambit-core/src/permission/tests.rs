//! Modes, rules and approvals as decision tables.

use super::*;
use crate::digest::Digest;
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
    assert_eq!(word(&decision), expected, "{mode} [{rule_text}] {line}");
}

fn word(decision: &PermissionDecision) -> &'static str {
    match decision {
        PermissionDecision::Allow { .. } => "allow",
        PermissionDecision::Ask { .. } => "ask",
        PermissionDecision::Deny { .. } => "deny",
    }
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
fn a_client_that_asks_answers_only_what_every_change_raises() {
    let taint = Taint {
        read_private: true,
        saw_untrusted: true,
    };
    for (mode, rule_text, line, taint, expected) in [
        ("ask", "", "mcp__s__w writes", Taint::default(), "allow"),
        (
            "ask",
            "",
            "mcp__s__w writes destructive",
            Taint::default(),
            "allow",
        ),
        ("ask", "", "mcp__s__e reads egress", Taint::default(), "ask"),
        (
            "ask",
            "ask writes",
            "mcp__s__w writes",
            Taint::default(),
            "ask",
        ),
        (
            "ask",
            "deny writes",
            "mcp__s__w writes",
            Taint::default(),
            "deny",
        ),
        ("ask", "", "mcp__s__w writes open-world", taint, "ask"),
    ] {
        let input = PermissionInput {
            mode: mode.parse().unwrap(),
            rules: rules(rule_text),
            taint,
            asker: Asker::Client,
            ..Default::default()
        };
        let mut capability = descriptor(line);
        assert_eq!(word(&decide(&capability, &input)), expected, "{line}");
        capability.acceptance = crate::manifest::Acceptance::PerDefinition;
        let unaccepted = if expected == "allow" { "ask" } else { expected };
        assert_eq!(word(&decide(&capability, &input)), unaccepted, "{line}");
    }
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
fn what_changes_the_agent_is_asked_about_every_time() {
    let mut it = descriptor("local__self__update writes self:write");
    it.acceptance = crate::manifest::Acceptance::EveryCall;
    let standing = vec![StandingApproval {
        id: it.id.clone(),
        definition: it.digest,
    }];
    let seen = Taint {
        read_private: false,
        saw_untrusted: true,
    };
    let clean = Taint::default();
    let allow = "allow local__self__update";
    for (mode, rule_text, taint, expected) in [
        ("ask", "", clean, "ask"),
        ("ask", allow, clean, "ask"),
        ("ask", "allow writes,allow self:write", clean, "ask"),
        ("ask", "deny writes", clean, "deny"),
        ("ask", allow, seen, "ask"),
        ("read-only", allow, clean, "ask"),
        ("auto", "", clean, "allow"),
        ("auto", "ask self:write", clean, "allow"),
        ("auto", "deny self:write", clean, "deny"),
        ("auto", "", seen, "ask"),
        ("auto", allow, seen, "ask"),
        ("auto", "deny writes", seen, "deny"),
    ] {
        for asker in [Asker::Ambit, Asker::Client] {
            let input = PermissionInput {
                mode: mode.parse().unwrap(),
                rules: rules(rule_text),
                standing: standing.clone(),
                taint,
                asker,
                ..Default::default()
            };
            let decision = decide(&it, &input);
            assert_eq!(word(&decision), expected, "{mode} [{rule_text}] {taint:?}");
            if let PermissionDecision::Ask { reason } = decision {
                assert!(!reason.can_stand(), "{reason:?}");
            }
        }
    }
}

#[test]
fn a_yes_reaches_as_far_as_its_question() {
    for (reason, answer, reaches) in [
        (AskReason::EveryCall, Answer::Always, Answer::Once),
        (AskReason::LastingTaint, Answer::Session, Answer::Once),
        (AskReason::EveryCall, Answer::Deny, Answer::Deny),
        (AskReason::Changes, Answer::Always, Answer::Always),
        (AskReason::NotAccepted, Answer::Session, Answer::Session),
    ] {
        assert_eq!(reason.bounded(answer), reaches, "{reason:?}");
    }
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
    for out in [&send, &outside] {
        assert_eq!(
            decide(out, &input),
            PermissionDecision::Ask {
                reason: AskReason::Taint
            }
        );
    }
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
