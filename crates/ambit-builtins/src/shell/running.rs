//! Commands that really run, and end.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use ambit_core::observation::{Failure, Output};
use ambit_core::schema::CompiledSchema;
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::pattern::Allowed;
use super::run::{self, Shell};
use super::{environment, kept};

struct Fixture {
    root: TempDir,
    shell: Shell,
}

impl Fixture {
    fn new(allowed: Allowed) -> Self {
        let root = tempfile::tempdir().unwrap();
        let configured = [("LISTED".to_owned(), "yes".to_owned())].into();
        let inherited = std::env::vars_os()
            .filter(|(name, _)| name == "PATH")
            .chain([("SECRET".into(), "leaked".into())]);
        let shell = Shell {
            allowed,
            cwd: root.path().canonicalize().unwrap(),
            environment: environment::of(inherited, &configured),
            longest: Duration::from_secs(600),
        };
        Fixture { root, shell }
    }

    fn listed(patterns: &[&str]) -> Self {
        let patterns = patterns
            .iter()
            .map(|it| (*it).to_owned().try_into().unwrap());
        Self::new(Allowed::Listed(patterns.collect()))
    }

    async fn run(&self, command: Value) -> Result<Output, Failure> {
        let arguments = json!({ "command": command });
        CompiledSchema::compile(&run::input())
            .unwrap()
            .check(&arguments)
            .unwrap();
        let output = self.shell.run(arguments).await?;
        let structured = output.structured.as_ref().unwrap();
        CompiledSchema::compile(&run::output())
            .unwrap()
            .check(structured)
            .unwrap();
        Ok(output)
    }

    async fn text(&self, command: Value) -> String {
        match self.run(command).await {
            Ok(output) => output.content[0].as_text().unwrap().to_owned(),
            Err(failure) => format!("{}: {}", failure.code.as_str(), failure.message),
        }
    }

    /// A pipe by which a test sees processes live (they hold it open) and die (it ends).
    fn lifeline(&self) -> PathBuf {
        let path = self.root.path().join("lifeline");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        path
    }
}

async fn check(command: Value, said: Expect) {
    let fixture = Fixture::new(Allowed::Everything);
    said.assert_eq(&fixture.text(command).await);
}

#[tokio::test]
async fn results_say_how_it_ended() {
    check(
        json!(["echo", "a b", "*", "$HOME", ";", "ls"]),
        expect![[r#"
            exit code 0
            --- stdout
            a b * $HOME ; ls
        "#]],
    )
    .await;
    check(
        json!("printf out; echo err >&2; exit 3"),
        expect![[r#"
            exit code 3
            --- stdout
            out
            --- stderr
            err
        "#]],
    )
    .await;
    check(
        json!("kill -TERM $$"),
        expect![[r#"
        ended by signal 15
    "#]],
    )
    .await;
    check(
        json!(["true"]),
        expect![[r#"
        exit code 0
    "#]],
    )
    .await;
    check(
        json!(["cat"]),
        expect![[r#"
        exit code 0
    "#]],
    )
    .await;
    check(
        json!(["no-such-program"]),
        expect![[r#"provider_failed: there is no program `no-such-program` on this machine's PATH; check its name, or ask for it to be installed"#]],
    )
    .await;
    check(
        json!(["/etc/passwd"]),
        expect![
            "provider_failed: `/etc/passwd` could not be started: Permission denied (os error 13)"
        ],
    )
    .await;
}

#[tokio::test]
async fn what_is_not_allowed_does_not_run() {
    let fixture = Fixture::listed(&["echo hi", "cat"]);
    for (command, said) in [
        (json!(["echo", "hi"]), "exit code 0\n--- stdout\nhi\n"),
        (
            json!(["touch", "x"]),
            "refused: `touch x` is not allowed; commands that begin with these are: `echo hi`, `cat`",
        ),
        (
            json!("echo hi"),
            "refused: a shell string is not granted here: give `command` as a list of the \
             program and its arguments",
        ),
        (
            json!(["cat", "a\0b"]),
            "refused: an argument cannot hold a NUL character",
        ),
    ] {
        assert_eq!(fixture.text(command).await, said);
    }
    let failure = fixture
        .shell
        .run(json!({ "command": ["cat"], "timeout_seconds": 601 }))
        .await
        .unwrap_err();
    assert_eq!(failure.message, "a command may run for 600 seconds at most");
    assert_eq!(std::fs::read_dir(&fixture.shell.cwd).unwrap().count(), 0);
}

#[tokio::test]
async fn the_environment_is_what_was_listed() {
    let fixture = Fixture::listed(&["env", "pwd"]);
    let output = fixture
        .run(json!(["env"]))
        .await
        .unwrap()
        .structured
        .unwrap();
    let mut names: Vec<_> = output["stdout"]
        .as_str()
        .unwrap()
        .lines()
        .filter_map(|it| Some(it.split_once('=')?.0))
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["LISTED", "PATH"]);
    let output = fixture
        .run(json!(["pwd"]))
        .await
        .unwrap()
        .structured
        .unwrap();
    let cwd = output["stdout"].as_str().unwrap().trim_end();
    assert_eq!(PathBuf::from(cwd), fixture.shell.cwd);
}

#[tokio::test]
async fn a_flood_is_bounded_and_runs_to_its_end() {
    let fixture = Fixture::new(Allowed::Everything);
    let command = "echo first; yes | head -c 20000000; echo last; yes | head -c 20000000 >&2";
    let output = fixture.run(json!(command)).await.unwrap();
    let structured = output.structured.unwrap();
    assert_eq!(
        (&structured["exitCode"], &structured["truncated"]),
        (&json!(0), &json!(true))
    );
    let stdout = structured["stdout"].as_str().unwrap();
    for stream in [stdout, structured["stderr"].as_str().unwrap()] {
        assert!(stream.len() < 2 * kept::HALF + 100, "{}", stream.len());
    }
    assert!(stdout.starts_with("first\ny\n") && stdout.ends_with("y\nlast\n"));
    let dropped = 20_000_000 + "first\nlast\n".len() - 2 * kept::HALF;
    assert!(stdout.contains(&format!("[… {dropped} bytes dropped here …]")));
}

/// A command whose child, and that child's child, hold `lifeline` open for ever.
const FAMILY: &str = "exec 9>lifeline; sh -c 'sleep 1000 & echo ready >&9; wait' & wait";

/// Reads what the family says, then waits until none of it lives. Without a kill it would wait
/// for the thousand seconds.
async fn until_dead(lifeline: PathBuf, ready: tokio::sync::oneshot::Sender<()>) -> String {
    tokio::task::spawn_blocking(move || {
        let mut pipe = std::fs::File::open(lifeline).unwrap();
        let mut said = [0; 6];
        pipe.read_exact(&mut said).unwrap();
        ready.send(()).unwrap();
        let mut rest = Vec::new();
        pipe.read_to_end(&mut rest).unwrap();
        String::from_utf8([&said[..], &rest].concat()).unwrap()
    })
    .await
    .unwrap()
}

#[tokio::test]
async fn dropping_the_call_kills_the_whole_family() {
    let fixture = Fixture::new(Allowed::Everything);
    let (ready, is_ready) = tokio::sync::oneshot::channel();
    let dead = tokio::spawn(until_dead(fixture.lifeline(), ready));
    tokio::select! {
        ended = fixture.run(json!(FAMILY)) => panic!("{ended:?}"),
        _ = is_ready => {}
    }
    assert_eq!(dead.await.unwrap(), "ready\n");
}

#[tokio::test]
async fn time_up_kills_the_whole_family_and_keeps_its_output() {
    let fixture = Fixture::new(Allowed::Everything);
    let (ready, is_ready) = tokio::sync::oneshot::channel();
    let dead = tokio::spawn(until_dead(fixture.lifeline(), ready));
    let argv = ["sh", "-c", &format!("echo said; {FAMILY}")].map(str::to_owned);
    let time_up = async { is_ready.await.unwrap() };
    let output = fixture
        .shell
        .run_until(&argv, &BTreeMap::new(), time_up)
        .await
        .unwrap();
    let structured = output.structured.unwrap();
    assert_eq!(
        structured,
        json!({
            "exitCode": null, "signal": 9, "timedOut": true,
            "stdout": "said\n", "stderr": "", "truncated": false,
        })
    );
    assert_eq!(dead.await.unwrap(), "ready\n");
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    let fixture = Fixture::new(Allowed::Everything);
    let (ready, _is_ready) = tokio::sync::oneshot::channel();
    let dead = tokio::spawn(until_dead(fixture.lifeline(), ready));
    let command = "exec 9>lifeline; echo ready >&9; sleep 1000 & echo done";
    let text = fixture.text(json!(command)).await;
    assert_eq!(text, "exit code 0\n--- stdout\ndone\n");
    assert_eq!(dead.await.unwrap(), "ready\n");
}
