//! The sessions in `README.md` are true: every fenced block marked `console` is typed into a
//! fresh home, and what comes back is compared with what stands there.
//!
//! A line that begins with `$ ` is a command, lines that begin with `> ` right below it continue
//! it, and what follows is its output. `…` stands for anything within a line, and alone on a line
//! for any number of lines.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr
)]

use std::path::Path;
use std::process::{Command, Stdio};

use ambit_testkit::Home;

/// Any text within a line, any lines when alone.
const ANYTHING: &str = "…";
/// Ends the output of one command; nothing prints it by chance.
const MARK: &str = "@@end-of-command@@\n";

/// A command and what it is said to print.
#[derive(Debug, Default, PartialEq, Eq)]
struct Exchange {
    command: String,
    expected: Vec<String>,
}

/// The exchanges of each `console` block.
fn sessions(markdown: &str) -> Vec<Vec<Exchange>> {
    let mut sessions = Vec::new();
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        if line.trim_end() == "```console" {
            let block: Vec<&str> = lines
                .by_ref()
                .take_while(|it| it.trim_end() != "```")
                .collect();
            sessions.push(exchanges(&block));
        } else if line.starts_with("```") {
            // Another block: a fence inside it is not ours.
            lines.by_ref().find(|it| it.trim_end() == "```");
        }
    }
    sessions
}

fn exchanges(block: &[&str]) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    for line in block {
        if let Some(command) = line.strip_prefix("$ ") {
            exchanges.push(Exchange {
                command: command.to_owned(),
                expected: Vec::new(),
            });
            continue;
        }
        let last = exchanges
            .last_mut()
            .unwrap_or_else(|| panic!("the block begins with output: `{line}`"));
        match line.strip_prefix("> ") {
            Some(more) if last.expected.is_empty() => {
                last.command.push('\n');
                last.command.push_str(more);
            }
            _ => last.expected.push((*line).to_owned()),
        }
    }
    exchanges
}

/// Types a session into one shell, so that `cd` and variables last, and says what differs.
fn differences(home: &Home, session: &[Exchange]) -> Vec<String> {
    let script: String = session
        .iter()
        .map(|it| format!("{}\nprintf %s '{MARK}'\n", it.command))
        .collect();
    let inner = home.command(&[]);
    let binary = Path::new(inner.get_program()).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        // As on a terminal, where both come on one screen.
        .args(["-c", &format!("exec 2>&1\n{script}")])
        .current_dir(inner.get_current_dir().unwrap())
        .env_clear()
        .envs(
            inner
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .env("PATH", format!("{}:{path}", binary.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut found = text.split(MARK);
    let mut differences = Vec::new();
    for it in session {
        let found = trimmed(found.next().unwrap_or("").lines());
        let expected = trimmed(it.expected.iter().map(String::as_str));
        if !fits(&expected, &found) {
            differences.push(format!(
                "$ {}\n--- expected\n{}\n--- found\n{}\n",
                it.command,
                expected.join("\n"),
                found.join("\n")
            ));
        }
    }
    differences
}

/// Without blank lines around and spaces behind.
fn trimmed<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let lines: Vec<&str> = lines.map(str::trim_end).collect();
    let first = lines.iter().position(|it| !it.is_empty());
    let last = lines.iter().rposition(|it| !it.is_empty());
    match (first, last) {
        (Some(first), Some(last)) => lines[first..=last].to_vec(),
        _ => Vec::new(),
    }
}

fn fits(expected: &[&str], found: &[&str]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((line, rest)) if line.trim() == ANYTHING => {
            (0..=found.len()).any(|skipped| fits(rest, &found[skipped..]))
        }
        Some((line, rest)) => found
            .split_first()
            .is_some_and(|(first, others)| line_fits(line, first) && fits(rest, others)),
    }
}

fn line_fits(expected: &str, found: &str) -> bool {
    match expected.split_once(ANYTHING) {
        None => expected == found,
        Some((before, after)) => found.strip_prefix(before).is_some_and(|rest| {
            let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            ends.into_iter()
                .any(|at| line_fits(after, rest.get(at..).unwrap_or("")))
        }),
    }
}

fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_ambit"))
}

#[test]
fn the_readme_is_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let Ok(markdown) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: there is no README.md");
        return;
    };
    let sessions = sessions(&markdown);
    assert!(!sessions.is_empty(), "README.md shows no `console` session");
    for session in sessions {
        let differences = differences(&home(), &session);
        assert!(differences.is_empty(), "\n{}", differences.join("\n"));
    }
}

const SAMPLE: &str = r#"
```json
{ "not": "ours" }
```

```console
$ echo 'a note' > note.txt
$ ambit call files__read_file --input '{"path":"note.txt"}'
a note
$ cat <<'END' > ambit.json
> { "agents": {} }
> END
$ mkdir -p sub && cd sub
$ pwd
…/work/sub
$ ambit ls
…
local:files  6 capabilities, … tokens in full
…
$ ambit trust ls
waits …/ambit.json (unknown); accept it with `ambit trust`
$ ambit nope
error: unrecognized subcommand 'nope'
…
```
"#;

#[test]
fn a_true_session_fits() {
    let sessions = sessions(SAMPLE);
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].len(), 8);
    let differences = differences(&home(), &sessions[0]);
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
}

#[test]
fn an_untrue_session_does_not() {
    for (line, changed) in [
        ("a note\n$", "another note\n$"),
        ("…/work/sub", "…/work"),
        ("6 capabilities", "7 capabilities"),
        ("…/work/sub", "…/work/sub\nand more"),
        ("error: unrecognized subcommand 'nope'\n…\n", ""),
    ] {
        let sample = SAMPLE.replace(line, changed);
        assert_ne!(sample, SAMPLE);
        let differences = differences(&home(), &sessions(&sample)[0]);
        assert_eq!(differences.len(), 1, "{changed}: {differences:?}");
    }
}
