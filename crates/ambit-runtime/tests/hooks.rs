//! Hooks may refuse or annotate, and nothing else; one that is broken refuses.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ambit_core::code::Code;
use ambit_core::descriptor::CapabilityDescriptor;
use ambit_core::event::{EventBody, HookStage};
use ambit_core::observation::{Denial, Observation};
use ambit_core::permission::Mode;
use ambit_runtime::hook::{CommandHook, Hook, HookCall, HookVerdict};
use ambit_testkit::{Behaviour, Bench, FixtureResolver, call, events, rules};
use async_trait::async_trait;
use serde_json::{Value, json};

fn kit() -> Arc<FixtureResolver> {
    let tools = "local__kit__read reads\nlocal__kit__write writes fs:write";
    Arc::new(FixtureResolver::lines("kit", tools, &Behaviour::Echo))
}

fn shell(stage: HookStage, script: &str) -> CommandHook {
    CommandHook {
        name: "guard".to_owned(),
        stage,
        command: ["sh", "-c", script].map(str::to_owned).to_vec(),
        directory: std::env::temp_dir(),
        timeout: Duration::from_secs(20),
        only: Vec::new(),
    }
}

/// `completed` with its notes, or the code with the reason.
fn shown(observation: &Observation) -> String {
    match observation {
        Observation::Completed(it) => format!("completed {}", it.notes.join(", ")),
        other => format!(
            "{} {}",
            other.code().unwrap().as_str(),
            other.reason().unwrap()
        ),
    }
}

/// How a call of `write` ends with this hook, and whether it ran.
async fn with_hook(hook: impl Hook + 'static, arguments: Value) -> (String, usize) {
    let kit = kit();
    let bench = Bench::default()
        .with(kit.clone(), json!({}))
        .hooked(Arc::new(hook));
    let answer = bench.call(Mode::Auto, "kit__write", arguments).await;
    (shown(&answer), kit.executed())
}

#[track_caller]
fn check(found: (String, usize), expected: &str, ran: usize) {
    assert!(found.0.starts_with(expected), "{found:?}");
    assert_eq!(found.1, ran, "{found:?}");
}

#[tokio::test]
async fn programs_pass_note_and_refuse() {
    for (script, expected, ran) in [
        (r#"echo '{"decision":"pass"}'"#, "completed ", 1),
        (
            r#"echo '{"decision":"pass","note":"mind the gap"}'"#,
            "completed guard: mind the gap",
            1,
        ),
        (
            r#"echo '{"decision":"refuse","reason":"not on a Friday"}'"#,
            "hook_refused the hook `guard` refused: not on a Friday",
            0,
        ),
        (
            r#"echo '{"decision":"refuse"}'"#,
            "hook_refused the hook `guard` refused: no reason given",
            0,
        ),
    ] {
        let found = with_hook(shell(HookStage::Before, script), json!({})).await;
        check(found, expected, ran);
    }
}

#[tokio::test]
async fn a_broken_program_refuses() {
    for (script, expected) in [
        ("", "hook_failed the hook `guard` answered something other"),
        (
            "echo yes",
            "hook_failed the hook `guard` answered something other",
        ),
        (
            r#"echo '{"decision":"allow"}'"#,
            "hook_failed the hook `guard` answered something other",
        ),
        (
            r#"echo '{"decision":"pass","grant":"everything"}'"#,
            "hook_failed the hook `guard` answered something other",
        ),
        (
            r#"echo '{"decision":"pass"}{"decision":"pass"}'"#,
            "hook_failed the hook `guard` answered something other",
        ),
        (
            r#"echo '{"decision":"pass"}'; exit 3"#,
            "hook_failed the hook `guard` ended with exit status: 3",
        ),
        (
            r#"echo '{"decision":"pass"}'; kill -9 $$"#,
            "hook_failed the hook `guard` ended with signal: 9",
        ),
        ("yes", "hook_failed the hook `guard` "),
    ] {
        let found = with_hook(shell(HookStage::Before, script), json!({})).await;
        check(found, expected, 0);
    }
    for command in [vec![], vec!["/nowhere/at/all".to_owned()]] {
        let hook = CommandHook {
            command,
            ..shell(HookStage::Before, "")
        };
        check(
            with_hook(hook, json!({})).await,
            "hook_failed the hook `guard` ",
            0,
        );
    }
}

#[tokio::test]
async fn a_program_that_hangs_refuses_and_does_not_outlive_its_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("alive");
    // The grandchild holds the pipe open for as long as it lives.
    let script = format!("mkfifo {0}; sleep 1000 > {0} & wait", pipe.display());
    let hook = CommandHook {
        timeout: Duration::from_millis(500),
        ..shell(HookStage::Before, &script)
    };
    let found = with_hook(hook, json!({})).await;
    check(
        found,
        "hook_failed the hook `guard` did not answer within",
        0,
    );
    if pipe.exists() {
        // Opening waits for a writer, so one is brought; reading then ends when all are gone.
        let open = |write: bool| {
            let pipe = pipe.clone();
            std::thread::spawn(move || {
                std::fs::OpenOptions::new()
                    .read(!write)
                    .write(write)
                    .open(pipe)
                    .unwrap()
            })
        };
        let (reader, writer) = (open(false), open(true));
        let mut reader = reader.join().unwrap();
        drop(writer.join().unwrap());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut reader, &mut rest).unwrap();
    }
}

#[tokio::test]
async fn a_program_need_not_read_what_it_is_given() {
    let large = json!({"text": "x".repeat(1 << 20)});
    let pass = r#"echo '{"decision":"pass"}'"#;
    let found = with_hook(shell(HookStage::Before, pass), large.clone()).await;
    check(found, "completed", 1);
    let reads = r#"n=$(wc -c); [ $n -gt 1000000 ] && echo '{"decision":"pass"}'"#;
    let found = with_hook(shell(HookStage::Before, reads), large).await;
    check(found, "completed", 1);
}

#[tokio::test]
async fn a_program_is_told_what_runs_and_what_came_of_it() {
    let folder = tempfile::tempdir().unwrap();
    for (stage, result) in [(HookStage::Before, false), (HookStage::After, true)] {
        let file = folder.path().join("given");
        let script = format!(r#"cat > {}; echo '{{"decision":"pass"}}'"#, file.display());
        let found = with_hook(shell(stage, &script), json!({"a": 1})).await;
        check(found, "completed", 1);
        let given: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        assert_eq!(given["stage"], json!(stage));
        assert_eq!(given["agent"], "tester");
        assert_eq!(given["id"], "local__kit__write");
        assert_eq!(given["arguments"], json!({"a": 1}));
        assert_eq!(given.get("result").is_some(), result);
    }
}

#[tokio::test]
async fn only_says_what_a_hook_looks_at() {
    for (only, tool, refused) in [
        ("", "kit__read", true),
        ("writes", "kit__read", false),
        ("writes", "kit__write", true),
        ("fs:write", "kit__write", true),
        ("local__kit__read", "kit__write", false),
        ("local__kit__read", "kit__read", true),
    ] {
        let hook = CommandHook {
            only: only
                .split_whitespace()
                .map(|it| it.parse().unwrap())
                .collect(),
            ..shell(HookStage::Before, "exit 1")
        };
        let bench = Bench::default()
            .with(kit(), json!({}))
            .hooked(Arc::new(hook));
        let answer = bench.call(Mode::Auto, tool, json!({})).await;
        let code = refused.then_some(Code::HookFailed);
        assert_eq!(answer.code(), code, "[{only}] {tool}");
    }
}

/// Says what a test says, and remembers what it saw.
struct Guard {
    stage: HookStage,
    verdict: fn() -> HookVerdict,
    saw: Mutex<Vec<String>>,
}

impl Guard {
    fn new(stage: HookStage, verdict: fn() -> HookVerdict) -> Arc<Self> {
        Arc::new(Guard {
            stage,
            verdict,
            saw: Mutex::default(),
        })
    }
}

#[async_trait]
impl Hook for Guard {
    fn name(&self) -> &str {
        "rust"
    }
    fn wants(&self, stage: HookStage, _: &CapabilityDescriptor) -> bool {
        self.stage == stage
    }
    async fn look(&self, call: &HookCall<'_>) -> HookVerdict {
        self.saw
            .lock()
            .unwrap()
            .push(serde_json::to_string(call).unwrap());
        (self.verdict)()
    }
}

fn pass() -> HookVerdict {
    HookVerdict::Pass {
        note: Some("seen".to_owned()),
    }
}

fn refuse() -> HookVerdict {
    HookVerdict::Refuse(Denial::new(Code::HookRefused, "I object"))
}

fn panics() -> HookVerdict {
    panic!("as told")
}

#[tokio::test]
async fn all_hooks_must_pass_and_the_first_no_ends_it() {
    use HookStage::{After, Before};
    for (first, second, expected, ran, looked) in [
        (
            (Before, pass as fn() -> _),
            (Before, pass as fn() -> _),
            "completed rust: seen, rust: seen",
            1,
            1,
        ),
        (
            (Before, pass),
            (After, pass),
            "completed rust: seen, rust: seen",
            1,
            1,
        ),
        (
            (Before, refuse),
            (Before, pass),
            "hook_refused I object",
            0,
            0,
        ),
        (
            (Before, pass),
            (Before, refuse),
            "hook_refused I object",
            0,
            1,
        ),
        (
            (Before, panics),
            (Before, pass),
            "hook_failed the hook `rust` panicked",
            0,
            0,
        ),
        // It ran, but nobody gets to see what came of it.
        (
            (Before, pass),
            (After, refuse),
            "hook_refused I object",
            1,
            1,
        ),
        (
            (After, panics),
            (After, pass),
            "hook_failed the hook `rust` panicked",
            1,
            0,
        ),
    ] {
        let kit = kit();
        let second = Guard::new(second.0, second.1);
        let bench = Bench::default()
            .with(kit.clone(), json!({}))
            .hooked(Guard::new(first.0, first.1))
            .hooked(second.clone());
        let answer = bench
            .call(Mode::Auto, "kit__write", json!({"text": "tell"}))
            .await;
        check((shown(&answer), kit.executed()), expected, ran);
        assert_eq!(second.saw.lock().unwrap().len(), looked, "{expected}");
        if answer.code().is_some() {
            assert!(!format!("{answer:?}").contains("tell"), "{answer:?}");
        }
    }
}

/// A hook that passes everything makes nothing possible that was not.
#[tokio::test]
async fn a_hook_cannot_widen() {
    for (mode, rule_text, tool, code) in [
        (Mode::ReadOnly, "", "kit__write", Code::NotVisible),
        (Mode::Ask, "", "kit__write", Code::ApprovalPending),
        (Mode::Auto, "deny reads", "kit__read", Code::NotVisible),
        (Mode::Auto, "", "kit__absent", Code::NotVisible),
    ] {
        let kit = kit();
        let guard = Guard::new(HookStage::Before, pass);
        let bench = Bench::default()
            .with(kit.clone(), json!({}))
            .ruled(rules(rule_text))
            .hooked(guard.clone());
        let answer = bench.call(mode, tool, json!({})).await;
        assert_eq!(answer.code(), Some(code), "{mode:?} {tool}");
        assert_eq!(kit.executed(), 0);
        assert!(guard.saw.lock().unwrap().is_empty(), "not even asked");
    }
}

#[tokio::test]
async fn what_hooks_say_is_on_record_and_secrets_are_kept_from_them() {
    fn tells() -> HookVerdict {
        HookVerdict::Pass {
            note: Some("psst: hunter2-hunter2".to_owned()),
        }
    }
    let guards = [
        Guard::new(HookStage::Before, tells),
        Guard::new(HookStage::After, tells),
    ];
    let mut bench = Bench::default()
        .with(kit(), json!({}))
        .secret("hunter2-hunter2");
    for guard in &guards {
        bench = bench.hooked(guard.clone());
    }
    let market = bench.market();
    let session = bench.session_on(&market, Mode::Auto).await;
    let answer = call(&session, "kit__read", json!({"a": "hunter2-hunter2"})).await;
    assert_eq!(
        shown(&answer.observation),
        "completed rust: psst: [redacted], rust: psst: [redacted]"
    );
    for guard in &guards {
        let saw = guard.saw.lock().unwrap().join("");
        assert!(
            saw.contains("[redacted]") && !saw.contains("hunter2"),
            "{saw}"
        );
    }
    let events = events(&market, &session).await;
    let recorded: Vec<_> = events
        .iter()
        .filter_map(|it| match &it.body {
            EventBody::HookDecided { stage, notes, .. } => Some((*stage, notes.join(""))),
            _ => None,
        })
        .collect();
    let note = "rust: psst: [redacted]".to_owned();
    assert_eq!(
        recorded,
        [(HookStage::Before, note.clone()), (HookStage::After, note)]
    );
}
