//! A person at a real terminal: questions, hidden prompts, colour. The terminal is the one that
//! `script` (util-linux) makes.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use ambit_testkit::Home;
use serde_json::json;

use crate::support::{configured, events, home, skipped};

/// What a person types when a question has appeared.
struct Reply {
    question: &'static str,
    answer: &'static str,
    echo: Echo,
}

/// Whether the terminal shows what is typed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Echo {
    Shown,
    Hidden,
}

fn answering(answer: &'static str) -> [Reply; 1] {
    [Reply {
        question: "allow?",
        answer,
        echo: Echo::Shown,
    }]
}

/// Runs on a terminal. The exit code and all that was to be seen, or nothing where there is no
/// `script`.
fn on_terminal(home: &Home, arguments: &[&str], replies: &[Reply]) -> Option<(i32, String)> {
    let inner = home.command(arguments);
    let words = std::iter::once(inner.get_program()).chain(inner.get_args());
    let line: Vec<String> = words
        .map(|it| format!("'{}'", it.to_str().unwrap().replace('\'', r"'\''")))
        .collect();
    let line = format!("tty > ../tty; exec {}", line.join(" "));
    let mut child = match Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(inner.get_current_dir().unwrap())
        .env_clear()
        .envs(
            inner
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .env("TERM", "xterm-256color")
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
    {
        Ok(child) => child,
        Err(error) => {
            skipped(&format!("no terminal can be made: `script`: {error}"));
            return None;
        }
    };
    let mut keyboard = child.stdin.take().unwrap();
    let mut screen = child.stdout.take().unwrap();
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    let mut replies = replies.iter().peekable();
    loop {
        match screen.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(n) => seen.extend_from_slice(&buffer[..n]),
        }
        let text = String::from_utf8_lossy(&seen);
        if let Some(reply) = replies.next_if(|it| text.contains(it.question)) {
            if reply.echo == Echo::Hidden {
                wait_until_hidden(home);
            }
            keyboard.write_all(reply.answer.as_bytes()).unwrap();
            keyboard.flush().unwrap();
        }
    }
    let code = child.wait().unwrap().code().unwrap_or(255);
    Some((code, String::from_utf8_lossy(&seen).into_owned()))
}

/// A prompt appears a moment before the terminal stops showing what is typed.
fn wait_until_hidden(home: &Home) {
    let terminal = std::fs::read_to_string(home.work().join("../tty")).unwrap();
    for _ in 0..1000 {
        let settings = Command::new("stty")
            .args(["-a", "-F", terminal.trim()])
            .output()
            .unwrap();
        let settings = String::from_utf8_lossy(&settings.stdout).into_owned();
        if settings.split_whitespace().any(|it| it == "-echo") {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the terminal goes on showing what is typed");
}

#[test]
fn the_person_is_asked() {
    for (answer, exit, outcome, standing) in [
        ("y\n", 0, "once", 0),
        ("s\n", 0, "session", 1),
        ("a\n", 0, "always", 1),
        ("n\n", 1, "deny", 0),
        ("\n", 1, "deny", 0),
        ("what?\n", 1, "deny", 0),
    ] {
        let home = home();
        let input = json!({"path": "a.txt", "content": "\u{1b}[2Jx\u{202e}"}).to_string();
        let call = ["call", "files__write_file", "--input", &input];
        let Some((code, seen)) = on_terminal(&home, &call, &answering(answer)) else {
            return;
        };
        assert_eq!(code, exit, "{answer:?}: {seen}");
        assert_eq!(home.work().join("a.txt").exists(), exit == 0);
        for part in ["local__files__write_file", "the mode is `ask`", "a.txt"] {
            assert!(seen.contains(part), "{part}: {seen}");
        }
        assert!(
            !seen.contains("\u{1b}[2J") && !seen.contains('\u{202e}'),
            "{seen:?}"
        );
        let decided = events(&home, &["--type", "approval.decided"]);
        assert_eq!(decided[0]["outcome"], json!({"answered": outcome}));
        let approvals = home.run(&["approvals", "--json"]).json();
        assert_eq!(approvals["standing"].as_array().unwrap().len(), standing);
        assert_eq!(approvals["pending"], json!([]));
    }
}

#[test]
fn a_question_nobody_answers_ends_all_the_same() {
    let home = configured(json!({"limits": {"approvalSeconds": 1}}));
    let input = json!({"path": "a.txt", "content": ""}).to_string();
    let call = ["call", "files__write_file", "--input", &input];
    for (replies, code) in [
        (&[][..], "approval_timed_out"),
        (&answering("\u{3}"), "cancelled"),
        (&answering("\u{4}"), "approval_denied"),
    ] {
        let Some((exit, seen)) = on_terminal(&home, &call, replies) else {
            return;
        };
        assert_eq!(exit, 1, "{seen}");
        assert!(seen.contains(&format!("({code})")), "{code}: {seen}");
        assert!(!home.work().join("a.txt").exists());
    }
}

#[test]
fn a_secret_is_typed_unseen_and_shown_on_a_terminal_only() {
    let home = home();
    let set = ["secrets", "set", "token"];
    let reply = Reply {
        question: "(hidden): ",
        answer: "hush-hush\n",
        echo: Echo::Hidden,
    };
    let Some((code, seen)) = on_terminal(&home, &set, &[reply]) else {
        return;
    };
    assert_eq!(code, 0, "{seen}");
    assert!(!seen.contains("hush-hush"), "{seen}");
    let (code, seen) = on_terminal(&home, &["secrets", "get", "token"], &[]).unwrap();
    assert_eq!((code, seen.trim()), (0, "hush-hush"));
}

#[test]
fn colour_is_for_terminals_and_not_with_no_color() {
    let mut home = configured("{ broken");
    let doctor = |home: &Home| on_terminal(home, &["doctor"], &[]);
    let check = |home: &Home| on_terminal(home, &["check"], &[]);
    let Some((_, seen)) = doctor(&home) else {
        return;
    };
    assert!(seen.contains("\u{1b}["), "{seen:?}");
    assert!(check(&home).unwrap().1.contains("\u{1b}["));
    home.set("NO_COLOR", "1");
    for (_, seen) in [doctor(&home), check(&home)].into_iter().flatten() {
        assert!(!seen.contains("\u{1b}["), "{seen:?}");
    }
}
